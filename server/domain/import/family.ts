import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const imports = family({
  name: 'import',
  namespace: 'import',
  router: 'import',
  operations,
});
