import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const routes = family({
  name: 'routes',
  namespace: 'routes',
  router: 'routes',
  tag: 'Routes',
  descriptions,
  operations,
});
