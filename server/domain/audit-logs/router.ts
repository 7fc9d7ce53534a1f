import { mutation, query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the audit log. Exports are downloads of their paths, not procedures. */
export const auditLogsRouter = router({
  browse: query(ops.browse),
  get: query(ops.get),
  facets: query(ops.facets),
  critical: query(ops.critical),
  verifyCritical: mutation(ops.verifyCritical),
});
