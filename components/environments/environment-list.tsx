'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Columns2, CopyPlus, History, Pencil, Plus, ScrollText, Star, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { type Traffic, useTraffic } from '#components/logs/use-traffic.ts';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden, useNamesOnly } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { DeleteEnvironment } from './delete-environment.tsx';
import type { EnvironmentRow } from './environment-form.tsx';
import { type Used, useUsage } from './use-usage.ts';

const DuplicateEnvironmentDialog = lazyOverlay(
  () => import('./duplicate-environment.tsx').then((module) => module.DuplicateEnvironmentDialog),
  ({ environment }) => environment !== undefined,
);

const EnvironmentForm = lazyOverlay(() => import('./environment-form.tsx').then((module) => module.EnvironmentForm), whenOpen);

type Row = EnvironmentRow & { used: Used | undefined; traffic: Traffic | undefined };
const column = columnsFor<Row>();

/** The environments of the space, with what each is used for. */
export function EnvironmentList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const { space } = useScope();
  const readOnly = useForbidden('environment:update');
  const usage = useLimit('environments', 'environments');
  const edit = usePanel('edit');
  const [deleting, setDeleting] = useState<EnvironmentRow>();
  const [duplicating, setDuplicating] = useState<Row>();
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const names = useNamesOnly();
  const used = useUsage(!names);
  const traffic = useTraffic('environment', names ? undefined : environments.data?.data.map((one) => one.id));
  const rows = environments.data?.data.map((one) => ({ ...one, used: used(one.id), traffic: traffic(one.id) }));
  const makeDefault = useMutation(
    trpc.environments.update.mutationOptions({
      onSuccess: (row) => {
        notifyDone(`${row.display_name} is now the default`);
        return cache.invalidateQueries(trpc.environments.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  useHotkeys([{ keys: 'c', label: 'New environment', group: 'List', run: () => readOnly || edit.open('new') }]);
  return (
    <Page>
      <PageHeader
        title="Environments"
        description={
          space === 'test'
            ? 'Stages inside Test. They never affect Live, whatever their name.'
            : 'Stages such as production and staging, with their own upstreams and secret values.'
        }
        usage={usage}
        actions={
          <>
            <LinkButton href={path('/environments/compare')} icon={<Columns2 />}>
              Compare
            </LinkButton>
            <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => edit.open('new')}>
              New environment
            </Button>
          </>
        }
      />
      {environments.error && !environments.data ? (
        <QueryError query={environments} what="Environments" />
      ) : (
        <DataTable
          caption="Environments"
          columns={names ? nameColumns : columns(path)}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.display_name}
          onOpen={(row) => edit.open(row.id)}
          skeletonRows={3}
          actions={(row) => [
            { label: 'Edit', icon: <Pencil />, disabledReason: readOnly, onSelect: () => edit.open(row.id) },
            {
              label: 'Set as default',
              icon: <Star />,
              disabledReason: readOnly ?? (row.is_default ? 'Already the default' : undefined),
              onSelect: () => makeDefault.mutate({ id: row.id, is_default: true }),
            },
            { label: 'View logs', icon: <ScrollText />, href: path(`/logs?environment=${row.name}`) },
            { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=environment&resource_id=${row.id}`) },
            { label: 'Duplicate…', icon: <CopyPlus />, disabledReason: readOnly, onSelect: () => setDuplicating(row) },
            'separator',
            {
              label: 'Delete…',
              icon: <Trash2 />,
              danger: true,
              disabledReason: readOnly ?? (row.is_default ? 'Set another default first' : undefined),
              onSelect: () => setDeleting(row),
            },
          ]}
        />
      )}
      <EnvironmentForm
        open={edit.id !== null}
        environment={environments.data?.data.find((one) => one.id === edit.id)}
        onClose={edit.close}
      />
      <DuplicateEnvironmentDialog
        environment={duplicating}
        colors={(environments.data?.data ?? []).map((one) => one.color)}
        onClose={() => setDuplicating(undefined)}
      />
      <DeleteEnvironment environment={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}

const nameColumns = [
  column.accessor('display_name', {
    header: 'Name',
    cell: ({ row: { original: row } }) => (
      <span className="inline-flex items-center gap-2">
        <EnvironmentDot name={row.display_name} color={row.color} />
        {row.is_default && <Badge tone="accent">Default</Badge>}
      </span>
    ),
  }),
  column.accessor('name', {
    header: 'Name in API',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <CopyText value={getValue()} label="name" className="relative z-10" />,
  }),
];

const columns = (path: (to: string) => string) => [
  ...nameColumns,
  column.display({
    id: 'routes',
    header: 'Routes',
    meta: { align: 'right', width: '6rem' },
    cell: ({ row: { original: row } }) =>
      row.used?.routes ? (
        <Link href={path(`/routes?environment=${row.name}`)} className="figures relative z-10 underline-offset-2 hover:underline">
          {grouped(row.used.routes)}
        </Link>
      ) : (
        (row.used?.routes ?? '…')
      ),
  }),
  figure('overrides', 'Overrides', '9rem', (row) => row.used?.overrides),
  figure('secrets', 'Secret values', '8rem', (row) => row.used?.secrets),
  figure('clients', 'Clients', '6rem', (row) => row.used?.clients),
  figure('calls', 'Calls (24 h)', '7rem', (row) => row.traffic?.calls_24h ?? undefined),
  column.accessor('created_at', {
    header: 'Created',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} className="text-ink-3" />,
  }),
];

const figure = (id: string, header: string, width: string, of: (row: Row) => number | undefined) =>
  column.display({
    id,
    header,
    meta: { align: 'right', hideBelow: id === 'secrets' ? 'sm' : 'lg', width },
    cell: ({ row }) => <span className="figures">{grouped(of(row.original)) ?? '…'}</span>,
  });
