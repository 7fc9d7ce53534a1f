import { query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The palette's search. */
export const searchRouter = router({ query: query(ops.query) });
