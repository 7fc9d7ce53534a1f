import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const roles = family({
  name: 'roles',
  namespace: 'roles',
  router: 'roles',
  tag: 'Roles',
  descriptions,
  operations,
});
