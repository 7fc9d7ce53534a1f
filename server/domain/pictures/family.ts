import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const pictures = family({
  name: 'pictures',
  namespace: 'auth',
  operations,
  tables: [{ name: 'pictures', reset: 'stay' }],
});
