'use client';

import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { useState } from 'react';
import { barsOf, errorsOf } from '#components/logs/series.ts';
import { RecentChanges } from '#components/routes/recent-changes.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { Page, PageHeader, SectionCard, Split } from '#components/ui/layout.tsx';
import { counted, grouped, millis, shareOf } from '#components/ui/numbers.ts';
import { Stat } from '#components/ui/stat.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { TimeHistogram } from '#components/ui/time-histogram.tsx';
import { Checklist, ChecklistRing } from './checklist.tsx';
import { ErrorGroups } from './error-groups.tsx';
import { NeedsAttention } from './needs-attention.tsx';
import { changeOf, periodsOf, RANGES, type Range, rangeWords } from './ranges.ts';
import { RecentCalls } from './recent-calls.tsx';
import { UsageMeters } from './usage-meters.tsx';
import { useArrivals } from './use-arrivals.ts';

/** Home once there are calls: how they go, against the time before, and what needs a hand. */
export function Overview() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const router = useRouter();
  const { space } = useScope();
  const unaudited = useForbidden('audit_log:list') !== undefined;
  const [range, setRange] = useQueryState('range', parseAsStringLiteral(Object.keys(RANGES) as Range[]).withDefault('24h'));
  const [now, setNow] = useState(() => Date.now());
  const { current, before } = periodsOf(range, now);
  const stats = useQuery(trpc.requestLogs.stats.queryOptions(current, { placeholderData: keepPreviousData }));
  const previous = useQuery(trpc.requestLogs.stats.queryOptions(before, { placeholderData: keepPreviousData }));
  const failures = useQuery(trpc.requestLogs.failures.queryOptions(current, { placeholderData: keepPreviousData }));
  const failedBefore = useQuery(trpc.requestLogs.failures.queryOptions(before, { placeholderData: keepPreviousData }));
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 1, enabled: true }));
  const live = useArrivals(() => {
    // The figures follow the calls, at most once a minute: periodsOf moves only then.
    setNow(Date.now());
    void cache.invalidateQueries(trpc.requestLogs.stats.queryFilter(current));
    void cache.invalidateQueries(trpc.requestLogs.failures.queryFilter(current));
  });
  const totals = stats.data?.totals;
  const was = previous.data?.totals;
  const share = totals && totals.total > 0 ? totals.errors / totals.total : 0;
  const wasShare = was && was.total > 0 ? was.errors / was.total : null;
  const buckets = stats.data && barsOf(stats.data);
  const trend =
    buckets && coarse(buckets.map((b) => (b.ok ?? 0) + (b.redirect ?? 0) + (b.client_error ?? 0) + (b.server_error ?? 0) + (b.gone ?? 0)));
  const errors = stats.data && coarse(errorsOf(stats.data));
  // The figures leave calls of the Test tab out; so must the list behind a figure.
  const real = totals && totals.trials > 0 ? '&mode=route' : '';
  const logs = (query: string) => path(`/logs?${new URLSearchParams(current).toString()}${real}${query}`);

  return (
    <Page>
      <PageHeader
        title={totals ? healthOf(totals, share, routes.data?.meta.total) : 'Home'}
        description={totals && `${counted(totals.total, 'call')} ${rangeWords[range]}, ${shareOf(totals.errors, totals.total)} errors.`}
        actions={
          <>
            <ChecklistRing />
            <Segmented
              label="Range"
              size="sm"
              options={(Object.keys(RANGES) as Range[]).map((value) => ({ value, label: value }))}
              value={range}
              onValueChange={(value) => void setRange(value)}
            />
          </>
        }
      />
      {stats.error && !stats.data ? (
        <QueryError query={stats} what="The figures" />
      ) : (
        <>
          <div className="grid grid-cols-2 gap-3 max-lg:*:last:col-span-2 lg:grid-cols-5">
            <Stat
              label="Calls"
              value={totals ? grouped(totals.total) : '…'}
              change={totals && was && changeOf(totals.total, was.total, false)}
              {...(trend ? { trend } : {})}
              href={logs('')}
            />
            <Stat
              label="Error rate"
              value={totals ? shareOf(totals.errors, totals.total) : '…'}
              change={changeOf(share, wasShare, true)}
              {...(errors ? { trend: errors } : {})}
              href={logs('&outcome=failed')}
            />
            <Stat
              label="p95 latency"
              value={millis(stats.data?.latency.p95)}
              change={changeOf(stats.data?.latency.p95 ?? null, previous.data?.latency.p95 ?? null, true)}
              href={logs(`&slower=${Math.round(stats.data?.latency.p95 ?? 500).toString()}`)}
            />
            <Stat
              label="Our part of it, p95"
              value={millis(failures.data?.overhead_ms.p95)}
              change={changeOf(failures.data?.overhead_ms.p95 ?? null, failedBefore.data?.overhead_ms.p95 ?? null, true)}
              href={logs('&origin=upstream')}
            />
            <Stat
              label="Refused by us"
              value={failures.data ? `${failures.data.is_capped ? 'over ' : ''}${grouped(failures.data.blocked)}` : '…'}
              change={changeOf(failures.data?.blocked ?? null, failedBefore.data?.blocked ?? null, true)}
              href={logs('&outcome=refused')}
              className="max-lg:col-span-2"
            />
          </div>
          {stats.data && (
            <SectionCard title="Calls over time">
              <TimeHistogram
                buckets={buckets ?? []}
                bucketMs={stats.data.step_seconds * 1000}
                unit="calls"
                muted={space === 'test'}
                onSelect={({ from, to }) => router.push(path(`/logs?${new URLSearchParams({ from, to }).toString()}`))}
              />
            </SectionCard>
          )}
        </>
      )}
      <Split
        side={
          <>
            <Checklist />
            <UsageMeters />
            {!unaudited && (
              <SectionCard
                title="Recent activity"
                actions={
                  <LinkButton size="sm" variant="ghost" href={path('/audit')}>
                    Audit
                  </LinkButton>
                }
              >
                <RecentChanges most={6} />
              </SectionCard>
            )}
          </>
        }
      >
        <NeedsAttention routes={stats.data?.top_routes ?? []} hrefOf={(filters) => logs(`&${new URLSearchParams(filters).toString()}`)} />
        {failures.error && !failures.data && <QueryError query={failures} what="The errors" />}
        {failures.data && failures.data.groups.length > 0 && (
          <ErrorGroups groups={failures.data.groups} hrefOf={(filters) => logs(`&${new URLSearchParams(filters).toString()}`)} />
        )}
        <RecentCalls live={live} />
        {stats.data && stats.data.top_routes.length > 0 && <TopRoutes routes={stats.data.top_routes} />}
      </Split>
    </Page>
  );
}

