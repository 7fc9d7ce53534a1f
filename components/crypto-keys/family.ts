import { KeySquare } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const cryptoKeys: PageFamily = {
  name: 'crypto-keys',
  pages: [
    {
      id: 'crypto',
      label: 'Crypto keys',
      icon: KeySquare,
      scope: 'space',
      path: '/crypto',
      group: 'data',
      order: 20,
      needs: 'transit:read',
      docs: 'crypto-keys',
    },
  ],
  resources: [{ type: 'crypto_key', noun: 'crypto key', plural: 'crypto keys', icon: KeySquare, path: (id) => `/crypto/${id}` }],
};
