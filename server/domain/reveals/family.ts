import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { pruneLedger } from './pruning.ts';

export const reveals = family({
  name: 'reveals',
  tables: [
    { name: 'reveal_ledger', reset: 'stay' },
    { name: 'reveal_notices', reset: 'stay' },
  ],
  jobs: {
    prune_reveal_ledger: { cron: '20 * * * *', run: () => pruneLedger(db()) },
  },
});
