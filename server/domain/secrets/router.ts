import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the secret operations. */
export const secretsRouter = router({
  list: query(ops.list),
  get: query(ops.get),
  usage: query(ops.usage),
  versions: query(ops.versions),
  create: mutation(ops.create),
  update: mutation(ops.update),
  putValue: mutation(ops.putValue),
  delete: mutation(ops.remove),
  updateEnvironment: mutation(ops.updateEnvironment),
  removeValue: mutation(ops.removeValue),
  restore: mutation(ops.restore),
  importEnv: mutation(ops.importEnvFile),
});
