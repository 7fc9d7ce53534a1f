import { environmentsRouter } from '#server/domain/environments/router.ts';
import { router } from './from-operation.ts';

/** Everything the dashboard can ask, family by family. */
export const appRouter = router({
  environments: environmentsRouter,
});
export type AppRouter = typeof appRouter;
