import type { inferRouterOutputs } from '@trpc/server';
import { hostOf } from '#components/routes/host.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export type Drift = inferRouterOutputs<AppRouter>['collections']['syncStatus']['data'][number]['drift'][number];

/** One thing in which a route differs from what its collection expects. */
export const describeDrift = ({ environment, kind, expected, actual }: Drift): string =>
  kind === 'missing_environment'
    ? `${environment} is missing`
    : kind === 'base_url'
      ? `${environment} points to ${hostOf(actual)} instead of ${hostOf(expected)}`
      : `missing client in ${environment}`;
