import { LockKeyhole } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const secrets: PageFamily = {
  name: 'secrets',
  pages: [
    {
      id: 'secrets',
      label: 'Secrets',
      icon: LockKeyhole,
      scope: 'space',
      path: '/secrets',
      group: 'secrets',
      order: 10,
      keys: 'g s',
      needs: 'secret:read',
      docs: 'secrets',
      savedViews: { name: 'secrets', share: 'secret:update' },
      landing: 30,
    },
  ],
  resources: [
    { type: 'secret', noun: 'secret', plural: 'secrets', icon: LockKeyhole, path: (id) => `/secrets/${id}`, promoted: 20 },
    { type: 'secret_version', noun: 'secret version' },
  ],
};
