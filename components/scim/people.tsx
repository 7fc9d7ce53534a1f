'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Users } from 'lucide-react';
import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import type { z } from 'zod';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Status } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { DirectoryUser } from '#server/domain/scim-users/schema.ts';

type Row = z.output<typeof DirectoryUser>;

const column = columnsFor<Row>();
const columns = [
  column.accessor('user_name', {
    header: 'Person',
    cell: ({ row: { original } }) => (
      <span className="block min-w-0">
        <span className="block truncate">{original.display_name ?? original.formatted ?? original.user_name}</span>
        <span className="block truncate font-normal text-ink-3 text-xs">{original.user_name}</span>
      </span>
    ),
  }),
  column.accessor('active', {
    header: 'State',
    cell: ({ getValue }) => (getValue() ? <Status state="ok">Member</Status> : <Status state="off">Inactive</Status>),
  }),
  column.accessor('synced_at', { header: 'Last sync', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('external_id', {
    header: 'External ID',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="block max-w-48 truncate font-mono text-xs">{getValue() ?? '—'}</span>,
  }),
  column.accessor('created_at', {
    header: 'Provisioned',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <Time value={getValue()} format="date" />,
  }),
];

const STATES = { member: 'Members', inactive: 'Inactive' } as const;
const search = {
  q: parseAsString.withDefault(''),
  state: parseAsStringLiteral(['member', 'inactive']),
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(20),
};

/** Everybody the directory knows, those it wrote last first. */
export function People() {
  const trpc = useTRPC();
  const [{ q, state, ...paging }, setSearch] = useQueryStates(search);
  const clear = () => void setSearch({ q: null, state: null, page: 1 });
  const list = useQuery({
    ...trpc.scimUsers.list.queryOptions({ ...paging, ...(q ? { search: q } : {}), ...(state ? { active: state === 'member' } : {}) }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <FilterBar
        query={q}
        onQuery={(next) => void setSearch({ q: next, page: 1 })}
        placeholder="Filter by name or user name…"
        filters={
          state
            ? [{ id: 'state', label: STATES[state], text: STATES[state], onRemove: () => void setSearch({ state: null, page: 1 }) }]
            : []
        }
        choices={(['member', 'inactive'] as const).map((one) => ({
          label: STATES[one],
          checked: state === one,
          onSelect: () => void setSearch({ state: one, page: 1 }),
        }))}
        onClear={clear}
      />
      {list.isError ? (
        <QueryError query={list} what="People" />
      ) : (
        <DataTable
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => row.user_name}
          caption="People of the directory"
          refreshing={list.isPlaceholderData}
          empty={
            q || state ? (
              <NoResults noun="people" filters={[...(q ? [q] : []), ...(state ? [STATES[state]] : [])]} onClear={clear} />
            ) : (
              <EmptyState icon={<Users />} title="Nobody provisioned yet">
                People appear here once your directory has sent them. Members who joined another way are on the Team page.
              </EmptyState>
            )
          }
        />
      )}
      <Pagination
        noun="people"
        meta={list.data?.meta}
        onPage={(page) => void setSearch({ page })}
        onPerPage={(per_page) => void setSearch({ per_page, page: 1 })}
      />
    </>
  );
}
