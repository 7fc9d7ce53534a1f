import { Server } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const deployment: PageFamily = {
  name: 'deployment',
  pages: [
    {
      id: 'deployment',
      label: 'Deployment',
      icon: Server,
      scope: 'workspace',
      path: '/settings/deployment',
      group: 'settings',
      order: 70,
      needs: 'account:read',
      docs: 'self-hosting',
    },
  ],
};
