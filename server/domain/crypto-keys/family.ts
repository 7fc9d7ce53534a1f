import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';
import { rotateDueKeys } from './schedules.ts';
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
  jobs: {
    rotate_due_crypto_keys: { cron: '35 * * * *', run: ({ now, signal }) => rotateDueKeys(db(), now, signal) },
  },
  leases,
  actions: [{ id: 'create-crypto-key', title: 'Create crypto key', path: '/crypto?open=new', needs: 'transit:create' }],
});
