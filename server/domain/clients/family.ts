import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const clients = family({
  name: 'clients',
  namespace: 'clients',
  router: 'clients',
  tag: 'Clients',
  descriptions,
  operations,
});
