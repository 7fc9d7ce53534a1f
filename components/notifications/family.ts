import { Bell } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const notifications: PageFamily = {
  name: 'notifications',
  pages: [
    {
      id: 'notifications',
      label: 'Notifications',
      icon: Bell,
      scope: 'workspace',
      path: '/settings/notifications',
      group: 'settings',
      order: 12,
      docs: 'notifications',
    },
  ],
  resources: [{ type: 'access_request', noun: 'request for access' }],
};
