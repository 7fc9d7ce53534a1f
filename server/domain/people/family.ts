import { family } from '#server/kernel/family.ts';
import * as personOperations from './person-operations.ts';

export const people = family({
  name: 'people',
  namespace: 'auth',
  personOperations,
});
