'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pause, Play, Plus, Webhook } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { BulkBar } from '#components/ui/bulk-bar.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { TabLinks } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { webhookListInput, webhookSearch } from './list-search.ts';
import { hostOf, stateOf, type Usage, type WebhookRow } from './webhook-labels.ts';

const AllDeliveries = lazyTab(() => import('./all-deliveries.tsx').then((module) => module.AllDeliveries));
const CreateWebhookSheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateWebhookSheet), whenOpen);

type Listed = WebhookRow & { usage: Usage | undefined };
const column = columnsFor<Listed>();

const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '16rem' },
    cell: ({ getValue }) => <span className="truncate">{getValue()}</span>,
  }),
  column.accessor('url', {
    header: 'Receiver',
    meta: { hideBelow: 'md', cap: '16rem' },
    cell: ({ getValue }) => <span className="truncate font-mono text-xs">{hostOf(getValue())}</span>,
  }),
  column.accessor('event_types', {
    header: 'Events',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => {
      const [first, ...more] = getValue();
      return (
        <span className="flex gap-1">
          <Badge mono>{first}</Badge>
          {more.length > 0 && <Badge title={more.join(', ')}>+{more.length}</Badge>}
        </span>
      );
    },
  }),
  column.display({
    id: 'status',
    header: 'Status',
    cell: ({ row: { original } }) => {
      const { state, label } = stateOf(original, original.usage);
      return <Status state={state}>{label}</Status>;
    },
  }),
  column.display({
    id: 'day',
    header: 'Last 24 hours',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => <DayBar usage={original.usage} />,
  }),
  column.accessor('last_triggered_at', {
    header: 'Last delivery',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
];

/** What arrived and what failed, as figures and as a bar. */
function DayBar({ usage }: { usage: Usage | undefined }) {
  if (!usage) return <span className="text-ink-3">…</span>;
  const { delivered, failed } = usage;
  const all = delivered + failed;
  if (all === 0) return <span className="text-ink-3">None</span>;
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden className="flex h-1.5 w-16 overflow-hidden rounded-full bg-bad-soft">
        <span className="bg-good-ink" style={{ width: `${(delivered / all) * 100}%` }} />
      </span>
      <span className="figures text-xs">
        {delivered} delivered{failed > 0 && `, ${failed} failed`}
      </span>
    </span>
  );
}

