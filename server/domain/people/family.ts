import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import * as operations from './operations.ts';
import { pruneIdentityData } from './service.ts';

export const people = family({
  name: 'people',
  namespace: 'auth',
  operations,
  resources: [{ type: 'member' }, { type: 'user' }, { type: 'session' }],
  tables: [{ name: 'memberships', reset: 'stay' }],
  jobs: {
    prune_identity_data: { cron: '20 * * * *', run: ({ now }) => pruneIdentityData(db(), now) },
  },
});
