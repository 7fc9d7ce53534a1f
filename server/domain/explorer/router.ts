import { query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** One's own explorer calls; sending is a plain POST, since its answer is another operation's. */
export const explorerRouter = router({ history: query(ops.history) });
