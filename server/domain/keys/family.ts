import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';
import { resumeRewraps, rewrap, rotateRootKey } from './service.ts';

export const keys = family({
  name: 'keys',
  namespace: 'tenant_keys',
  router: 'tenantKeys',
  operations,
  resources: [{ type: 'tenant_master_key' }, { type: 'tenant_kms_config' }],
  tables: [
    { name: 'tenant_master_keys', reset: 'stay' },
    { name: 'rewrap_leases', reset: 'stay' },
  ],
  jobs: {
    resume_rewraps: { cron: '* * * * *', run: ({ signal }) => resumeRewraps({ signal }) },
    rewrap_stragglers: { cron: '25 * * * *', run: ({ signal }) => resumeRewraps({ signal, stragglers: true }) },
    rotate_root_key: { cron: '*/10 * * * *', atStart: true, run: () => rotateRootKey() },
    rewrap: { run: ({ payload, signal }) => rewrap(Number(payload.lease_id), { signal }) },
  },
});
