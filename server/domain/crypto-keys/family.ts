import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { eraseAllVersions } from './store.ts';

export const cryptoKeys = family({
  name: 'crypto-keys',
  namespace: 'crypto_keys',
  router: 'cryptoKeys',
  tag: 'Crypto Keys',
  descriptions,
  operations,
  resources: [
    {
      type: 'crypto_key',
      limit: 'crypto_keys',
      search: { needs: 'transit:read', page: (id) => `/crypto/${id}` },
      actions: [
        {
          verb: /^(?:rotate)(?:\s+(?:crypto\s+)?keys?)?(?:\s+|$)/i,
          title: (name) => `Rotate crypto key ${name}`,
          needs: 'transit:rotate',
        },
      ],
    },
  ],
  tables: [
    { name: 'crypto_keys', reset: 'delete' },
    { name: 'crypto_key_versions', reset: 'cascade', wipe: eraseAllVersions },
    { name: 'crypto_key_uses', reset: 'cascade' },
  ],
  actions: [{ id: 'create-crypto-key', title: 'Create crypto key', path: '/crypto?open=new', needs: 'transit:create' }],
});
