'use client';

import { useQuery } from '@tanstack/react-query';
import { Clock, Download } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useCallback, useState } from 'react';
import { useDownload } from '#components/trpc/download.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ColumnsMenu, useColumns } from '#components/ui/columns.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Menu, type MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { lazily, whenOpen } from '#components/ui/lazily.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { LoadMore } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { SpanText } from '#components/ui/span-text.tsx';
import { NoResults } from '#components/ui/states.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { momentText, type TimeStyle, useTimeStyle } from '#components/ui/time-style.ts';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { addressIn } from '#server/domain/request-logs/country.shared.ts';
import { spanStart } from '#server/domain/request-logs/span.shared.ts';
import { RetentionNote } from './activity.tsx';
import { type AuditSearch, auditFilters, auditSearch, isTime } from './list-search.ts';
import { Sentence } from './sentence.tsx';
import { useEntries } from './use-entries.ts';
import { useLiveEntries } from './use-live-entries.ts';
import { type Entry, lineOf, thingOf, verbOf } from './words.ts';

const EntryPanel = lazily(
  () => import('./entry-panel.tsx').then((module) => module.EntryPanel),
  ({ id }) => id !== null,
);

const SpanDialog = lazily(() => import('#components/ui/span-dialog.tsx').then((module) => module.SpanDialog), whenOpen);

const column = columnsFor<Entry>();
const all = [
  column.display({ id: 'what', header: 'What', cell: ({ row }) => <Sentence entry={row.original} /> }),
  column.display({
    id: 'marks',
    header: <span className="sr-only">Marks</span>,
    meta: { hideBelow: 'md', width: '7rem' },
    cell: ({ row }) => (
      <span className="flex gap-1">
        {row.original.store === 'critical' && <Badge tone="accent">Critical</Badge>}
        {row.original.sandbox && <Badge tone="test">Test</Badge>}
      </span>
    ),
  }),
  column.accessor('created_at', {
    header: 'When',
    meta: { align: 'right', width: '9rem' },
    cell: ({ getValue }) => <Time value={getValue()} />,
  }),
  column.accessor('ip_address', {
    header: 'Address',
    meta: { hideBelow: 'lg', width: '11rem' },
    cell: ({ row: { original } }) => (
      <span suppressHydrationWarning className="font-mono text-ink-2 text-xs">
        {addressIn(original.ip_address, original.ip_country) ?? '—'}
      </span>
    ),
  }),
];

const RANGES = [
  { label: 'Last hour', hours: 1 },
  { label: 'Last 24 hours', hours: 24 },
  { label: 'Last 7 days', hours: 24 * 7 },
  { label: 'Last 30 days', hours: 24 * 30 },
];

const STORES = {
  critical: { label: 'Critical entries only', detail: 'Kept for good, chained' },
  general: { label: 'Without critical entries', detail: 'Leaves out the anchors of the request log too' },
} as const;

