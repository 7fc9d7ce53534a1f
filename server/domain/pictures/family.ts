import { family } from '#server/kernel/family.ts';
import * as personOperations from './person-operations.ts';

export const pictures = family({
  name: 'pictures',
  namespace: 'auth',
  personOperations,
  tables: [{ name: 'pictures', reset: 'stay' }],
});
