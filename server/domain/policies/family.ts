import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const policies = family({
  name: 'policies',
  namespace: 'policies',
  router: 'policies',
  operations,
  resources: [{ type: 'policy' }],
  tables: [
    { name: 'tenant_policies', reset: 'stay' },
    { name: 'policy_denials', reset: 'stay' },
  ],
});
