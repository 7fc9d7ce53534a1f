import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';
import { deleteErasedRows, notifyUsage } from './service.ts';

export const account = family({
  name: 'account',
  namespace: 'account',
  router: 'account',
  tag: 'Account',
  descriptions,
  operations,
  resources: [{ type: 'tenant' }],
  tables: [{ name: 'usage_counters', reset: 'stay' }],
  leases,
  jobs: {
    delete_erased_rows: { run: ({ payload }) => deleteErasedRows(db(), String(payload.tenant_id)) },
    notify_usage: { cron: '*/10 * * * *', run: ({ now }) => notifyUsage(db(), now) },
  },
});
