'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { CallCountries } from '#components/logs/call-countries.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { type Asked, askedOf } from './search.ts';

/** The countries that calls came from. Nothing where none is known, or for who may not list calls. */
export function Locations({ search, now }: { search: Asked; now: number }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('log:list');
  const stats = useQuery(
    trpc.requestLogs.stats.queryOptions(askedOf(search, now), { enabled: !forbidden, placeholderData: keepPreviousData }),
  );
  return stats.data?.countries ? <CallCountries title="Locations" countries={stats.data.countries} /> : null;
}
