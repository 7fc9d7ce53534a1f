import { KeyRound } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const sso: PageFamily = {
  name: 'sso',
  pages: [
    {
      id: 'sso',
      label: 'Single sign-on',
      icon: KeyRound,
      scope: 'workspace',
      path: '/settings/sso',
      group: 'settings',
      order: 26,
      needs: 'sso:read',
      docs: 'single-sign-on',
    },
  ],
  resources: [{ type: 'sso_connection', noun: 'single sign-on connection' }],
};
