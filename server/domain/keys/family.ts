import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';
import { pollSealed, resumeRewraps, rewrap, rotateRootKey } from './service.ts';

export const keys = family({
  name: 'keys',
  namespace: 'tenant_keys',
  router: 'tenantKeys',
  operations,
  resources: [{ type: 'tenant_master_key' }, { type: 'tenant_kms_config' }],
  tables: [
    { name: 'tenant_master_keys', reset: 'stay' },
    { name: 'tenant_kms_configs', reset: 'stay' },
    { name: 'rewrap_leases', reset: 'stay' },
  ],
  jobs: {
    resume_rewraps: { cron: '* * * * *', run: ({ signal }) => resumeRewraps({ signal }) },
    rewrap_stragglers: { cron: '25 * * * *', run: ({ signal }) => resumeRewraps({ signal, stragglers: true }) },
    rotate_root_key: { cron: '*/10 * * * *', atStart: true, run: () => rotateRootKey() },
    poll_sealed: { cron: '* * * * *', atStart: true, run: ({ now }) => pollSealed(now) },
    rewrap: { run: ({ payload, signal }) => rewrap(Number(payload.lease_id), { signal }) },
  },
});
