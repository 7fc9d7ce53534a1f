import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the client operations. */
export const clientsRouter = router({
  list: query(ops.list),
  get: query(ops.get),
  credentials: query(ops.listCredentials),
  create: mutation(ops.create),
  update: mutation(ops.update),
  delete: mutation(ops.remove),
  createCredential: mutation(ops.createCredential),
  updateCredential: mutation(ops.updateCredential),
  deleteCredential: mutation(ops.removeCredential),
  assign: mutation(ops.assign),
  unassign: mutation(ops.unassign),
});
