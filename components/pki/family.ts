import { Stamp } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const pki: PageFamily = {
  name: 'pki',
  pages: [
    {
      id: 'pki',
      label: 'Certificate authority',
      icon: Stamp,
      scope: 'space',
      path: '/pki',
      group: 'data',
      order: 35,
      needs: 'pki:read',
      docs: 'pki',
    },
  ],
  resources: [
    { type: 'pki_root', noun: 'root', plural: 'roots', icon: Stamp, path: (id) => `/pki/${id}` },
    { type: 'pki_role', noun: 'role of a root' },
    { type: 'pki_leaf', noun: 'certificate' },
    { type: 'acme_account', noun: 'ACME account' },
  ],
};
