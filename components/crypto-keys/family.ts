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
      keywords: ['transit', 'encrypt', 'decrypt', 'sign', 'verify', 'hmac', 'jwt', 'jwks', 'rotate', 'aes', 'rsa', 'ecdsa', 'ed25519'],
      needs: 'transit:read',
      docs: 'crypto-keys',
    },
  ],
  resources: [{ type: 'crypto_key', noun: 'crypto key', plural: 'crypto keys', icon: KeySquare, path: (id) => `/crypto/${id}` }],
  picker: {
    fields: ['crypto_key_id', 'hmac_key_id'],
    nameFields: ['name'],
    path: '/crypto/keys/',
    list: (trpc) => trpc.cryptoKeys.list.queryOptions({}),
    searches: false,
  },
};
