import { query, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

export const rolesRouter = router({ list: query(ops.list) });
