'use client';

import { useQuery } from '@tanstack/react-query';
import type { Tail } from '#components/logs/use-tail.ts';
import { type Call, callColumns } from '#components/routes/call-columns.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Status } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { SectionCard } from '#components/ui/layout.tsx';

const SHOWN = 8;

/** The newest calls; those that arrive while the page is open appear on top. */
export function RecentCalls({ live }: { live: Tail }) {
  const trpc = useTRPC();
  const path = usePath();
  const calls = useQuery(trpc.requestLogs.browse.queryOptions({ per_page: SHOWN }));
  if (calls.error && !calls.data) return <QueryError query={calls} what="Recent calls" />;
  return (
    <SectionCard
      flush
      title="Recent requests"
      actions={
        <>
          <Status state={live.state === 'open' ? 'live' : 'pending'}>{live.state === 'open' ? 'live' : 'connecting'}</Status>
          <LinkButton size="sm" variant="ghost" href={path('/logs')}>
            All logs
          </LinkButton>
        </>
      }
    >
      <DataTable
        className="rounded-t-none border-0"
        caption="Recent requests"
        columns={callColumns}
        rows={calls.data && merged(live.rows, calls.data.logs).slice(0, SHOWN)}
        rowId={(call) => call.request_id}
        rowName={(call) => `${call.method ?? ''} ${call.path ?? ''}`}
        rowHref={(call) => path(`/logs?peek=${call.request_id}`)}
        skeletonRows={4}
        empty={<p className="p-4 text-ink-3">No calls yet.</p>}
      />
    </SectionCard>
  );
}

/** Newest first, each call once. */
function merged(fresh: readonly Call[], known: readonly Call[]): Call[] {
  const seen = new Set(fresh.map((call) => call.request_id));
  return [...fresh, ...known.filter((call) => !seen.has(call.request_id))];
}
