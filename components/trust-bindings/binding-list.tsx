'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Fingerprint, History, Pencil, Plus, Power, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { counted } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { PROVIDERS } from '#server/domain/trust-bindings/providers.shared.ts';
import { type BindingRow, type TrustingClient, trustedInWords } from './binding-row.ts';

type Props = { client: TrustingClient; forbidden: string | undefined; onEdit: (binding: BindingRow | 'new') => void };

/** The bindings of a client, newest first: the order in which an exchange prefers them. */
export function BindingList({ client, forbidden, onEdit }: Props) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const query = useQuery(trpc.trustBindings.list.queryOptions({ id: client.id }));
  const [deleting, setDeleting] = useState<BindingRow>();
  const toggle = useMutation(
    trpc.trustBindings.update.mutationOptions({
      onSuccess: (row) => {
        notifyDone(row.enabled ? `${row.name} is on` : `${row.name} is off, and its tokens have ended`);
        return cache.invalidateQueries(trpc.trustBindings.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const add = (
    <Button variant="primary" icon={<Plus />} disabledReason={forbidden} onClick={() => onEdit('new')}>
      Add trust binding
    </Button>
  );
  if (query.error && !query.data) return <QueryError query={query} what="Trust bindings" />;
  const rows = query.data?.data;
  return (
    <section className="flex flex-col gap-3">
      {rows && rows.length > 0 && (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="max-w-prose text-ink-2">
            Tokens that meet every condition of a binding can be exchanged for tokens of this client.
          </p>
          {add}
        </div>
      )}
      <DataTable
        caption="Trust bindings"
        columns={columns}
        rows={rows}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        onOpen={onEdit}
        skeletonRows={2}
        empty={
          <EmptyState icon={<Fingerprint />} title="No trust bindings yet" action={add}>
            Let GitHub Actions, GitLab, Kubernetes or a cloud workload use this client without a stored secret.
          </EmptyState>
        }
        actions={(row) => [
          { label: 'Edit', icon: <Pencil />, onSelect: () => onEdit(row) },
          {
            label: row.enabled ? 'Turn off' : 'Turn on',
            icon: <Power />,
            disabledReason: forbidden,
            onSelect: () => toggle.mutate({ id: client.id, binding_id: row.id, enabled: !row.enabled }),
          },
          { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=trust_binding&resource_id=${row.id}`) },
          'separator',
          { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: forbidden, onSelect: () => setDeleting(row) },
        ]}
      />
      <DeleteBinding client={client} binding={deleting} onClose={() => setDeleting(undefined)} />
    </section>
  );
}

const column = columnsFor<BindingRow>();
const columns = [
  column.accessor('name', {
    header: 'Trust binding',
    cell: ({ row: { original: row } }) => (
      <span className="flex min-w-0 flex-col gap-0.5 py-1">
        <span className="truncate font-medium">{row.name}</span>
        <span className="text-ink-2 text-xs">{PROVIDERS[row.provider].label}</span>
        <span className="whitespace-normal font-mono text-ink-3 text-xs [overflow-wrap:anywhere]">{trustedInWords(row)}</span>
      </span>
    ),
  }),
  column.accessor('enabled', {
    header: 'Status',
    meta: { width: '6rem' },
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'On' : 'Off'}</Status>,
  }),
  column.accessor('scopes', {
    header: 'Scopes',
    meta: { width: '7rem', hideBelow: 'md' },
    cell: ({ getValue }) => <span title={getValue().join(', ')}>{counted(getValue().length, 'scope')}</span>,
  }),
  column.accessor('use_count', {
    header: 'Used',
    meta: { width: '9rem', hideBelow: 'sm' },
    cell: ({ row: { original: row } }) =>
      row.last_used_at === null ? (
        <span className="text-ink-3">Never</span>
      ) : (
        <span className="flex flex-col">
          <span className="figures">{counted(row.use_count, 'exchange')}</span>
          <Time value={row.last_used_at} className="text-ink-3 text-xs" />
        </span>
      ),
  }),
];

function DeleteBinding({ client, binding, onClose }: { client: TrustingClient; binding: BindingRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.trustBindings.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${binding?.name ?? 'Trust binding'} deleted`);
        onClose();
        await cache.invalidateQueries(trpc.trustBindings.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDanger
      open={binding !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      space={space}
      title={`Delete ${binding?.name ?? ''}?`}
      resourceName={binding?.name ?? ''}
      confirmLabel="Delete trust binding"
      consequences={[
        'Tokens that were exchanged by it end at once.',
        'Workloads that it covers can no longer get one, unless another binding does.',
      ]}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => binding && remove.mutate({ id: client.id, binding_id: binding.id })}
    >
      <ApiEquivalent oauth method="DELETE" path={`/oauth-clients/${client.id}/trust-bindings/${binding?.id}`} />
    </ConfirmDanger>
  );
}
