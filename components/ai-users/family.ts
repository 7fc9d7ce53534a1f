import { UsersRound } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const aiUsers: PageFamily = {
  name: 'ai-users',
  pages: [
    {
      id: 'ai-users',
      label: 'AI users',
      icon: UsersRound,
      scope: 'space',
      path: '/ai/users',
      group: 'ai',
      order: 100,
      needs: 'ai_gateway:read',
      docs: 'ai-gateway',
    },
  ],
};
