import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';
import { endPrivateViews } from './service.ts';

export const views = family({
  name: 'views',
  namespace: 'views',
  router: 'views',
  operations,
  resources: [{ type: 'view' }],
  membershipEnds: endPrivateViews,
  tables: [{ name: 'saved_views', reset: 'delete' }],
});
