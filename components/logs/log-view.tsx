'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { PanelLeft, RotateCw } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useMemo, useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { IconButton } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { NoResults } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyPart } from '#components/ui/lazy.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { LoadMore } from '#components/ui/pagination.tsx';
import { closePanel, usePanel, writePanel } from '#components/ui/panel.ts';
import { useStored } from '#components/ui/use-stored.ts';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { useActiveFilters } from './active-filters.tsx';
import { CallHistogram } from './call-histogram.tsx';
import type { Log } from './call-kind.ts';
import { CallList } from './call-list.tsx';
import { CompareBar } from './compare-bar.tsx';
import { EndNote } from './end-note.tsx';
import { ExportMenu } from './export-menu.tsx';
import { FacetRail } from './facet-rail.tsx';
import { InspectorSheet } from './lazy-inspector.ts';
import { logFilters, logOrder, logSearch, noFilters, spanOf, statsFilters } from './list-search.ts';
import { LogFilterBar } from './log-filter-bar.tsx';
import { matchesLive } from './matches-filters.ts';
import { OrderMenu } from './order-menu.tsx';
import { LiveLabel, Waiting } from './tail-notes.tsx';
import { TimeRange } from './time-range.tsx';
import { useLogs } from './use-logs.ts';
import { usePausedTail } from './use-paused-tail.ts';
import { useRoutesIn } from './use-routes-in.ts';
import { useEvery, useTail } from './use-tail.ts';

const NoCalls = lazyPart(() => import('./no-calls.tsx').then((module) => module.NoCalls));
const CompareSheet = lazyOverlay(
  () => import('./compare-sheet.tsx').then((module) => module.CompareSheet),
  ({ requestIds }) => requestIds.length === 2,
);

/** Filters the chart follows; the others narrow the list alone. */
const CHARTED = new Set(['status', 'route_id', 'collection_id', 'environment', 'client_id', 'api_key_id']);