type Totals = { total: number; errors: number };

/** One sentence before any figure. */
function healthOf({ total, errors }: Totals, share: number, routes: number | undefined): string {
  const all = routes === undefined ? 'Routes' : routes === 1 ? 'Your route' : `${grouped(routes)} routes`;
  if (total === 0) return 'No calls in this time';
  if (share >= 0.25 && errors > 3) return `Many calls fail: ${grouped(errors)} of ${grouped(total)}`;
  if (share >= 0.05) return `${grouped(errors)} of ${grouped(total)} calls failed`;
  return `${all} healthy`;
}

/** At most 24 points: a small line shows no more. */
function coarse(values: readonly number[]): number[] {
  const size = Math.ceil(values.length / 24);
  return Array.from({ length: Math.ceil(values.length / size) }, (_, i) =>
    values.slice(i * size, (i + 1) * size).reduce((sum, v) => sum + v, 0),
  );
}

type TopRoute = { route_id: string | null; name: string | null; count: number; errors: number; p95: number | null };

function TopRoutes({ routes }: { routes: readonly TopRoute[] }) {
  const path = usePath();
  return (
    <SectionCard title="Busiest routes">
      <table className="w-full text-left">
        <caption className="sr-only">Busiest routes</caption>
        <thead className="text-ink-3 text-xs">
          <tr>
            <th scope="col" className="pb-1 font-medium">
              Route
            </th>
            <th scope="col" className="pb-1 text-right font-medium">
              Calls
            </th>
            <th scope="col" className="pb-1 text-right font-medium">
              Errors
            </th>
            <th scope="col" className="pb-1 text-right font-medium max-sm:hidden">
              p95
            </th>
          </tr>
        </thead>
        <tbody className="figures">
          {routes.slice(0, 6).map((route) => (
            <tr key={route.route_id ?? 'none'} className="border-line border-t">
              <td className="py-1.5">
                {route.route_id ? (
                  <Link href={path(`/routes/${route.route_id}`)} className="rounded-xs font-medium hover:underline">
                    {route.name ?? 'deleted route'}
                  </Link>
                ) : (
                  <span className="text-ink-3">no route found</span>
                )}
              </td>
              <td className="py-1.5 text-right">{grouped(route.count)}</td>
              <td className="py-1.5 text-right">{shareOf(route.errors, route.count)}</td>
              <td className="py-1.5 text-right max-sm:hidden">{millis(route.p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </SectionCard>
  );
}
