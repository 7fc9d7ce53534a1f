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
  made: [
    {
      // Whoever set it up may still know its client secret, or run the provider. Turning it off could lock everybody out: it is listed only.
      type: 'sso_connection',
      table: 'sso_connections',
      label: ['single sign-on connection', 'single sign-on connections'],
      name: `r.name || ' (' || r.issuer || ')'`,
      works: 'r.active',
      scope: 'workspace',
    },
  ],
  jobs: {
    prune_sso: { cron: '40 * * * *', run: ({ now }) => pruneSso(db(), now) },
  },
});
