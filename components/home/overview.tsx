'use client';

import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Fragment, lazy, type ReactNode, Suspense, useState } from 'react';
import { barsOf, errorsOf } from '#components/logs/series.ts';
import { usePreferences } from '#components/theme/preferences-provider.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { Page, PageHeader, SectionCard, Split } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyPart } from '#components/ui/lazy.tsx';
import { counted, grouped, millis, shareOf } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Stat } from '#components/ui/stat.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { TimeHistogram } from '#components/ui/time-histogram.tsx';
import { ArrangeCards } from './arrange-cards.tsx';
import { BusiestRoutes } from './busiest-routes.tsx';
import { cardsOf, cardWords, type HomeCard, type HomeZone, type ServedCards } from './cards.ts';
import { Checklist, ChecklistRing } from './checklist.tsx';
import { NeedsAttention } from './needs-attention.tsx';
import { changeOf, periodsOf, RANGES, type Range, rangeWords } from './ranges.ts';
import { RecentCalls } from './recent-calls.tsx';
import { UsageMeters } from './usage-meters.tsx';
import { useNewCalls } from './use-new-calls.ts';

// With all the words for what can go wrong; on a good day nothing has.
const ErrorGroups = lazy(() => import('./error-groups.tsx').then((module) => ({ default: module.ErrorGroups })));

// With the words for all that can be done; its entries come after the page, so it may come with them.
const RecentChanges = lazyOverlay(
  () => import('#components/routes/recent-changes.tsx').then((module) => module.RecentChanges),
  () => false,
);

// Only where the operator gave it a database of countries.
const CallCountries = lazyPart(() => import('#components/logs/call-countries.tsx').then((module) => module.CallCountries));

/** Home once there are calls: how they go, against the time before, and what needs a hand. */
export function Overview({ news, goLive }: ServedCards) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const router = useRouter();
  const { space } = useScope();
  const { preferences } = usePreferences();
  const unaudited = useForbidden('audit_log:list') !== undefined;
  const [range, setRange] = useQueryState('range', parseAsStringLiteral(Object.keys(RANGES) as Range[]).withDefault('24h'));
  const [now, setNow] = useState(() => Date.now());
  const { current, before } = periodsOf(range, now);
  const stats = useQuery(trpc.requestLogs.stats.queryOptions(current, { placeholderData: keepPreviousData }));
  const previous = useQuery(trpc.requestLogs.stats.queryOptions(before, { placeholderData: keepPreviousData }));
  const failures = useQuery(trpc.requestLogs.failures.queryOptions(current, { placeholderData: keepPreviousData }));
  const failedBefore = useQuery(trpc.requestLogs.failures.queryOptions(before, { placeholderData: keepPreviousData }));
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 1, enabled: true }));
  const live = useNewCalls(() => {
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

  const calledHref = (filters: Record<string, string>) => logs(`&${new URLSearchParams(filters).toString()}`);
  const cards: Record<HomeCard, ReactNode> = {
    figures: (
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
          label="Gateway overhead, p95"
          value={millis(failures.data?.overhead_ms.p95)}
          change={changeOf(failures.data?.overhead_ms.p95 ?? null, failedBefore.data?.overhead_ms.p95 ?? null, true)}
          href={logs('&origin=upstream')}
        />
        <Stat
          label="Refused by gateway"
          value={failures.data ? `${failures.data.is_capped ? 'Over ' : ''}${grouped(failures.data.blocked)}` : '…'}
          change={changeOf(failures.data?.blocked ?? null, failedBefore.data?.blocked ?? null, true)}
          href={logs('&outcome=refused')}
          className="max-lg:col-span-2"
        />
      </div>
    ),
    traffic: stats.data && (
      <SectionCard title="Calls over time">
        <TimeHistogram
          buckets={buckets ?? []}
          bucketMs={stats.data.step_seconds * 1000}
          unit="calls"
          muted={space === 'test'}
          onSelect={({ from, to }) => router.push(path(`/logs?${new URLSearchParams({ from, to }).toString()}`))}
        />
      </SectionCard>
    ),
    attention: <NeedsAttention routes={stats.data?.top_routes ?? []} hrefOf={calledHref} />,
    errors:
      failures.error && !failures.data ? (
        <QueryError query={failures} what="Errors" />
      ) : (
        failures.data &&
        failures.data.groups.length > 0 && (
          <Suspense fallback={<Skeleton lines={4} label="Loading errors" />}>
            <ErrorGroups groups={failures.data.groups} hrefOf={calledHref} />
          </Suspense>
        )
      ),
    calls: <RecentCalls live={live} />,
    go_live: goLive,
    busiest: stats.data && stats.data.top_routes.length > 0 && <BusiestRoutes routes={stats.data.top_routes} />,
    countries: stats.data?.countries && <CallCountries title={cardWords.countries.label} countries={stats.data.countries} />,
    checklist: <Checklist />,
    usage: <UsageMeters />,
    changelog: news,
    activity: !unaudited && (
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
    ),
  };
  const shown = (zone: HomeZone) => cardsOf(zone, preferences).map((id) => <Fragment key={id}>{cards[id]}</Fragment>);

  return (
    <Page>
      <PageHeader
        title={totals ? healthOf(totals, share, routes.data?.meta.total) : 'Home'}
        description={totals && `${counted(totals.total, 'call')} ${rangeWords[range]}, ${shareOf(totals.errors, totals.total)} error rate.`}
        actions={
          <>
            <ChecklistRing />
            <ArrangeCards missing={stats.data?.countries ? [] : ['countries']} />
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
      {stats.error && !stats.data ? <QueryError query={stats} what="Metrics" /> : shown('top')}
      {cardsOf('side', preferences).length > 0 ? (
        <Split side={shown('side')}>{shown('main')}</Split>
      ) : (
        <div className="flex min-w-0 flex-col gap-4">{shown('main')}</div>
      )}
    </Page>
  );
}

type Totals = { total: number; errors: number };

/** One sentence before any figure. */
function healthOf({ total, errors }: Totals, share: number, routes: number | undefined): string {
  if (total === 0) return 'No calls in this period';
  if (share >= 0.25 && errors > 3) return `Many calls are failing: ${grouped(errors)} of ${grouped(total)}`;
  if (share >= 0.05) return `${grouped(errors)} of ${grouped(total)} calls failed`;
  if (routes === undefined) return 'All routes healthy';
  return routes === 1 ? 'Your route is healthy' : `All ${grouped(routes)} routes healthy`;
}

/** At most 24 points: a small line shows no more. */
function coarse(values: readonly number[]): number[] {
  const size = Math.ceil(values.length / 24);
  return Array.from({ length: Math.ceil(values.length / size) }, (_, i) =>
    values.slice(i * size, (i + 1) * size).reduce((sum, v) => sum + v, 0),
  );
}
