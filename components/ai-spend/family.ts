import { ChartColumnBig, Gauge, ListTree } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const aiSpend: PageFamily = {
  name: 'ai-spend',
  pages: [
    {
      id: 'ai-spend',
      label: 'Spend',
      icon: ChartColumnBig,
      scope: 'space',
      path: '/ai/spend',
      group: 'ai',
      order: 80,
      needs: 'ai_gateway:read_usage',
      docs: 'ai-spend',
    },
    {
      id: 'ai-calls',
      label: 'AI calls',
      icon: ListTree,
      scope: 'space',
      path: '/ai/calls',
      group: 'ai',
      order: 90,
      needs: 'ai_gateway:read_usage',
      docs: 'ai-spend',
    },
    {
      id: 'ai-limits',
      label: 'Limit policies',
      icon: Gauge,
      scope: 'space',
      path: '/ai/limits',
      group: 'ai',
      order: 95,
      needs: 'ai_gateway:read',
      docs: 'ai-spend',
    },
  ],
  resources: [
    { type: 'ai_user', noun: 'AI user' },
    { type: 'ai_price', noun: 'model price' },
    { type: 'ai_limit_policy', noun: 'limit policy', plural: 'limit policies', icon: Gauge, path: () => '/ai/limits' },
  ],
};
