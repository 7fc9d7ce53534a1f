'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Download, RotateCw, ScrollText } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useEffect, useMemo, useState } from 'react';
import { curlOf } from '#components/shell/curl.ts';
import { useDownload } from '#components/trpc/download.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { LoadMore } from '#components/ui/pagination.tsx';
import { EmptyState, NoResults } from '#components/ui/states.tsx';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { useActiveFilters } from './active-filters.tsx';
import { CallHistogram } from './call-histogram.tsx';
import { CallList } from './call-list.tsx';
import { InspectorSheet } from './inspector.tsx';
import { logFilters, logSearch, noFilters, spanOf, statsFilters } from './list-search.ts';
import { LogFilterBar } from './log-filter-bar.tsx';
import { matchesLive } from './matching.ts';
import { TimeRange } from './time-range.tsx';
import { useLogs } from './use-logs.ts';
import { type Tail, useTail } from './use-tail.ts';
import type { Log } from './words.ts';

export function LogView() {
  const trpc = useTRPC();
  const { role, space, proxy_url } = useScope();
  const [search, setSearch] = useQueryStates(logSearch);
  const [now, setNow] = useState(() => Date.now());
  const [live, setLive] = useState(false);
  const [atTop, setAtTop] = useState(true);
  const filters = logFilters(search);
  const span = spanOf(search, now);
  const pages = useLogs({ ...filters, ...span });
  const stats = useQuery(trpc.requestLogs.stats.queryOptions({ ...statsFilters(search), ...span }, { placeholderData: keepPreviousData }));
  const tail = useHeld(
    useTail(live, (log) => matchesLive(log, filters)),
    atTop,
  );
  const { busy, save } = useDownload();
  const planReason = useFeatureReason('log_export');
  const active = useActiveFilters(search, (change) => void setSearch(change));

  const rows = useMemo(
    () =>
      joined(
        tail.shown,
        pages.data?.pages.flatMap((page) => page.logs),
      ),
    [tail.shown, pages.data],
  );
  const total = pages.data?.pages[0];
  const open = (log: Log) => void setSearch({ peek: log.request_id });
  const clear = () => void setSearch({ ...noFilters, from: null, to: null });
  const refresh = () => {
    setNow(Date.now());
    void pages.refetch();
    void stats.refetch();
  };
  const exportReason = role === 'owner' || role === 'admin' ? planReason : 'Only an Owner or Admin exports the request log';
  const exportAs = (format: 'csv' | 'ndjson') =>
    void save(`/admin/logs/export?${new URLSearchParams({ ...stringsOf({ ...filters, ...span }), format }).toString()}`);
  useHotkeys([
    { keys: 'l', label: 'Live on or off', group: 'Logs', run: () => setLive(!live) },
    { keys: 'r', label: 'Refresh', group: 'Logs', run: refresh },
    {
      keys: 'y',
      label: 'Copy link to the open call',
      group: 'Logs',
      run: () => search.peek && void navigator.clipboard.writeText(window.location.href),
    },
  ]);
  const filtered = active.length > 0 || search.q !== '';
  const empty = rows?.length === 0;
  return (
    <Page>
      <PageHeader
        title="Logs"
        description="Every call through the gateway: who, where to, how it ended and why."
        actions={
          <>
            <Switch checked={live} onCheckedChange={setLive} label={<LiveLabel tail={tail} on={live} />} className="items-center" />
            <IconButton label="Refresh" keys="r" icon={<RotateCw />} variant="secondary" loading={pages.isRefetching} onClick={refresh} />
            <Menu
              trigger={
                <Button icon={<Download />} loading={busy} disabledReason={exportReason}>
                  Export
                </Button>
              }
              entries={[
                { label: 'CSV', detail: 'For a spreadsheet; formulas are made harmless', onSelect: () => exportAs('csv') },
                { label: 'NDJSON', detail: 'One call a line, for another program', onSelect: () => exportAs('ndjson') },
              ]}
            />
          </>
        }
      />
      <LogFilterBar search={search} onChange={(change) => void setSearch(change)} filters={active} onClear={clear}>
        <ViewsMenu page="logs" />
        <TimeRange search={search} onChange={(change) => void setSearch(change)} />
      </LogFilterBar>
      <CallHistogram
        stats={stats.data}
        muted={space === 'test'}
        onSelect={(range) => void setSearch(range)}
        onStatus={(status) => void setSearch({ status })}
      />
      {pages.isError ? (
        <QueryError query={pages} what="The calls" />
      ) : empty && filtered ? (
        <NoResults noun="calls" filters={[...(search.q ? [`text ${search.q}`] : []), ...active.map((one) => one.text)]} onClear={clear} />
      ) : empty ? (
        <NoCalls proxyUrl={proxy_url} live={live} onLive={() => setLive(true)} />
      ) : (
        <CallList
          rows={rows}
          openId={search.peek ?? undefined}
          onOpen={open}
          onTop={setAtTop}
          onEndReached={() => pages.hasNextPage && !pages.isFetchingNextPage && void pages.fetchNextPage()}
          footer={
            <LoadMore
              hasMore={pages.hasNextPage}
              loading={pages.isFetchingNextPage}
              onMore={() => void pages.fetchNextPage()}
              endNote={<EndNote />}
            />
          }
        />
      )}
      {total && !empty && (
        <p aria-live="polite" className="figures text-ink-3 text-xs">
          {total.total_is_capped ? 'More than ' : ''}
          {total.total.toLocaleString()} {total.total === 1 ? 'call' : 'calls'} in this span
          {live ? `, ${tail.shown.length.toLocaleString()} more since you went live` : ''}
        </p>
      )}
      <InspectorSheet requestId={search.peek} onClose={() => void setSearch({ peek: null })} />
    </Page>
  );
}

