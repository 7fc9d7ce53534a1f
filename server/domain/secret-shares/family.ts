import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const secretShares = family({
  name: 'secret-shares',
  namespace: 'secret_shares',
  router: 'secretShares',
  operations,
  resources: [{ type: 'secret_share' }],
  tables: [
    { name: 'secret_share_days', reset: 'cascade' },
    { name: 'secret_shares', reset: 'delete' },
  ],
});
