import { Package } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const wrap: PageFamily = {
  name: 'wrap',
  pages: [
    {
      id: 'wrap',
      label: 'Wrap credentials',
      icon: Package,
      scope: 'space',
      path: '/wrap',
      group: 'secrets',
      order: 40,
      needs: 'secret:read',
      docs: 'wrap-credentials',
    },
  ],
  resources: [
    { type: 'wrap_credential', noun: 'wrap credential', path: (id) => `/secrets/${id}` },
    { type: 'wrap_token', noun: 'gateway token' },
  ],
};
