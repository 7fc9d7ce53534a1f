import { mutation, router } from '#server/trpc/from-operation.ts';
import * as ops from './operations.ts';

/** The dashboard's typed view of the import operations. */
export const importRouter = router({
  propose: mutation(ops.propose),
  // `apply` is a word every function owns; tRPC refuses it.
  create: mutation(ops.apply),
});
