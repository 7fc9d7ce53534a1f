import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';
import { recheckDomains } from './service.ts';

export const domains = family({
  name: 'domains',
  namespace: 'domains',
  router: 'domains',
  operations,
  resources: [{ type: 'tenant_domain' }],
  tables: [{ name: 'tenant_domains', reset: 'stay' }],
  jobs: {
    recheck_domains: { cron: '23 * * * *', run: ({ now }) => recheckDomains(db(), now) },
  },
  leases,
});
