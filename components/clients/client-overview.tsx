'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { useState } from 'react';
import { periodsOf } from '#components/home/ranges.ts';
import { reasonOf } from '#components/logs/refusal-reasons.ts';
import { barsOf } from '#components/logs/series.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split, textLink } from '#components/ui/layout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted, grouped, millis, shareOf } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Stat } from '#components/ui/stat.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { TimeHistogram } from '#components/ui/time-histogram.tsx';
import { countryName } from '#server/domain/tenants/country.shared.ts';
import { AddressNote } from './address-note.tsx';
import { AssignedRoutes } from './assigned-routes.tsx';
import { credentialsInWords, type Detail, TYPES } from './client-labels.ts';
import { ClientHealth } from './health.tsx';
import { noteInWords } from './notes.ts';

const CallCountries = lazyPart(() => import('#components/logs/call-countries.tsx').then((module) => module.CallCountries));

const RANGES = ['24h', '7d'] as const;

/** The details, assigned routes and traffic of one client. */
export function ClientOverview({ client }: { client: Detail }) {
  const trpc = useTRPC();
  const path = usePath();
  const router = useRouter();
  const { space } = useScope();
  const [range, setRange] = useQueryState('range', parseAsStringLiteral(RANGES).withDefault('24h'));
  const [now] = useState(() => Date.now());
  const { current } = periodsOf(range, now);
  const stats = useQuery(trpc.requestLogs.stats.queryOptions({ client_id: client.id, ...current }, { placeholderData: keepPreviousData }));
  const notes = Object.entries(client.ip_notes);
  const totals = stats.data?.totals;
  const logs = (more: Record<string, string> = {}) =>
    path(`/logs?${new URLSearchParams({ client_id: client.id, range, ...more }).toString()}`);
  return (
    <Split
      side={
        <>
          <AssignedRoutes client={client} />
          <SectionCard title="Details">
            <KeyValueList
              items={[
                { label: 'IP address', value: client.ip_address, copy: client.ip_address, hint: <AddressNote text={client.ip_address} /> },
                ...(client.ip_country ? [{ label: 'Country', value: countryName(client.ip_country) }] : []),
                { label: 'Type', value: TYPES[client.type] },
                { label: 'Credentials', value: credentialsInWords(client.credential_kinds) },
                { label: 'Last seen', value: <Time value={client.last_matched_at} empty="Never" /> },
                { label: 'Created', value: <Time value={client.created_at} format="datetime" /> },
                { label: 'Updated', value: <Time value={client.updated_at} format="datetime" /> },
              ]}
            />
          </SectionCard>
          {notes.length > 0 && (
            <SectionCard title="Notes">
              <KeyValueList items={notes.map(([label, value]) => ({ label, value: noteInWords(value) }))} />
            </SectionCard>
          )}
        </>
      }
    >
      <SectionCard
        title="Traffic"
        description={
          totals &&
          (totals.total === 0
            ? 'No calls from this client in this period.'
            : range === '24h' && <ClientHealth traffic={{ calls_24h: totals.total, errors_24h: totals.errors }} />)
        }
        actions={
          <Segmented
            label="Range"
            size="sm"
            options={RANGES.map((value) => ({ value, label: value }))}
            value={range}
            onValueChange={(value) => void setRange(value)}
          />
        }
      >
        {stats.error && !stats.data ? (
          <QueryError query={stats} what="Metrics" />
        ) : (
          <div className="flex flex-col gap-4">
            <div className="grid grid-cols-2 gap-3 xl:grid-cols-4">
              <Stat label="Calls" value={grouped(totals?.total) ?? '…'} href={logs()} />
              <Stat label="Error rate" value={totals ? shareOf(totals.errors, totals.total) : '…'} href={logs({ origin: 'service' })} />
              <Stat label="p50 latency" value={millis(stats.data?.latency.p50)} />
              <Stat label="p95 latency" value={millis(stats.data?.latency.p95)} />
            </div>
            {stats.data ? (
              <TimeHistogram
                buckets={barsOf(stats.data)}
                bucketMs={stats.data.step_seconds * 1_000}
                unit="calls"
                muted={space === 'test'}
                height={64}
                onSelect={({ from, to }) =>
                  router.push(path(`/logs?${new URLSearchParams({ client_id: client.id, from, to }).toString()}`))
                }
              />
            ) : (
              <Skeleton lines={3} label="Loading chart" />
            )}
          </div>
        )}
      </SectionCard>
      {stats.data && stats.data.top_routes.length > 0 && (
        <SectionCard title="Top routes">
          <ul className="flex flex-col">
            {stats.data.top_routes.map((route) => (
              <li
                key={route.route_id ?? 'none'}
                className="flex min-h-8 items-center justify-between gap-3 border-line border-t first:border-t-0"
              >
                {route.route_id ? (
                  <Link className={textLink} href={path(`/routes/${route.route_id}`)}>
                    {route.name ?? 'Deleted route'}
                  </Link>
                ) : (
                  <span className="text-ink-3">No route</span>
                )}
                <span className="figures text-ink-2 text-xs">
                  {counted(route.count, 'call')}, {shareOf(route.errors, route.count)} failed
                </span>
              </li>
            ))}
          </ul>
        </SectionCard>
      )}
      {stats.data?.countries && <CallCountries title="Locations" countries={stats.data.countries} />}
      {stats.data && stats.data.error_codes.length > 0 && (
        <SectionCard title="Errors">
          <ul className="flex flex-col">
            {stats.data.error_codes.slice(0, 6).map(({ error, count }) => (
              <li key={error}>
                <Link
                  href={logs({ error })}
                  className="-mx-2 flex min-h-8 items-center justify-between gap-3 rounded-sm px-2 hover:bg-subtle"
                >
                  <span className="min-w-0 truncate">{reasonOf(error)}</span>
                  <span className="figures text-ink-2">{grouped(count)}</span>
                </Link>
              </li>
            ))}
          </ul>
        </SectionCard>
      )}
    </Split>
  );
}
