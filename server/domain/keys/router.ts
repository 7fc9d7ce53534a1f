import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the workspace's master keys. */
export const tenantKeysRouter = router({
  list: query(ops.list),
  rotate: mutation(ops.rotate),
});
