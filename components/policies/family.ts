import { ShieldBan } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const policies: PageFamily = {
  name: 'policies',
  pages: [
    {
      id: 'policies',
      label: 'Policies',
      icon: ShieldBan,
      scope: 'workspace',
      path: '/settings/policies',
      group: 'settings',
      order: 21,
      needs: 'policy:list',
      docs: 'policies',
    },
  ],
  resources: [{ type: 'policy', noun: 'policy', plural: 'policies', icon: ShieldBan }],
};
