import { MessagesSquare } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const aiPlayground: PageFamily = {
  name: 'ai-playground',
  pages: [
    {
      id: 'ai-playground',
      label: 'Playground',
      icon: MessagesSquare,
      scope: 'space',
      path: '/ai/playground',
      group: 'ai',
      order: 30,
      needs: 'ai_gateway:mint',
      docs: 'ai-gateway',
    },
  ],
};
