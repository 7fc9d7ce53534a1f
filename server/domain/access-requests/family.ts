import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';
import { endRequests } from './service.ts';

export const accessRequests = family({
  name: 'access-requests',
  namespace: 'access_requests',
  router: 'accessRequests',
  operations,
  resources: [{ type: 'access_request' }],
  tables: [{ name: 'access_requests', reset: 'stay' }],
  membershipEnds: endRequests,
});
