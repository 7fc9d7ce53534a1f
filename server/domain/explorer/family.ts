import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';
import { forgetCallsOf } from './service.ts';

export const explorer = family({
  name: 'explorer',
  namespace: 'explorer',
  router: 'explorer',
  operations,
  membershipEnds: async (tx, ctx, userId) => ({ explorer_calls: await forgetCallsOf(tx, ctx, userId) }),
  tables: [{ name: 'explorer_calls', reset: 'delete' }],
});
