'use client';

import { usePath } from '#components/trpc/provider.tsx';
import type { AnalyticsSearch } from './search.ts';

/** The address of the log that lists the calls behind a figure. Trials are in no figure, so they are left out there too. */
export function useCallsOf({ route_id, environment }: Pick<AnalyticsSearch, 'route_id' | 'environment'>) {
  const path = usePath();
  return (span: { from: string; to: string }, filters: Record<string, string> = {}): string =>
    path(
      `/logs?${new URLSearchParams({ ...span, ...(route_id ? { route_id } : {}), ...(environment ? { environment } : {}), ...filters }).toString()}`,
    );
}
