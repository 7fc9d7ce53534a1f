import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

export const apiKeysRouter = router({
  list: query(ops.list),
  get: query(ops.get),
  uses: query(ops.uses),
  versions: query(ops.versions),
  create: mutation(ops.create),
  update: mutation(ops.update),
  rotate: mutation(ops.rotate),
  revoke: mutation(ops.remove),
});
