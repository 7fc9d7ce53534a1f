import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const secrets = family({
  name: 'secrets',
  namespace: 'secrets',
  router: 'secrets',
  tag: 'Secrets',
  descriptions,
  operations,
});
