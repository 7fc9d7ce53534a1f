import { Mail, Users } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const team: PageFamily = {
  name: 'team',
  pages: [
    {
      id: 'team',
      label: 'Team',
      icon: Users,
      scope: 'workspace',
      path: '/settings/team',
      group: 'settings',
      order: 15,
      needs: 'member:list',
      docs: 'team',
    },
  ],
  resources: [
    { type: 'member', noun: 'member', plural: 'members', icon: Users },
    { type: 'invitation', noun: 'invitation', icon: Mail },
  ],
};