/** The calls of the space: found, watched as they come, looked into, compared. */
export function LogView() {
  const trpc = useTRPC();
  const { space, proxy_url } = useScope();
  const [search, setSearch] = useQueryStates(logSearch);
  const peek = usePanel('peek');
  const [now, setNow] = useState(() => Date.now());
  const [live, setLive] = useState(false);
  const [reading, setReading] = useState(false);
  const [rail, setRail] = useStored('log-facets', 'shown');
  const filters = logFilters(search);
  const span = spanOf(search, now);
  const pages = useLogs({ ...filters, ...span, ...logOrder(search) }, live);
  const slowest = search.sort === 'latency_ms';
  const stats = useQuery(trpc.requestLogs.stats.queryOptions({ ...statsFilters(search), ...span }, { placeholderData: keepPreviousData }));
  const facets = useQuery(trpc.requestLogs.facets.queryOptions({ ...filters, ...span }, { placeholderData: keepPreviousData }));
  // The newest of a narrowed list says nothing of what came after it.
  const newest =
    Object.keys(filters).length === 0 && search.from === null && search.to === null ? pages.data?.pages[0]?.logs[0]?.id : undefined;
  const inCollection = useRoutesIn(search.collection_id, live);
  const matches = (log: Log) => matchesLive(log, filters, inCollection);
  const arrived = useTail(live && !slowest, matches, newest);
  // What came under another filter is judged by this one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what `matches` depends on.
  const matching = useMemo(() => ({ ...arrived, rows: arrived.rows.filter(matches) }), [arrived, JSON.stringify(filters), inCollection]);
  const tail = usePausedTail(matching, reading);
  useEvery(tail.rows.length > 0 ? tail.rows[0]?.request_id : undefined, () => {
    void stats.refetch();
    void facets.refetch();
  });
  const change = (part: Parameters<typeof setSearch>[0]) => void setSearch(part);
  const active = useActiveFilters(search, change);
  const rows = useMemo(
    () =>
      joined(
        tail.shown,
        pages.data?.pages.flatMap((page) => page.logs),
      ),
    [tail.shown, pages.data],
  );
  const marks = {
    ids: search.compare,
    toggle: (id: string) => {
      const compare = search.compare.includes(id) ? search.compare.filter((one) => one !== id) : [...search.compare, id].slice(-2);
      // The second mark opens a panel, which Back closes.
      writePanel('compare', compare.length > 0 ? compare.join(',') : null, compare.length === 2 ? 'push' : 'replace');
    },
  };
  const clear = () => change({ ...noFilters, from: null, to: null });
  const refresh = () => {
    setNow(Date.now());
    void pages.refetch();
    void stats.refetch();
    void facets.refetch();
  };
  // What the tail brought goes with it: from then on the list itself has those calls.
  const follow = (on: boolean) => {
    setLive(on);
    if (!on) refresh();
  };
  useHotkeys([
    { keys: 'l', label: 'Toggle live tail', group: 'Logs', run: () => slowest || follow(!live) },
    { keys: 'n', label: 'Show new calls', group: 'Logs', run: tail.show },
    { keys: 'r', label: 'Refresh', group: 'Logs', run: refresh },
  ]);
  const filtered = active.length > 0 || search.q !== '';
  const empty = rows?.length === 0;
  const total = pages.data?.pages[0];
  const trials = facets.data?.proxy_mode.find(({ value }) => value === 'test')?.count ?? 0;
  return (
    <Page>
      <PageHeader
        title="Logs"
        description="Every call through the gateway, with its caller, result and timing."
        actions={
          <>
            <Switch
              checked={live && !slowest}
              disabledReason={slowest ? 'Live tail needs the newest calls first. Change the sort order to use it.' : undefined}
              onCheckedChange={follow}
              label={<LiveLabel tail={tail} on={live && !slowest} />}
              className="items-center"
            />
            <IconButton label="Refresh" keys="r" icon={<RotateCw />} variant="secondary" loading={pages.isRefetching} onClick={refresh} />
            <ExportMenu filters={{ ...filters, ...span }} />
          </>
        }
      />
      <LogFilterBar search={search} onChange={change} filters={active} facets={facets.data} onClear={clear}>
        <IconButton
          label={rail === 'shown' ? 'Hide filters' : 'Show filters'}
          aria-pressed={rail === 'shown'}
          icon={<PanelLeft />}
          variant="secondary"
          onClick={() => setRail(rail === 'shown' ? 'hidden' : 'shown')}
          className="max-xl:hidden"
        />
        <OrderMenu slowest={slowest} onSort={(sort) => change({ sort })} />
        <ViewsMenu page="logs" />
        <TimeRange search={search} onChange={change} span={span} />
      </LogFilterBar>
      <CallHistogram
        stats={stats.data}
        muted={space === 'test'}
        onSelect={change}
        onStatus={(status) => change({ status })}
        beyond={[
          ...(search.q ? ['The search text'] : []),
          ...active.filter(({ id }) => !CHARTED.has(id)).map(({ text }) => `“${text}”`),
          ...(search.client_id && search.api_key_id ? ['The key'] : []),
        ]}
      />
      {pages.isError ? (
        <QueryError query={pages} what="Calls" />
      ) : empty && !filtered ? (
        <NoCalls proxyUrl={proxy_url} live={live} onLive={() => setLive(true)} />
      ) : (
        <div className={rail === 'shown' ? 'grid grid-cols-[minmax(0,1fr)] gap-5 xl:grid-cols-[12.5rem_minmax(0,1fr)]' : ''}>
          {rail === 'shown' && <FacetRail facets={facets.data} search={search} onChange={change} className="max-xl:hidden" />}
          <div className="flex min-w-0 flex-col gap-2">
            {empty ? (
              <NoResults
                noun="calls"
                filters={[...(search.q ? [`text ${search.q}`] : []), ...active.map((one) => one.text)]}
                onClear={clear}
              />
            ) : (
              <CallList
                rows={rows}
                openId={peek.id ?? undefined}
                onOpen={(log) => peek.open(log.request_id)}
                onRead={setReading}
                notice={<Waiting tail={tail} />}
                marks={marks}
                onEndReached={() => pages.hasNextPage && !pages.isFetchingNextPage && void pages.fetchNextPage()}
                footer={<LoadMore pages={pages} endNote={<EndNote />} />}
              />
            )}
            {total && !empty && (
              <p aria-live="polite" className="figures text-ink-3 text-xs">
                {`${total.total_is_capped ? 'More than ' : ''}${counted(total.total, 'call')} in this period`}
                {trials > 0 && search.mode === null ? `, including ${grouped(trials)} from the Test tab` : ''}
                {live ? `, plus ${grouped(tail.shown.length)} from the live tail` : ''}
              </p>
            )}
          </div>
        </div>
      )}
      <CompareBar count={search.compare.length} onClear={() => change({ compare: null })} />
      <InspectorSheet requestId={peek.id} onClose={peek.close} marks={marks} />
      <CompareSheet requestIds={search.compare} onClose={() => void closePanel('compare')} />
    </Page>
  );
}

function joined(live: readonly Log[], stored: readonly Log[] | undefined): readonly Log[] | undefined {
  if (!stored) return undefined;
  if (live.length === 0) return stored;
  const known = new Set(live.map((log) => log.request_id));
  return [...live, ...stored.filter((log) => !known.has(log.request_id))];
}
