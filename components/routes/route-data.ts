import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** A route as its pages have it. */
export type RouteDetailData = inferRouterOutputs<AppRouter>['routes']['get'];
