'use client';

import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split, textLink } from '#components/ui/layout.tsx';
import { Stat } from '#components/ui/stat.tsx';
import { Time } from '#components/ui/time.tsx';
import { AddressNote } from './address-note.tsx';
import { credentialsInWords, type Detail, TYPES } from './words.ts';

const RECENT = 100;

export function ClientOverview({ client }: { client: Detail }) {
  const trpc = useTRPC();
  const path = usePath();
  const calls = useQuery(trpc.requestLogs.browse.queryOptions({ client_id: client.id, per_page: RECENT }));
  const logs = calls.data?.logs;
  const failed = logs?.filter((log) => log.error !== null || (log.status_code ?? 500) >= 500).length ?? 0;
  const took = logs?.flatMap((log) => log.latency_ms ?? []).sort((a, b) => a - b) ?? [];
  const p95 = took[Math.min(took.length - 1, Math.floor(took.length * 0.95))];
  const latest = logs && logs.length < (calls.data?.total ?? 0) ? `of the newest ${logs.length}` : 'last 24 hours';
  const byRoute = [...new Map(client.route_assignments.map((one) => [one.route_id, one.route_name]))];
  return (
    <Split
      side={
        <SectionCard
          title="May call"
          description={byRoute.length === 0 ? 'Assigned to no route. Routes that require clients refuse it.' : undefined}
        >
          <ul className="flex flex-col gap-1">
            {byRoute.slice(0, 12).map(([id, name]) => (
              <li key={id} className="flex flex-wrap gap-x-2">
                <Link className={textLink} href={path(`/routes/${id}`)}>
                  {name}
                </Link>
                <span className="text-ink-3">
                  {client.route_assignments
                    .filter((one) => one.route_id === id)
                    .map((one) => one.environment_name)
                    .join(', ')}
                </span>
              </li>
            ))}
            {byRoute.length > 12 && (
              <li>
                <Link className={textLink} href="?tab=routes">
                  and {byRoute.length - 12} more
                </Link>
              </li>
            )}
          </ul>
        </SectionCard>
      }
    >
      <div className="grid gap-3 sm:grid-cols-3">
        <Stat
          label="Calls, last 24 hours"
          value={calls.data ? `${calls.data.total_is_capped ? 'more than ' : ''}${calls.data.total.toLocaleString()}` : '…'}
          href={path(`/logs?client_id=${client.id}`)}
        />
        <Stat
          label={`Failed or refused, ${latest}`}
          value={logs ? (logs.length ? `${Math.round((failed / logs.length) * 100)} %` : '—') : '…'}
        />
        <Stat label={`p95 latency, ${latest}`} value={logs ? (p95 === undefined ? '—' : `${p95.toLocaleString()} ms`) : '…'} />
      </div>
      <SectionCard title="Facts">
        <KeyValueList
          items={[
            { label: 'Address', value: client.ip_address, copy: client.ip_address, hint: <AddressNote text={client.ip_address} /> },
            { label: 'Type', value: TYPES[client.type] },
            { label: 'Credentials', value: credentialsInWords(client.credential_kinds) },
            { label: 'Last seen', value: <Time value={client.last_matched_at} empty="never" /> },
            { label: 'Made', value: <Time value={client.created_at} format="datetime" /> },
            { label: 'Changed', value: <Time value={client.updated_at} format="datetime" /> },
          ]}
        />
      </SectionCard>
    </Split>
  );
}
