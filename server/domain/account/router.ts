import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

export const accountRouter = router({
  get: query(ops.get),
  update: mutation(ops.update),
  usage: query(ops.usage),
  plan: query(ops.plan),
  settings: query(ops.settings),
  updateSettings: mutation(ops.updateSettings),
});
