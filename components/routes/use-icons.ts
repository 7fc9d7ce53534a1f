import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useNamesOnly } from '#components/trpc/role.ts';

export type Icons = ReadonlyMap<string, string>;
const NONE: Icons = new Map();

/** The icons of some routes by id, asked for at once and after what shows them is there. An upstream's icon tells the upstream: not to those who see names only. */
export function useRouteIcons(routes: readonly { id: string }[] | undefined): Icons {
  const trpc = useTRPC();
  const namesOnly = useNamesOnly();
  const ids = (routes ?? []).map((route) => route.id).join(',');
  const icons = useQuery(
    trpc.routes.icons.queryOptions({ ids }, { enabled: ids !== '' && !namesOnly, staleTime: 60_000, placeholderData: keepPreviousData }),
  );
  return useMemo(() => (icons.data ? new Map(icons.data.data.map((one) => [one.route_id, one.icon])) : NONE), [icons.data]);
}
