import { query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the request log. The export is a download and the live tail an event stream, both by their paths. */
export const requestLogsRouter = router({
  browse: query(ops.browse),
  inspect: query(ops.inspect),
  stats: query(ops.stats),
  facets: query(ops.facets),
  failures: query(ops.failures),
  traffic: query(ops.traffic),
  days: query(ops.days),
  proof: query(ops.proof),
  ofRoute: query(ops.listOfRoute),
});
