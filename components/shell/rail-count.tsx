'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';

/** How many tool calls wait for a person, beside the label of their page. Nothing when none do, or when they can't be counted. */
export function RailCount() {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.mcpServers.approvals_pending.queryOptions({}, { refetchInterval: 20_000, retry: false }));
  const pending = data?.pending ?? 0;
  if (pending === 0) return null;
  return (
    <span className="ml-auto shrink-0 rounded-full bg-accent px-1.5 font-medium text-2xs text-on-accent leading-4 tabular-nums">
      {pending > 99 ? '99+' : pending}
      <span className="sr-only"> waiting</span>
    </span>
  );
}
