import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';

export const signup = family({
  name: 'signup',
  namespace: 'signup',
  tag: 'Sign-up',
  descriptions,
  operations,
  tables: [{ name: 'signup_claims', reset: 'stay' }],
  leases,
});
