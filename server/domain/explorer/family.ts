import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const explorer = family({
  name: 'explorer',
  namespace: 'explorer',
  router: 'explorer',
  operations,
  tables: [{ name: 'explorer_calls', reset: 'delete' }],
});
