'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import { useTRPC } from '#components/trpc/provider.tsx';
import type { LogTraffic, TRAFFIC_KINDS } from '#server/domain/request-logs/figures.schema.ts';

export type Traffic = Omit<z.output<typeof LogTraffic>['traffic'][number], 'id'>;

const NONE: Traffic = { calls_24h: 0, errors_24h: 0, calls_30d: 0, errors_30d: 0, last_at: null };

/** How much each of a page of things is used, in one request. Undefined while it is not known; a thing that was never used answers zeros. */
export function useTraffic(kind: (typeof TRAFFIC_KINDS)[number], ids: readonly string[] | undefined): (id: string) => Traffic | undefined {
  const trpc = useTRPC();
  const query = useQuery(
    trpc.requestLogs.traffic.queryOptions(
      { kind, ids: (ids ?? []).slice(0, 100) },
      { enabled: (ids?.length ?? 0) > 0, placeholderData: keepPreviousData },
    ),
  );
  const known = query.data && new Map(query.data.traffic.map(({ id, ...traffic }) => [id, traffic]));
  return (id) => known && (known.get(id) ?? NONE);
}
