import { disabling, family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const trustBindings = family({
  name: 'trust-bindings',
  namespace: 'trust_bindings',
  router: 'trustBindings',
  tag: 'Trust bindings',
  descriptions,
  operations,
  resources: [{ type: 'trust_binding' }],
  // They go with their client.
  tables: [{ name: 'oauth_trust_bindings', reset: 'cascade' }],
  made: [
    {
      type: 'trust_binding',
      table: 'oauth_trust_bindings',
      label: ['trust binding', 'trust bindings'],
      name: `r.name || ' (' || r.issuer || ')'`,
      works: 'r.enabled and exists (select from oauth_clients c where c.id = r.client_row_id and c.active and c.revoked_at is null)',
      end: disabling('oauth_client:update'),
    },
  ],
});
