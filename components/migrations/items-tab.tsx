'use client';

import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { BulkBar } from '#components/ui/bulk-bar.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ITEM_STATUSES } from '#server/domain/migrations/register.shared.ts';
import { type Detail, ITEM_STATUS, type ItemRow, pollOf } from './labels.ts';
import { itemSearch } from './list-search.ts';

const ItemSheet = lazyOverlay(() => import('./item-sheet.tsx').then((module) => module.ItemSheet), whenOpen);
const RejectDialog = lazyOverlay(() => import('./reject-dialog.tsx').then((module) => module.RejectDialog), whenOpen);

const PER_PAGE = 50;

const column = columnsFor<ItemRow>();
const columns = [
  column.accessor('source_name', {
    header: 'At the source',
    meta: { cap: '22rem' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col">
        <span className="truncate font-mono text-xs">{original.source_name}</span>
        <span className="flex flex-wrap gap-1.5 text-ink-3 text-xs">
          {original.kind.replaceAll('_', ' ')}
          {original.value_length !== null && `, ${original.value_length} bytes`}
          {original.fetch_error && <Badge tone="warn">No value: {original.fetch_error.replaceAll('_', ' ')}</Badge>}
        </span>
      </span>
    ),
  }),
  column.display({
    id: 'target',
    header: 'Becomes',
    meta: { cap: '20rem', hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col">
        <span className="truncate font-mono text-xs">{original.decision?.target_name ?? original.suggested.name}</span>
        <span className="flex flex-wrap gap-1.5 text-ink-3 text-xs">
          {original.decision?.environment ?? original.suggested.environment ?? 'Default environment'}
          {original.conflict && <Badge tone="warn">Name is taken</Badge>}
        </span>
      </span>
    ),
  }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={ITEM_STATUS[getValue()].state}>{ITEM_STATUS[getValue()].label}</Status>,
  }),
];

/** What was found, a page at a time; a row opens its sheet, and several are decided with one verification. */
export function ItemsTab({ migration }: { migration: Detail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const forbidden = useRevealForbidden('migration:review');
  const [search, setSearch] = useQueryStates(itemSearch);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [openId, setOpenId] = useState<string>();
  const [rejecting, setRejecting] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const { q, status, page } = search;
  const input = { id: migration.id, page, per_page: PER_PAGE, ...(q ? { q } : {}), ...(status ? { status } : {}) };
  const list = useQuery(
    trpc.migrations.items.queryOptions(input, { placeholderData: keepPreviousData, refetchInterval: () => pollOf([migration.status]) }),
  );
  const rows = list.data?.items;
  const open = rows?.find(({ id }) => id === openId);
  const set = (change: Partial<typeof search>) => void setSearch({ ...change, page: 1 });
  const done = (text: string) => {
    notifyDone(text);
    setSelected(new Set());
    return queryClient.invalidateQueries(trpc.migrations.pathFilter());
  };
  // A decision isn't kept by a cache: its call is a reveal, and goes alone.
  const decide = async (text: string, work: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await work();
      await done(text);
    } catch (error) {
      notifyRefused(error);
    }
    setBusy(false);
  };
  const ids = [...selected];
  const approve = (which: readonly string[]) =>
    decide(which.length === 1 ? 'Item approved' : 'Items approved', () =>
      client.migrations.approveItems.mutate({ id: migration.id, items: which.map((id) => ({ id })) }, { context: { reveal: true } }),
    );
  const narrowed = q !== '' || status !== null;
  return (
    <>
      <FilterBar
        query={q}
        onQuery={(next) => set({ q: next })}
        placeholder="Search by name"
        filters={status ? [{ id: 'status', text: status, label: ITEM_STATUS[status].label, onRemove: () => set({ status: null }) }] : []}
        choices={[
          { heading: 'Status' },
          ...ITEM_STATUSES.map((one) => ({ label: ITEM_STATUS[one].label, checked: one === status, onSelect: () => set({ status: one }) })),
        ]}
        onClear={() => set({ q: '', status: null })}
      />
      {list.isError ? (
        <QueryError query={list} what="Items" />
      ) : rows?.length === 0 && narrowed ? (
        <NoResults
          noun="items"
          filters={[...(q ? [`name contains ${q}`] : []), ...(status ? [ITEM_STATUS[status].label] : [])]}
          onClear={() => set({ q: '', status: null })}
        />
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.source_name}
          caption="Items of the migration, by name"
          refreshing={list.isPlaceholderData}
          selection={{ selected, onChange: setSelected }}
          onOpen={(row) => setOpenId(row.id)}
          openId={openId}
          empty={
            <EmptyState title={pollOf([migration.status]) ? 'Nothing found yet' : 'Nothing was found'}>
              {pollOf([migration.status]) ? 'The store is being read. Items appear here.' : 'The scope of this migration holds no secrets.'}
            </EmptyState>
          }
        />
      )}
      <Pagination noun="items" meta={list.data} onPage={(next) => void setSearch({ page: next })} />
      <BulkBar count={ids.length} noun="item" onClear={() => setSelected(new Set())}>
        <Button size="sm" icon={<X />} disabledReason={forbidden} onClick={() => setRejecting(ids)}>
          Reject
        </Button>
        <Button size="sm" variant="primary" icon={<Check />} loading={busy} disabledReason={forbidden} onClick={() => void approve(ids)}>
          Approve
        </Button>
      </BulkBar>
      <ItemSheet
        open={open !== undefined}
        item={open}
        migration={migration}
        onClose={() => setOpenId(undefined)}
        onReject={(id) => setRejecting([id])}
        onDecided={(text) => void done(text)}
      />
      <RejectDialog
        open={rejecting.length > 0}
        count={rejecting.length}
        onClose={() => setRejecting([])}
        onReject={async (reason) => {
          await decide(rejecting.length === 1 ? 'Item rejected' : 'Items rejected', () =>
            client.migrations.rejectItems.mutate(
              { id: migration.id, items: rejecting.map((id) => ({ id, reason })) },
              { context: { reveal: true } },
            ),
          );
          setRejecting([]);
          setOpenId(undefined);
        }}
      />
    </>
  );
}
