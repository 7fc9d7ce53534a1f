import { family } from '#server/kernel/family.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';

export const scimCredentials = family({
  name: 'scim-credentials',
  namespace: 'scim_credentials',
  router: 'scimCredentials',
  operations,
  resources: [{ type: 'scim_credential' }],
  tables: [
    { name: 'scim_credentials', reset: 'stay' },
    { name: 'scim_requests', reset: 'stay' },
  ],
  leases,
});
