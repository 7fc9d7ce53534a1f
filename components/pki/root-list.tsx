'use client';

import { useQuery } from '@tanstack/react-query';
import { Plus, Stamp } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
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
import { columnsFor } from '#components/ui/table-columns.ts';
import { Life } from './life.tsx';
import { lifeOf, ROOT_STATES, type Root, type Summary } from './pki-labels.ts';

const CreateRootSheet = lazyOverlay(() => import('./create-root-sheet.tsx').then((module) => module.CreateRootSheet), whenOpen);

type Listed = Root & { summary: Summary | undefined };
const column = columnsFor<Listed>();
const unknown = <span className="text-ink-3">…</span>;

const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '14rem' },
    cell: ({ getValue }) => <span className="truncate">{getValue()}</span>,
  }),
  column.accessor('subject', {
    header: 'Subject',
    meta: { hideBelow: 'lg', cap: '18rem' },
    cell: ({ getValue }) => <span className="block truncate text-ink-2">{getValue()}</span>,
  }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={ROOT_STATES[getValue()].state}>{ROOT_STATES[getValue()].label}</Status>,
  }),
  column.accessor('not_after', {
    header: 'Expires',
    meta: { hideBelow: 'md' },
    cell: ({ row: { original } }) => <Life of={original} label={`Lifetime of ${original.name}`} className="w-32" />,
  }),
  column.display({
    id: 'intermediate',
    header: 'Intermediate',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) =>
      original.intermediate ? (
        <span className="whitespace-nowrap">{lifeOf(original.intermediate).words}</span>
      ) : (
        <span className="text-ink-3">None</span>
      ),
  }),
  column.display({
    id: 'valid',
    header: 'Valid certificates',
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ row: { original } }) => (original.summary ? <span className="figures">{grouped(original.summary.valid)}</span> : unknown),
  }),
  column.display({
    id: 'expiring',
    header: 'Expire in 30 days',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ row: { original } }) => (original.summary ? <span className="figures">{grouped(original.summary.expiring)}</span> : unknown),
  }),
];

/** The roots of the space with what stands under them. The list isn't paged: a plan allows few. */
export function RootList() {
  const trpc = useTRPC();
  const { api_url } = useScope();
  const path = usePath();
  const router = useRouter();
  const list = useQuery(trpc.pki.listRoots.queryOptions({}));
  const summaries = useQuery(trpc.pki.summaries.queryOptions({}));
  const limit = useLimit('pki_roots', 'roots');
  const readOnly = useForbidden('pki:create');
  const form = usePanel('open');
  useHotkeys([{ keys: 'c', label: 'New root', group: 'List', run: () => !readOnly && void form.open('new') }]);
  const summaryOf = summaries.data && new Map(summaries.data.data.map((row) => [row.id, row]));
  const newRoot = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('new')}>
      New root
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Certificate authority"
        description="Issue certificates for your own services. The keys of the authorities never leave the service."
        usage={limit}
        actions={newRoot}
      />
      {list.isError ? (
        <QueryError query={list} what="Roots" />
      ) : (
        <DataTable
          columns={columns}
          rows={list.data?.data.map((root) => ({ ...root, summary: summaryOf?.get(root.id) }))}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          caption="Roots"
          rowHref={(row) => path(`/pki/${row.id}`)}
          empty={
            <EmptyState
              icon={<Stamp />}
              title="No roots yet"
              action={newRoot}
              command={[
                {
                  id: 'curl',
                  label: 'cURL',
                  language: 'bash',
                  code: `curl ${api_url}/pki/roots \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"corp","subject":{"CN":"Acme Internal CA","O":"Acme"}}'`,
                },
              ]}
            >
              Create a root, say by a role which names it may certify, and issue certificates for mTLS between services, for clients, or for
              TLS in development.
            </EmptyState>
          }
        />
      )}
      <CreateRootSheet
        open={form.id === 'new' && !readOnly}
        onClose={form.close}
        onCreated={(id) => router.replace(path(`/pki/${id}?tab=roles`))}
      />
    </Page>
  );
}
