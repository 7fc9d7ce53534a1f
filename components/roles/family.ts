import { UserRoundKey } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const roles: PageFamily = {
  name: 'roles',
  pages: [
    {
      id: 'roles',
      label: 'Roles',
      icon: UserRoundKey,
      scope: 'workspace',
      path: '/settings/roles',
      group: 'settings',
      order: 20,
      docs: 'roles',
    },
  ],
};
