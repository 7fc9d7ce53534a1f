'use client';

import { useQuery } from '@tanstack/react-query';
import { ArrowRight, KeyRound } from 'lucide-react';
import type { Call } from '#components/routes/call-columns.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, HttpStatus, Method } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { PhaseBar } from '#components/ui/phase-bar.tsx';
import { phasesOf } from './call-phases.ts';

/** One call, opened: where its time went, what was put in, what came back. Values are never shown, only names. */
export function CallSummary({ call }: { call: Call }) {
  const trpc = useTRPC();
  const path = usePath();
  const detail = useQuery(trpc.requestLogs.inspect.queryOptions({ request_id: call.request_id }));
  const log = detail.data?.log;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 font-mono text-xs">
          <Method method={call.method ?? '—'} />
          {call.route_name ? `${call.route_name} ` : ''}
          {call.path ?? '/'}
        </span>
        <HttpStatus status={call.status_code} />
        <span className="text-ink-2">{sentenceOf(call)}</span>
      </div>
      <PhaseBar phases={phasesOf(call, log?.trace)} />
      {detail.error && !detail.data && <QueryError query={detail} what="The rest of the call" />}
      {log && log.injected.length > 0 && (
        <div className="flex flex-col gap-1.5">
          <h3 className="font-medium text-sm">Put in on the way</h3>
          <ul className="flex flex-wrap gap-1.5">
            {log.injected.map((name) => (
              <li key={name}>
                <Badge tone="accent" icon={<KeyRound />} mono>
                  {name.replace(':', ' ')}: ••••••••
                </Badge>
              </li>
            ))}
          </ul>
          {log.secrets_used.length > 0 && (
            <p className="text-ink-2 text-xs">from the secret {log.secrets_used.join(', ')}: the caller never had it.</p>
          )}
        </div>
      )}
      <KeyValueList columns={2} items={blockOf(call)} />
      <LinkButton size="sm" icon={<ArrowRight />} href={path(`/logs?peek=${call.request_id}`)} className="self-start">
        Open in Logs
      </LinkButton>
    </div>
  );
}

function sentenceOf(call: Call): string {
  if (call.origin === 'service' || (call.error && !call.upstream_status))
    return `We refused it: ${(call.error ?? 'no reason was recorded').replaceAll('_', ' ')}.`;
  if (call.upstream_status) return `The upstream answered ${call.upstream_status.toString()}, and the answer went back to the caller.`;
  return 'The caller went away before the answer.';
}

/** What the response block of the call said (interface rule 12 §13). */
const blockOf = (call: Call) => [
  { label: 'Request id', value: undefined, copy: call.request_id },
  { label: 'Answered by', value: call.origin === 'upstream' ? 'the upstream' : 'the gateway' },
  { label: 'Upstream status', value: call.upstream_status?.toString() },
  { label: 'Upstream host', value: call.upstream_host },
  { label: 'Environment', value: call.environment },
  { label: 'Attempts', value: call.attempts?.toString() },
];
