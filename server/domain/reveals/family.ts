import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { notifyManyReveals } from './notices.ts';
import * as operations from './operations.ts';
import { pruneLedger } from './pruning.ts';

export const reveals = family({
  name: 'reveals',
  namespace: 'reveals',
  router: 'reveals',
  operations,
  tables: [
    { name: 'reveal_ledger', reset: 'stay' },
    { name: 'reveal_notices', reset: 'stay' },
  ],
  jobs: {
    notify_many_reveals: { cron: '*/5 * * * *', run: ({ now }) => notifyManyReveals(db(), now) },
    prune_reveal_ledger: { cron: '20 * * * *', run: () => pruneLedger(db()) },
  },
});
