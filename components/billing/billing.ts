import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** The subscription as the page shows it. */
export type Billing = inferRouterOutputs<AppRouter>['billing']['get'];