/** The webhooks of the space. */
export function WebhookList() {
  const trpc = useTRPC();
  const { api_url } = useScope();
  const path = usePath();
  const router = useRouter();
  const readOnly = useForbidden('webhook:create');
  const cannotUpdate = useForbidden('webhook:update');
  const limit = useLimit('webhooks', 'webhooks');
  const [search, setSearch] = useQueryStates(webhookSearch);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const form = usePanel('open');
  const list = useQuery(trpc.webhooks.list.queryOptions(webhookListInput(search), { placeholderData: keepPreviousData }));
  const usage = useQuery(trpc.webhooks.usage.queryOptions({}));
  useHotkeys([{ keys: 'c', label: 'New webhook', group: 'List', run: () => !readOnly && void form.open('new') }]);
  const usageOf = usage.data && new Map(usage.data.data.map((row) => [row.id, row]));
  const rows = list.data?.data.map((row) => ({ ...row, usage: usageOf?.get(row.id) }));
  const clear = () => void setSearch({ q: null, enabled: null, event_type: null, page: null });
  const filters: ActiveFilter[] = [
    ...(search.enabled === null
      ? []
      : [
          { id: 'enabled', text: search.enabled ? 'Active' : 'Paused', label: 'Status', onRemove: () => void setSearch({ enabled: null }) },
        ]),
    ...(search.event_type === null
      ? []
      : [{ id: 'event_type', text: search.event_type, label: 'Event', onRemove: () => void setSearch({ event_type: null }) }]),
  ];
  const types = [...new Set((list.data?.data ?? []).flatMap(({ event_types }) => event_types))].sort();
  const choices: MenuEntry[] = [
    { heading: 'Status' },
    { label: 'Active', checked: search.enabled === true, onSelect: () => void setSearch({ enabled: true, page: null }) },
    { label: 'Paused', checked: search.enabled === false, onSelect: () => void setSearch({ enabled: false, page: null }) },
    ...(types.length === 0 ? [] : (['separator', { heading: 'Event' }] satisfies MenuEntry[])),
    ...types.map((type) => ({
      label: type,
      checked: search.event_type === type,
      onSelect: () => void setSearch({ event_type: type as NonNullable<typeof search.event_type>, page: null }),
    })),
  ];
  const newWebhook = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('new')}>
      New webhook
    </Button>
  );
  const filtered = filters.length > 0 || search.q !== '';
  return (
    <Page>
      <PageHeader
        title="Webhooks"
        description="Events of this space, sent to your systems as they happen."
        usage={limit}
        actions={newWebhook}
      />
      <TabLinks
        label="Webhooks"
        tabs={[
          { href: path('/webhooks'), label: 'Webhooks', active: search.tab === null },
          { href: '?tab=deliveries', label: 'Deliveries', active: search.tab === 'deliveries' },
        ]}
      />
      {search.tab === 'deliveries' ? (
        <AllDeliveries webhooks={list.data?.data ?? []} />
      ) : (
        <>
          {(rows?.length !== 0 || filtered) && (
            <FilterBar
              query={search.q}
              onQuery={(q) => void setSearch({ q: q || null, page: null })}
              placeholder="Filter by name or URL"
              filters={filters}
              choices={choices}
              onClear={clear}
            />
          )}
          {list.isError && !list.data ? (
            <QueryError query={list} what="Webhooks" />
          ) : rows?.length === 0 && filtered ? (
            <NoResults
              noun="webhooks"
              filters={[...(search.q ? [`name or URL contains “${search.q}”`] : []), ...filters.map(({ text }) => text)]}
              onClear={clear}
            />
          ) : (
            <DataTable
              columns={columns}
              rows={rows}
              rowId={(row) => row.id}
              rowName={(row) => row.name}
              caption="Webhooks"
              rowHref={(row) => path(`/webhooks/${row.id}`)}
              selection={cannotUpdate ? undefined : { selected, onChange: setSelected }}
              empty={
                <EmptyState
                  icon={<Webhook />}
                  title="No webhooks yet"
                  action={newWebhook}
                  command={[
                    {
                      id: 'curl',
                      label: 'cURL',
                      language: 'bash',
                      code: `curl ${api_url}/webhooks \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"audit","url":"https://example.com/hooks","event_types":["audit.event"]}'`,
                    },
                  ]}
                >
                  An event is one fact: a call ended, a secret expires, something was changed. Choose the ones you want, and where to send
                  them.
                </EmptyState>
              }
            />
          )}
          <Pagination noun="webhooks" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
        </>
      )}
      <Bulk selected={selected} onClear={() => setSelected(new Set())} />
      <CreateWebhookSheet
        open={form.id === 'new' && !readOnly}
        onClose={form.close}
        onCreated={(id) => router.replace(path(`/webhooks/${id}`))}
      />
    </Page>
  );
}

/** Turns several on or off; each is a change of its own. */
function Bulk({ selected, onClear }: { selected: ReadonlySet<string>; onClear: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: async (enabled: boolean) => {
      for (const id of selected) await client.webhooks.update.mutate({ id, enabled });
      return enabled;
    },
    onError: (error) => notifyRefused(error),
    onSuccess: (enabled) => {
      notifyDone(`${counted(selected.size, 'webhook')} ${enabled ? 'enabled' : 'paused'}`);
      onClear();
    },
    onSettled: () => queryClient.invalidateQueries(trpc.webhooks.pathFilter()),
  });
  return (
    <BulkBar count={selected.size} noun="webhook" onClear={onClear}>
      <Button size="sm" icon={<Play />} loading={change.isPending} onClick={() => change.mutate(true)}>
        Enable
      </Button>
      <Button size="sm" icon={<Pause />} loading={change.isPending} onClick={() => change.mutate(false)}>
        Pause
      </Button>
    </BulkBar>
  );
}
