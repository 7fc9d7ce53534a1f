import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const scimUsers = family({
  name: 'scim-users',
  namespace: 'scim_users',
  router: 'scimUsers',
  operations,
  resources: [{ type: 'scim_user' }],
  tables: [{ name: 'scim_users', reset: 'stay' }],
});
