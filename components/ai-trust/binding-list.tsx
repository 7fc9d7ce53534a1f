'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Plus, Power, Trash2, Workflow } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { KINDS } from '#components/ai-gateways/ai-labels.ts';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { BindingRow } from './binding-row.ts';
import { bindingQuery, bindingSearch } from './list-search.ts';
import { linesOf } from './rule-lines.ts';
import { TokenTest } from './token-test.tsx';

const BindingSheet = lazyOverlay(() => import('./binding-sheet.tsx').then((module) => module.BindingSheet), whenOpen);

const column = columnsFor<BindingRow>();
const columns = [
  column.accessor('name', {
    header: 'Binding',
    meta: { cap: '18rem' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col py-1">
        <span className="truncate font-medium">{original.name}</span>
        <span className="truncate text-ink-3 text-xs">{original.issuer}</span>
      </span>
    ),
  }),
  column.accessor('claim_rules', {
    header: 'Rules',
    meta: { hideBelow: 'md', cap: '24rem' },
    cell: ({ getValue }) => (
      <span className="block whitespace-pre-wrap font-mono text-ink-2 text-xs [overflow-wrap:anywhere]">{linesOf(getValue())}</span>
    ),
  }),
  column.accessor('kind', { header: 'Mints', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Badge>{KINDS[getValue()].label}</Badge> }),
  column.accessor('last_used_at', {
    header: 'Last exchange',
    meta: { hideBelow: 'lg', cap: '16rem' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col">
        <Time value={original.last_used_at} empty="Never" />
        {original.last_subject && <span className="truncate text-ink-3 text-xs">{original.last_subject}</span>}
      </span>
    ),
  }),
  column.accessor('use_count', {
    header: 'Exchanges',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="figures">{getValue()}</span>,
  }),
  column.accessor('enabled', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'On' : 'Off'}</Status>,
  }),
];

/** Whose identity tokens are exchanged for capability tokens, and a place to try one. */
export function BindingList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [search, setSearch] = useQueryStates(bindingSearch);
  const panel = usePanel('open');
  // A binding mints tokens, so making or changing one takes that right too.
  const [noCreate, noUpdate, noMint] = [
    useForbidden('ai_gateway:create'),
    useForbidden('ai_gateway:update'),
    useForbidden('ai_gateway:mint'),
  ];
  const cannot = { create: noCreate ?? noMint, update: noUpdate ?? noMint, delete: useForbidden('ai_gateway:delete') };
  const list = useQuery(trpc.aiTrust.list.queryOptions(bindingQuery(search), { placeholderData: keepPreviousData }));
  const changed = (words: string) => {
    notifyDone(words);
    return cache.invalidateQueries(trpc.aiTrust.pathFilter());
  };
  const update = useMutation(
    trpc.aiTrust.update.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ enabled }) => changed(enabled ? 'Binding turned on' : 'Binding turned off'),
    }),
  );
  const remove = useMutation(
    trpc.aiTrust.delete.mutationOptions({ onError: (error) => notifyRefused(error), onSuccess: () => changed('Binding deleted') }),
  );
  useHotkeys([{ keys: 'c', label: 'New binding', group: 'List', run: () => !cannot.create && void panel.open('new') }]);
  const create = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={cannot.create} onClick={() => void panel.open('new')}>
      New binding
    </Button>
  );
  const edited = list.data?.data.find(({ id }) => id === panel.id);
  return (
    <Page>
      <PageHeader
        title="CI trust"
        description="A CI job exchanges the identity token of its platform for a short-lived capability token. No token is stored with the job."
        actions={create}
      />
      {list.isError && !list.data ? (
        <QueryError query={list} what="Bindings" />
      ) : (
        <DataTable
          caption="OIDC bindings"
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          refreshing={list.isPlaceholderData}
          actions={(row) => [
            { label: 'Edit', icon: <Pencil />, disabledReason: cannot.update, onSelect: () => void panel.open(row.id) },
            {
              label: row.enabled ? 'Turn off' : 'Turn on',
              icon: <Power />,
              disabledReason: cannot.update,
              onSelect: () => update.mutate({ id: row.id, enabled: !row.enabled }),
            },
            {
              label: 'Delete',
              icon: <Trash2 />,
              danger: true,
              disabledReason: cannot.delete,
              onSelect: () => remove.mutate({ id: row.id }),
            },
          ]}
          empty={
            <EmptyState icon={<Workflow />} title="No CI job is trusted yet" action={create}>
              A binding says which issuer and which claims are trusted, such as one branch of one repository, and what their token may do.
            </EmptyState>
          }
        />
      )}
      <Pagination noun="bindings" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
      {(list.data?.data.length ?? 0) > 0 && <TokenTest />}
      <BindingSheet open={panel.id === 'new' ? !cannot.create : edited !== undefined} binding={edited} onClose={() => void panel.close()} />
    </Page>
  );
}
