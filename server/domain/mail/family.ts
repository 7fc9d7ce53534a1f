import { family } from '#server/kernel/family.ts';
import * as personOperations from './person-operations.ts';

export const mail = family({
  name: 'mail',
  namespace: 'auth',
  personOperations,
});
