import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the environment operations. */
export const environmentsRouter = router({
  list: query(ops.list),
  get: query(ops.get),
  create: mutation(ops.create),
  update: mutation(ops.update),
  delete: mutation(ops.remove),
  duplicate: mutation(ops.duplicate),
  usage: query(ops.usage),
  impact: query(ops.impact),
});
