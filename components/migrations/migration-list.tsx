'use client';

import { useQuery } from '@tanstack/react-query';
import { FolderInput, Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { Progress } from '#components/ui/progress.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { PROVIDER_LABELS } from '#server/domain/migrations/register.shared.ts';
import { type MigrationRow, pollOf, progressOf, STATUS } from './labels.ts';

const DenylistSheet = lazyOverlay(() => import('./denylist-sheet.tsx').then((module) => module.DenylistSheet), whenOpen);
const CreateMigrationSheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateMigrationSheet), whenOpen);

const column = columnsFor<MigrationRow>();
const columns = [
  column.accessor('provider', { header: 'Store', cell: ({ getValue }) => PROVIDER_LABELS[getValue()] }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={STATUS[getValue()].state}>{STATUS[getValue()].label}</Status>,
  }),
  column.display({
    id: 'progress',
    header: 'Decided',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => {
      const { done, of } = progressOf(original);
      const text = `${grouped(done)} of ${grouped(of)}`;
      return (
        <span className="flex min-w-32 items-center gap-2">
          <Progress label="Decided items" done={done} of={of} text={text} className="w-20" />
          <span className="figures text-ink-3 text-xs">{text}</span>
        </span>
      );
    },
  }),
  column.accessor('region', { header: 'Region', meta: { hideBelow: 'md' }, cell: ({ getValue }) => getValue() || '—' }),
  column.accessor('created_at', { header: 'Created', meta: { hideBelow: 'md' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** The migrations of the space, newest first, with how far each has come. */
export function MigrationList() {
  const trpc = useTRPC();
  const path = usePath();
  const router = useRouter();
  const readOnly = useForbidden('migration:create');
  const form = usePanel('open');
  const list = useQuery(
    trpc.migrations.list.queryOptions(
      {},
      { refetchInterval: ({ state }) => pollOf(state.data?.migrations.map(({ status }) => status) ?? []) },
    ),
  );
  useHotkeys([{ keys: 'c', label: 'New migration', group: 'List', run: () => !readOnly && void form.open('new') }]);
  const action = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('new')}>
      New migration
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Migrations"
        description="Move secrets here from another store, and review each of them before it is used."
        actions={
          <>
            <Button onClick={() => void form.open('denylist')}>Denylist</Button>
            {action}
          </>
        }
      />
      {list.isError ? (
        <QueryError query={list} what="Migrations" />
      ) : (
        <DataTable
          columns={columns}
          rows={list.data?.migrations}
          rowId={(row) => row.id}
          rowName={(row) => `${PROVIDER_LABELS[row.provider]}, ${STATUS[row.status].label}`}
          rowHref={(row) => path(`/migrations/${row.id}`)}
          caption="Migrations, newest first"
          empty={
            <EmptyState icon={<FolderInput />} title="No migrations yet" action={action}>
              Read AWS, Azure, Google Cloud, HashiCorp Vault or a .env file, review what was found, and commit it as secrets. Nothing is
              deleted at the source.
            </EmptyState>
          }
        />
      )}
      <DenylistSheet open={form.id === 'denylist'} readOnly={readOnly} onClose={form.close} />
      <CreateMigrationSheet
        open={form.id === 'new' && !readOnly}
        onClose={form.close}
        onCreated={(id) => router.replace(path(`/migrations/${id}`))}
      />
    </Page>
  );
}
