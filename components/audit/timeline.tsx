'use client';

import { useQuery } from '@tanstack/react-query';
import { useQueryStates } from 'nuqs';
import { useCallback, useState } from 'react';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ColumnsMenu, useColumnChoice } from '#components/ui/columns.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { LoadMore } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { RetentionNote } from './activity.tsx';
import { lineOf } from './entry-text.ts';
import { ExportMenu } from './export-menu.tsx';
import { useTimelineFilters } from './list-filters.ts';
import { auditFilters, auditSearch, noFilters } from './list-search.ts';
import { SpanMenu } from './span-menu.tsx';
import { timelineColumns } from './timeline-columns.tsx';
import { useEntries } from './use-entries.ts';
import { useLiveEntries } from './use-live-entries.ts';

const EntryPanel = lazyOverlay(
  () => import('./entry-panel.tsx').then((module) => module.EntryPanel),
  ({ id }) => id !== null,
);

/** Who did what and when, filtered, exported, and each entry in full beside the list. */
export function Timeline() {
  const trpc = useTRPC();
  const forbidden = useRevealForbidden('audit_log:read_details');
  const [search, setSearch] = useQueryStates(auditSearch);
  const peek = usePanel('peek');
  const filters = auditFilters(search);
  const pages = useEntries(filters);
  const facets = useQuery(trpc.auditLogs.facets.queryOptions(filters));
  const stored = pages.data?.pages.flatMap((page) => page.entries);
  const [wanted, setLive] = useState(false);
  const live = wanted && search.to === null;
  const { refetch } = pages;
  const beginAnew = useCallback(() => void refetch(), [refetch]);
  const fresh = useLiveEntries(live, filters, stored, beginAnew);
  const rows = stored && [...fresh, ...stored];
  // What came while it was on goes with it: from then on the list itself has those entries.
  const follow = (on: boolean) => {
    setLive(on);
    if (!on) beginAnew();
  };
  useHotkeys([{ keys: 'l', label: 'Toggle live tail', group: 'Audit', run: () => search.to === null && follow(!wanted) }]);
  const narrowed = useTimelineFilters(search, setSearch, facets.data);
  const clear = () => void setSearch(noFilters);
  const choice = useColumnChoice('audit', timelineColumns);
  return (
    <>
      <FilterBar
        query={search.q}
        onQuery={(q) => void setSearch({ q })}
        placeholder="Search by resource or person"
        filters={narrowed.active}
        choices={narrowed.choices}
        onClear={clear}
      >
        <Switch
          checked={live}
          disabledReason={search.to === null ? undefined : 'Live tail needs a time range without an end.'}
          onCheckedChange={follow}
          label="Live tail"
          className="items-center"
        />
        <ViewsMenu page="audit" columns={choice} />
        <ColumnsMenu choice={choice} />
        <SpanMenu from={search.from} to={search.to} onSpan={(span) => void setSearch(span)} />
        <ExportMenu filters={filters} />
      </FilterBar>
      {rows?.[0]?.details_redacted && (
        <Callout title="Details are hidden">
          {forbidden
            ? 'Only Owners and Admins can see what changed.'
            : 'This workspace withholds them. Open an entry to reveal its details.'}
        </Callout>
      )}
      {pages.isError ? (
        <QueryError query={pages} what="The audit log" />
      ) : (
        <DataTable
          columns={timelineColumns}
          hiddenColumns={choice.hidden}
          rows={rows}
          rowId={(row) => row.id}
          rowName={lineOf}
          caption="Audit entries, newest first"
          onOpen={(row) => peek.open(row.id)}
          openId={peek.id ?? undefined}
          refreshing={!live && pages.isFetching && !pages.isFetchingNextPage && !pages.isLoading}
          empty={
            <NoResults
              noun="entries"
              filters={[...(search.q ? [`name contains ${search.q}`] : []), ...narrowed.active.map((one) => one.text)]}
              onClear={clear}
            />
          }
        />
      )}
      {live && (
        <p role="status" className="figures text-ink-3 text-xs">
          {fresh.length === 0
            ? 'Live tail is on. Waiting for new entries.'
            : `Live tail is on. ${counted(fresh.length, 'new entry', 'new entries')}.`}
        </p>
      )}
      {rows && rows.length > 0 && <LoadMore pages={pages} endNote={<RetentionNote days={pages.data?.pages[0]?.retention_days} />} />}
      <EntryPanel id={peek.id} onClose={peek.close} />
    </>
  );
}
