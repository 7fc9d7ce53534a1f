'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Plus, Power, Search, Trash2, UsersRound } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { usd } from '#components/ai-gateways/ai-labels.ts';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Input } from '#components/ui/input.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { userQuery, userSearch } from './list-search.ts';
import type { UserRow } from './user-row.ts';

const UserSheet = lazyOverlay(() => import('./user-sheet.tsx').then((module) => module.UserSheet), whenOpen);

type Row = UserRow & { cost_usd: number | undefined; requests: number | undefined };
const column = columnsFor<Row>();
const columns = [
  column.accessor('external_id', {
    header: 'User',
    meta: { cap: '18rem' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col py-1">
        <span className="truncate font-medium">{original.display_name ?? original.external_id}</span>
        {original.display_name && <span className="truncate font-mono text-ink-3 text-xs">{original.external_id}</span>}
      </span>
    ),
  }),
  column.accessor('team', { header: 'Team', meta: { hideBelow: 'sm', cap: '12rem' }, cell: ({ getValue }) => getValue() ?? '—' }),
  column.accessor('email', { header: 'Email', meta: { hideBelow: 'lg', cap: '14rem' }, cell: ({ getValue }) => getValue() ?? '—' }),
  column.accessor('requests', {
    header: 'Calls, 30 days',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue() ?? 0)}</span>,
  }),
  column.accessor('cost_usd', {
    header: 'Spend, 30 days',
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="figures">{usd(getValue() ?? 0)}</span>,
  }),
  column.accessor('last_seen_at', {
    header: 'Last seen',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
  column.accessor('enabled', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'Enabled' : 'Disabled'}</Status>,
  }),
];

/** The people that AI calls are made for, with what they spent. */
export function UserList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [search, setSearch] = useQueryStates(userSearch);
  const panel = usePanel('open');
  const cannot = {
    create: useForbidden('ai_gateway:create'),
    update: useForbidden('ai_gateway:update'),
    delete: useForbidden('ai_gateway:delete'),
    spend: useForbidden('ai_gateway:read_usage'),
  };
  const list = useQuery(trpc.aiSpend.listUsers.queryOptions(userQuery(search), { placeholderData: keepPreviousData }));
  const spend = useQuery(trpc.aiSpend.breakdown.queryOptions({ group_by: 'user', period: '30d' }, { enabled: !cannot.spend }));
  const bySpender = new Map(spend.data?.rows.map((row) => [row.group, row]));
  const changed = (words: string) => {
    notifyDone(words);
    return cache.invalidateQueries(trpc.aiSpend.pathFilter());
  };
  const update = useMutation(
    trpc.aiSpend.updateUser.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ enabled }) => changed(enabled ? 'User enabled' : 'User disabled'),
    }),
  );
  const remove = useMutation(
    trpc.aiSpend.deleteUser.mutationOptions({ onError: (error) => notifyRefused(error), onSuccess: () => changed('User removed') }),
  );
  useHotkeys([{ keys: 'c', label: 'New user', group: 'List', run: () => !cannot.create && void panel.open('new') }]);
  const create = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={cannot.create} onClick={() => void panel.open('new')}>
      New user
    </Button>
  );
  const rows = list.data?.data.map((user) => ({
    ...user,
    cost_usd: bySpender.get(user.external_id)?.cost_usd,
    requests: bySpender.get(user.external_id)?.requests,
  }));
  return (
    <Page>
      <PageHeader
        title="AI users"
        description="The people that agents call models for, by X-Svc-User or the user of a token. Spend is counted by user and team."
        actions={create}
      />
      <Input
        icon={<Search />}
        aria-label="Search by name, ID or email"
        placeholder="Search by name, ID or email"
        className="w-full sm:w-72"
        value={search.q}
        onChange={(event) => void setSearch({ q: event.target.value || null, page: null })}
      />
      {list.isError && !list.data ? (
        <QueryError query={list} what="AI users" />
      ) : rows?.length === 0 && search.q ? (
        <NoResults noun="users" filters={[search.q]} onClear={() => void setSearch({ q: null, page: null })} />
      ) : (
        <DataTable
          caption="AI users"
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.display_name ?? row.external_id}
          refreshing={list.isPlaceholderData}
          actions={(row) => [
            { label: 'Edit', icon: <Pencil />, disabledReason: cannot.update, onSelect: () => void panel.open(row.id) },
            {
              label: row.enabled ? 'Disable' : 'Enable',
              icon: <Power />,
              disabledReason: cannot.update,
              onSelect: () => update.mutate({ id: row.id, enabled: !row.enabled }),
            },
            {
              label: 'Remove',
              icon: <Trash2 />,
              danger: true,
              disabledReason: cannot.delete,
              onSelect: () => remove.mutate({ id: row.id }),
            },
          ]}
          empty={
            <EmptyState icon={<UsersRound />} title="Nobody yet" action={create}>
              Users are added when a call first names them with the header X-Svc-User. Add them here to give them a name and a team.
            </EmptyState>
          }
        />
      )}
      <Pagination noun="users" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
      <UserSheet
        open={panel.id !== null && panel.id !== undefined}
        user={list.data?.data.find(({ id }) => id === panel.id)}
        onClose={() => void panel.close()}
      />
    </Page>
  );
}
