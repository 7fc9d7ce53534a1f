import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import * as operations from './operations.ts';
import { pruneSso } from './pruning.ts';

export const sso = family({
  name: 'sso',
  namespace: 'sso',
  router: 'sso',
  operations,
  resources: [{ type: 'sso_connection' }],
  tables: [
    { name: 'sso_connections', reset: 'stay' },
    { name: 'sso_attempts', reset: 'stay' },
    { name: 'sso_assertions', reset: 'stay' },
    { name: 'user_identities', reset: 'stay' },
  ],
  jobs: {
    prune_sso: { cron: '40 * * * *', run: ({ now }) => pruneSso(db(), now) },
  },
});
