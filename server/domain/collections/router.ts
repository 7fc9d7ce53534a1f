import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the collection operations. */
export const collectionsRouter = router({
  list: query(ops.list),
  get: query(ops.get),
  create: mutation(ops.create),
  update: mutation(ops.update),
  delete: mutation(ops.remove),
  variables: query(ops.listVariables),
  createVariable: mutation(ops.createVariable),
  updateVariable: mutation(ops.updateVariable),
  deleteVariable: mutation(ops.removeVariable),
  defaults: query(ops.getDefaults),
  putDefaults: mutation(ops.putDefaults),
  access: query(ops.access),
  overview: query(ops.overview),
  owners: query(ops.getOwners),
  putOwners: mutation(ops.putOwners),
  syncStatus: query(ops.syncStatus),
  resetRoute: mutation(ops.resetRoute),
  moveMembers: mutation(ops.moveMembers),
});
