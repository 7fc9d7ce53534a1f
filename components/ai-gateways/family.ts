import { Bot, BotMessageSquare } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const aiGateways: PageFamily = {
  name: 'ai-gateways',
  pages: [
    {
      id: 'ai',
      label: 'Gateways',
      icon: Bot,
      scope: 'space',
      path: '/ai',
      group: 'ai',
      order: 10,
      needs: 'ai_gateway:list',
      below: 'ai_gateway:read',
      docs: 'ai-gateway',
    },
    {
      id: 'ai-agents',
      label: 'Agents',
      icon: BotMessageSquare,
      scope: 'space',
      path: '/ai/agents',
      group: 'ai',
      order: 20,
      needs: 'ai_gateway:list',
      below: 'ai_gateway:read',
      docs: 'ai-gateway',
    },
  ],
  resources: [
    { type: 'ai_gateway', noun: 'AI gateway', plural: 'AI gateways', icon: Bot, path: (id) => `/ai/gateways/${id}` },
    { type: 'ai_agent', noun: 'AI agent', plural: 'AI agents', icon: BotMessageSquare, path: (id) => `/ai/agents/${id}` },
    { type: 'ai_token', noun: 'capability token' },
  ],
};