type Held = Tail & { shown: readonly Log[]; waiting: number };

/** While the reader has scrolled away from the top, nothing is put above what they read; it waits and is counted. */
function useHeld(tail: Tail, atTop: boolean): Held {
  const [shown, setShown] = useState<readonly Log[]>([]);
  useEffect(() => {
    if (atTop) setShown(tail.rows);
  }, [tail.rows, atTop]);
  return { ...tail, shown, waiting: Math.max(0, tail.rows.length - shown.length) };
}

function LiveLabel({ tail, on }: { tail: Held; on: boolean }) {
  if (!on) return <>Live</>;
  return (
    <span className="figures flex items-center gap-1.5">
      Live
      <span role="status" className="text-ink-3 text-xs">
        {tail.state === 'connecting' && 'connecting…'}
        {tail.state === 'closed' && 'ended; reload the page to go on'}
        {tail.waiting > 0 && `${tail.waiting} new above`}
        {tail.heldBack > 0 && ` ${tail.heldBack.toLocaleString()} held back`}
      </span>
    </span>
  );
}

function joined(live: readonly Log[], stored: readonly Log[] | undefined): readonly Log[] | undefined {
  if (!stored) return undefined;
  if (live.length === 0) return stored;
  const known = new Set(live.map((log) => log.request_id));
  return [...live, ...stored.filter((log) => !known.has(log.request_id))];
}

const stringsOf = (filters: object): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, String(value)]));

function EndNote() {
  const trpc = useTRPC();
  const usage = useQuery({ ...trpc.account.usage.queryOptions({}), staleTime: 300_000 });
  if (!usage.data) return <span>That is all in this span.</span>;
  return (
    <span>
      That is all in this span. Calls are kept {usage.data.log_retention_days} days here ({usage.data.plan} plan).
    </span>
  );
}

function NoCalls({ proxyUrl, live, onLive }: { proxyUrl: string; live: boolean; onLive: () => void }) {
  return (
    <EmptyState
      icon={<ScrollText />}
      title={live ? 'Waiting for a call' : 'No calls in this span'}
      action={
        !live && (
          <Button variant="primary" onClick={onLive}>
            Listen live
          </Button>
        )
      }
      command={[
        {
          id: 'curl',
          label: 'cURL',
          language: 'bash',
          code: curlOf({ method: 'GET', url: `${proxyUrl}/your-route/`, headers: { 'X-Svc-Key': '$SALLYPORT_KEY' } }),
        },
      ]}
    >
      {live
        ? 'Send one: it appears here the moment it ends.'
        : 'Make a call with a key of this space; it appears here with everything that happened to it.'}
    </EmptyState>
  );
}
