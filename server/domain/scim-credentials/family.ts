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
  made: [
    {
      type: 'scim_credential',
      table: 'scim_credentials',
      label: ['SCIM credential', 'SCIM credentials'],
      name: `r.name || ' (' || r.space || ')'`,
      works: 'r.revoked_at is null and r.expires_at > $3',
      end: { set: 'revoked_at = $3', action: 'revoke', needs: 'scim_credential:revoke' },
      scope: 'workspace',
    },
  ],
});
