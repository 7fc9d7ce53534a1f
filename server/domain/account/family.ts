import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { notifyUsage } from './service.ts';

export const account = family({
  name: 'account',
  namespace: 'account',
  router: 'account',
  tag: 'Account',
  descriptions,
  operations,
  resources: [{ type: 'tenant' }],
  tables: [{ name: 'usage_counters', reset: 'stay' }],
  jobs: {
    notify_usage: { cron: '*/10 * * * *', run: ({ now }) => notifyUsage(db(), now) },
  },
});
