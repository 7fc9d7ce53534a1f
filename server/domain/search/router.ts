import { query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The palette's search, and the inspector of the developer pane. */
export const searchRouter = router({ query: query(ops.query), inspect: query(ops.inspectId) });
