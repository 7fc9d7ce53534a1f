import { type Families, families } from '#server/domain/families.ts';
import { router } from './from-operation.ts';
import { routerOf } from './router-of.ts';

type Routers = {
  [F in Families[number] as F extends { router: infer Key extends string } ? Key : never]: F extends { operations: infer M extends object }
    ? ReturnType<typeof routerOf<M>>
    : never;
};

/** Everything the dashboard can ask, family by family. */
export const appRouter = router(
  Object.fromEntries(families.flatMap((one) => ('router' in one ? [[one.router, routerOf(one.operations)]] : []))) as Routers,
);
export type AppRouter = typeof appRouter;
