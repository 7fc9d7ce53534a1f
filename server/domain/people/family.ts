import { family } from '#server/kernel/family.ts';
import * as personOperations from './person-operations.ts';

export const people = family({
  name: 'people',
  namespace: 'auth',
  personOperations,
  resources: [{ type: 'member' }, { type: 'user' }, { type: 'session' }],
  tables: [{ name: 'memberships', reset: 'stay' }],
});
