import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const collections = family({
  name: 'collections',
  namespace: 'collections',
  router: 'collections',
  tag: 'Collections',
  descriptions,
  operations,
});
