import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const environments = family({
  name: 'environments',
  namespace: 'environments',
  router: 'environments',
  tag: 'Environments',
  descriptions,
  operations,
});
