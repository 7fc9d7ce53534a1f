import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the route operations. */
export const routesRouter = router({
  list: query(ops.list),
  get: query(ops.get),
  create: mutation(ops.create),
  update: mutation(ops.update),
  delete: mutation(ops.remove),
  duplicate: mutation(ops.duplicate),
  environments: query(ops.listEnvironments),
  putEnvironment: mutation(ops.putEnvironment),
  deleteEnvironment: mutation(ops.removeEnvironment),
  clients: query(ops.listClients),
  test: mutation(ops.test),
  examples: query(ops.listExamples),
  saveExample: mutation(ops.saveExample),
  replaceExample: mutation(ops.replaceExample),
  deleteExample: mutation(ops.removeExample),
  probe: mutation(ops.probe),
  overview: query(ops.overview),
  icons: query(ops.icons),
  impact: query(ops.impact),
  setClients: mutation(ops.setClients),
  secretById: mutation(ops.secretById),
});
