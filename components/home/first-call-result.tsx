'use client';

import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { summaryOf } from '#components/logs/call-summary.ts';
import { blockOf, phasesOf, traceOf } from '#components/logs/trace.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { HttpStatus, Method } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { PhaseBar } from '#components/ui/phase-bar.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';

const Inspector = lazyTab(() => import('#components/logs/inspector.tsx').then((module) => module.Inspector));

/** The first call as it is told to a newcomer: what came back, what was put in, where the time went. The whole inspector is one press away. */
export function FirstCallResult({ requestId }: { requestId: string }) {
  const trpc = useTRPC();
  const [whole, setWhole] = useState(false);
  const query = useQuery({ ...trpc.requestLogs.inspect.queryOptions({ request_id: requestId }), staleTime: Number.POSITIVE_INFINITY });
  if (query.isError) return <QueryError query={query} what="Your call" />;
  if (!query.data) return <Skeleton lines={5} label="Loading your call" />;
  if (whole) {
    return (
      <div className="flex flex-col gap-5">
        <Inspector requestId={requestId} />
      </div>
    );
  }
  const { log } = query.data;
  const trace = traceOf(log.trace);
  return (
    <div className="flex flex-col gap-5">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <HttpStatus status={log.status_code} />
        <span className="font-mono text-xs">
          <Method method={log.method ?? '—'} className="mr-2 min-w-0" />
          {log.path ?? '/'}
        </span>
        <span className="font-medium">{summaryOf(log)}</span>
      </p>
      {log.injected.length > 0 && (
        <div className="flex gap-3 rounded-lg border border-accent-line bg-accent-soft px-3 py-2.5">
          <KeyRound aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-ink" />
          <p className="min-w-0">
            <span className="font-mono text-xs">
              {log.injected.map((name) => name.slice(name.indexOf(':') + 1)).join(', ')}: <span aria-hidden>••••••••</span>
            </span>
            <span className="block text-ink-2">
              Injected{log.secrets_used.length > 0 && ` from the secret ${log.secrets_used.join(', ')}`}. Your terminal never saw it.
            </span>
          </p>
        </div>
      )}
      <PhaseBar {...phasesOf(log, trace)} />
      <KeyValueList
        columns={2}
        items={blockOf(log, trace).map(([label, value]) => ({
          label: <span className="font-mono text-xs">{label}</span>,
          value: <span className="font-mono text-xs">{value}</span>,
        }))}
      />
      <Button size="sm" className="self-start" onClick={() => setWhole(true)}>
        Show all details
      </Button>
    </div>
  );
}
