'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useMemo } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

export type Figure = inferRouterOutputs<AppRouter>['routes']['overview']['data'][number];
/** By route id; undefined while they are on their way, null when they could not be had: the list does without. */
export type Figures = ReadonlyMap<string, Figure> | null | undefined;

/** Environments and last day of the routes on a page, asked for once for all of them and after the list is there. */
export function useRouteFigures(routes: readonly { id: string }[] | undefined): Figures {
  const trpc = useTRPC();
  const ids = (routes ?? []).map((route) => route.id).join(',');
  const figures = useQuery(trpc.routes.overview.queryOptions({ ids }, { enabled: ids !== '', staleTime: 30_000, refetchInterval: 60_000 }));
  return useMemo(
    () => (figures.data ? new Map(figures.data.data.map((one) => [one.route_id, one])) : figures.isError ? null : undefined),
    [figures.data, figures.isError],
  );
}
