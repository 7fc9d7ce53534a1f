import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const account = family({
  name: 'account',
  namespace: 'account',
  router: 'account',
  tag: 'Account',
  descriptions,
  operations,
  resources: [{ type: 'tenant' }, { type: 'billing' }],
  tables: [{ name: 'usage_counters', reset: 'stay' }],
});
