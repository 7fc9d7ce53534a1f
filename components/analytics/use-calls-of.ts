'use client';

import { usePath } from '#components/trpc/provider.tsx';
import { filtersIn, type Of } from './search.ts';

/** The address of the log that lists the calls behind a figure. Trials are in no figure, so they are left out there too. */
export function useCallsOf(of: Of) {
  const path = usePath();
  return (span: { from: string; to: string }, filters: Record<string, string> = {}): string =>
    path(`/logs?${new URLSearchParams({ ...span, ...filtersIn(of), ...filters }).toString()}`);
}
