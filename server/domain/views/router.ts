import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the operations on saved views. */
export const viewsRouter = router({
  list: query(ops.list),
  create: mutation(ops.create),
  update: mutation(ops.update),
  delete: mutation(ops.remove),
});
