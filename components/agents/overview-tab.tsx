'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { grouped, millis } from '#components/ui/numbers.ts';
import { Stat } from '#components/ui/stat.tsx';
import { Time } from '#components/ui/time.tsx';
import { type Bucket, TimeHistogram } from '#components/ui/time-histogram.tsx';
import { buildLabel, type Detail, hostText, MODES } from './labels.ts';

const HOUR = 3_600_000;

/** How an agent does: what it carried, what it runs on, and how old its bundle is. */
export function OverviewTab({ agent }: { agent: Detail }) {
  const { health } = agent;
  return (
    <Split
      side={
        <SectionCard title="Host">
          <KeyValueList
            items={[
              { label: 'Mode', value: MODES[agent.mode].title, hint: MODES[agent.mode].secrets },
              { label: 'Host', value: hostText(agent) ?? 'Not known yet' },
              { label: 'Version', value: versionOf(agent) },
              { label: 'Build', value: buildLabel(agent.build_verified).label },
              { label: 'Last seen', value: <Time value={agent.last_seen_at} empty="Never" /> },
              { label: 'Bundle window', value: agent.last_bundle_window ?? 'None yet' },
              { label: 'Bundle issued', value: <Time value={agent.last_session_issued_at} empty="Never" /> },
              { label: 'Open sessions', value: grouped(agent.open_sessions) },
              { label: 'Memory', value: health?.mem_mb == null ? '—' : `${grouped(health.mem_mb)} MB` },
              { label: 'Created', value: <Time value={agent.created_at} format="datetime" /> },
            ]}
          />
        </SectionCard>
      }
    >
      <Notices agent={agent} />
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Stat label="Calls, 24 hours" value={grouped(agent.requests_24h)} />
        <Stat label="Routes" value={grouped(agent.routes)} href="?tab=routes" />
        <Stat label="95th percentile" value={health?.p95_ms == null ? '—' : millis(health.p95_ms)} />
        <Stat label="Processor" value={health?.cpu == null ? '—' : `${health.cpu.toFixed(1)}%`} />
      </div>
      <Calls agent={agent} />
      {health && health.listeners.length > 0 && (
        <SectionCard title="Listeners" description="Ports on the host, on 127.0.0.1 alone.">
          <ul className="flex flex-col gap-1.5">
            {health.listeners.map(({ port, protocol, open }) => (
              <li key={port} className="flex items-center gap-2">
                <span className="figures font-mono text-xs">127.0.0.1:{port}</span>
                <Badge>{protocol}</Badge>
                {!open && <Badge tone="bad">Closed</Badge>}
              </li>
            ))}
          </ul>
        </SectionCard>
      )}
    </Split>
  );
}

const versionOf = ({ version, outdated }: Detail) => (version === null ? 'Not known yet' : outdated ? `${version}, outdated` : version);

function Notices({ agent }: { agent: Detail }) {
  const failing = agent.health?.last_error;
  return (
    <>
      {agent.connectivity === 'never_connected' && (
        <Callout
          title="This agent isn’t installed yet"
          actions={
            <LinkButton size="sm" href="?tab=install">
              Install it
            </LinkButton>
          }
        >
          Create an install token and run its command on the host.
        </Callout>
      )}
      {agent.connectivity === 'offline' && (
        <Callout tone="bad" title="The agent is offline">
          Its last heartbeat is more than 15 minutes old. On the host, run <code>systemctl status sallyport-agent</code>.
        </Callout>
      )}
      {failing && (
        <Callout tone="warn" title="The agent reports a problem">
          {failing}
        </Callout>
      )}
    </>
  );
}

function Calls({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.agents.metrics.queryOptions({ id: agent.id, hours: 24 }, { refetchInterval: 60_000 }));
  return (
    <SectionCard title="Calls" description="Counted by the agent, the last 24 hours.">
      {query.isError ? (
        <QueryError query={query} what="Calls of this agent" />
      ) : query.data && query.data.points.length > 0 ? (
        <TimeHistogram buckets={hoursOf(query.data.points)} bucketMs={HOUR} unit="calls" muted={agent.sandbox} height={96} />
      ) : (
        <p className="text-ink-3">No calls yet.</p>
      )}
    </SectionCard>
  );
}

/** Heartbeats by hours: errors apart from the rest. */
function hoursOf(points: readonly { at: string; requests: number; errors: number }[]): Bucket[] {
  const hours = new Map<number, { ok: number; server_error: number }>();
  const last = Math.floor(Date.now() / HOUR);
  for (let hour = last - 23; hour <= last; hour++) hours.set(hour, { ok: 0, server_error: 0 });
  for (const { at, requests, errors } of points) {
    const hour = hours.get(Math.floor(Date.parse(at) / HOUR));
    if (!hour) continue;
    hour.ok += Math.max(0, requests - errors);
    hour.server_error += errors;
  }
  return [...hours].map(([hour, counts]) => ({ at: new Date(hour * HOUR).toISOString(), ...counts }));
}
