import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const keys = family({
  name: 'keys',
  namespace: 'tenant_keys',
  router: 'tenantKeys',
  operations,
});