/** Who did what and when, filtered, exported, and each entry in full beside the list. */
export function Timeline() {
  const trpc = useTRPC();
  const [search, setSearch] = useQueryStates(auditSearch);
  const peek = usePanel('peek');
  const [asking, setAsking] = useState(false);
  const filters = auditFilters(search);
  const pages = useEntries(filters);
  const facets = useQuery(trpc.auditLogs.facets.queryOptions(filters));
  const exportReason = useFeatureReason('audit_export');
  const { busy, save } = useDownload();
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
  useHotkeys([{ keys: 'l', label: 'Live tail on or off', group: 'Audit', run: () => search.to === null && follow(!wanted) }]);
  const active = activeFilters(search, facets.data?.actors ?? [], (change) => void setSearch(change), useTimeStyle());
  const clear = () =>
    void setSearch({
      q: '',
      action: null,
      resource_type: null,
      resource_id: null,
      actor: null,
      ip: null,
      store: null,
      from: null,
      to: null,
      request_id: null,
    });
  const { columns, choice } = useColumns('audit', all);
  const forbidden = useForbidden('audit_log:export');
  const exportAs = (format: 'csv' | 'jsonl') =>
    void save(`/admin/audit-logs/export?${new URLSearchParams({ ...(filters as Record<string, string>), format }).toString()}`);

  const choices: MenuEntry[] = [
    { heading: 'What happened' },
    ...(facets.data?.actions ?? []).slice(0, 10).map(({ value, count }) => ({
      label: verbOf(value),
      detail: grouped(count),
      checked: search.action === value,
      onSelect: () => void setSearch({ action: value }),
    })),
    'separator',
    { heading: 'To what' },
    ...(facets.data?.resource_types ?? []).slice(0, 10).map(({ value, count }) => ({
      label: thingOf(value),
      detail: grouped(count),
      checked: search.resource_type === value,
      onSelect: () => void setSearch({ resource_type: value }),
    })),
    'separator',
    { heading: 'By whom' },
    ...(facets.data?.actors ?? []).slice(0, 10).map(({ value, label, count }) => ({
      label: label ?? value,
      detail: grouped(count),
      checked: search.actor === value,
      onSelect: () => void setSearch({ actor: value }),
    })),
    'separator',
    ...(['critical', 'general'] as const).map((store) => ({
      label: STORES[store].label,
      detail: STORES[store].detail,
      checked: search.store === store,
      onSelect: () => void setSearch({ store: search.store === store ? null : store }),
    })),
  ];
  return (
    <>
      <FilterBar
        query={search.q}
        onQuery={(q) => void setSearch({ q })}
        placeholder="Name of a thing or person"
        filters={active}
        choices={choices}
        onClear={clear}
      >
        <Switch
          checked={live}
          disabledReason={search.to === null ? undefined : 'A span that has an end gets no new entries.'}
          onCheckedChange={follow}
          label="Live tail"
          className="items-center"
        />
        <ViewsMenu page="audit" columns={choice} />
        <ColumnsMenu choice={choice} />
        <Menu
          trigger={
            <Button icon={<Clock />}>{search.from || search.to ? <SpanText from={search.from} to={search.to} /> : 'All of time'}</Button>
          }
          entries={[
            { label: 'All of time', checked: !search.from && !search.to, onSelect: () => void setSearch({ from: null, to: null }) },
            ...RANGES.map(({ label, hours }) => ({
              label,
              onSelect: () => void setSearch({ from: spanStart(Date.now(), hours * 3_600_000).toISOString(), to: null }),
            })),
            'separator',
            { label: 'From … until …', onSelect: () => setAsking(true) },
          ]}
        />
        <Menu
          trigger={
            <Button icon={<Download />} loading={busy} disabledReason={forbidden ?? exportReason}>
              Export
            </Button>
          }
          entries={[
            { label: 'CSV', detail: 'For a spreadsheet; formulas are made harmless', onSelect: () => exportAs('csv') },
            { label: 'JSON lines', detail: 'One entry a line, for another program', onSelect: () => exportAs('jsonl') },
          ]}
        />
      </FilterBar>
      <SpanDialog
        open={asking}
        onOpenChange={setAsking}
        span={{ from: search.from, to: search.to }}
        onSpan={(span) => void setSearch(span)}
      />
      {rows?.[0]?.details_redacted && (
        <Callout title="You see that something happened, not its details">
          Owners and Admins of this workspace see what exactly was changed.
        </Callout>
      )}
      {pages.isError ? (
        <QueryError query={pages} what="The audit log" />
      ) : (
        <DataTable
          columns={columns}
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
              filters={[...(search.q ? [`name contains ${search.q}`] : []), ...active.map((one) => one.text)]}
              onClear={clear}
            />
          }
        />
      )}
      {live && (
        <p role="status" className="figures text-ink-3 text-xs">
          {fresh.length === 0 ? 'Live tail: nothing new yet.' : `Live tail: ${grouped(fresh.length)} new.`}
        </p>
      )}
      {rows && rows.length > 0 && <LoadMore pages={pages} endNote={<RetentionNote days={pages.data?.pages[0]?.retention_days} />} />}
      <EntryPanel id={peek.id} onClose={peek.close} />
    </>
  );
}

type Change = { [K in keyof AuditSearch]?: null };

function activeFilters(
  search: AuditSearch,
  actors: readonly { value: string; label: string | null }[],
  set: (change: Change) => void,
  style: TimeStyle,
): ActiveFilter[] {
  const one = (key: keyof AuditSearch, text: string): ActiveFilter => ({
    id: key,
    text,
    label: text,
    onRemove: () => set({ [key]: null }),
  });
  const moment = (text: string) => momentText(new Date(text), style);
  return [
    ...(isTime(search.from) ? [one('from', `From ${moment(search.from)}`)] : []),
    ...(isTime(search.to) ? [one('to', `Until ${moment(search.to)}`)] : []),
    ...(search.action ? [one('action', verbOf(search.action))] : []),
    ...(search.resource_type ? [one('resource_type', thingOf(search.resource_type))] : []),
    ...(search.resource_id ? [one('resource_id', `About ${search.resource_id.slice(0, 8)}`)] : []),
    ...(search.actor
      ? [one('actor', `By ${actors.find((actor) => actor.value === search.actor)?.label ?? search.actor.slice(0, 8)}`)]
      : []),
    ...(search.ip ? [one('ip', `From ${search.ip}`)] : []),
    ...(search.request_id ? [one('request_id', `Of request ${search.request_id.slice(0, 8)}`)] : []),
    ...(search.store ? [one('store', STORES[search.store].label)] : []),
  ];
}
