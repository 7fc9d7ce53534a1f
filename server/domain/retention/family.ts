import { family } from '#server/kernel/family.ts';
import { pruneIdempotency } from './service.ts';

export const retention = family({
  name: 'retention',
  tables: [{ name: 'idempotency_keys', reset: 'delete' }],
  jobs: {
    prune_idempotency: { cron: '10 * * * *', run: ({ now }) => pruneIdempotency(now) },
  },
});
