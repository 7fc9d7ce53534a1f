import { mutation, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

export const sandboxRouter = router({ promote: mutation(ops.promote), clone: mutation(ops.clone), reset: mutation(ops.reset) });
