import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const encryption = family({
  name: 'encryption',
  namespace: 'encryption',
  router: 'encryption',
  tag: 'Encryption',
  descriptions,
  operations,
});
