'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useTRPC } from '#components/trpc/provider.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

export type Used = Omit<inferRouterOutputs<AppRouter>['environments']['usage']['data'][number], 'id'>;

/** What uses each environment of the space, in one request; undefined while it is not known, or to whom it is not shown. */
export function useUsage(enabled: boolean): (id: string) => Used | undefined {
  const trpc = useTRPC();
  const usage = useQuery(trpc.environments.usage.queryOptions({}, { enabled }));
  const known = usage.data && new Map(usage.data.data.map(({ id, ...used }) => [id, used]));
  return (id) => known?.get(id);
}
