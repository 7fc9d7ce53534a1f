import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

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
});
