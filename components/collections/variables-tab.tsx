'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Braces, KeyRound, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useSecretNames } from '#components/routes/secret-picker.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Variable, VariableForm } from './variable-form.tsx';

const column = columnsFor<Variable>();

/** Values that the routes of the collection share; one may stand for a secret, which then resolves per environment. */
export function VariablesTab({ collectionId }: { collectionId: string }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const readOnly = useForbidden('collection:update');
  const names = useSecretNames();
  const [editing, setEditing] = useState<Variable | 'new'>();
  const variables = useQuery(trpc.collections.variables.queryOptions({ id: collectionId }));
  const remove = useMutation(
    trpc.collections.deleteVariable.mutationOptions({
      onSuccess: () => {
        notifyDone('Variable deleted');
        return cache.invalidateQueries(trpc.collections.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  if (variables.error && !variables.data) return <QueryError query={variables} what="Variables" />;
  const add = (
    <Button variant="primary" icon={<Plus />} disabledReason={readOnly} onClick={() => setEditing('new')}>
      New variable
    </Button>
  );
  return (
    <div className="flex flex-col gap-4">
      {variables.data && variables.data.data.length > 0 && <div className="flex justify-end">{add}</div>}
      <DataTable
        caption="Variables"
        columns={[
          column.accessor('key', {
            header: 'Key',
            meta: { cap: '18rem' },
            cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span>,
          }),
          column.display({
            id: 'value',
            header: 'Value',
            meta: { truncate: true, width: '35%' },
            cell: ({ row: { original: row } }) =>
              row.type === 'secret' ? (
                <Badge tone="accent" icon={<KeyRound />}>
                  {names.get(row.secret_id ?? '')?.name ?? 'Secret'}
                </Badge>
              ) : (
                <span className="font-mono text-ink-2 text-xs">{row.value}</span>
              ),
          }),
          column.display({
            id: 'use',
            header: 'Reference',
            meta: { hideBelow: 'sm', cap: '18rem' },
            cell: ({ row }) => <CopyText value={`{{var:${row.original.key}}}`} label="placeholder" className="relative z-10" />,
          }),
          column.accessor('description', {
            header: 'Description',
            meta: { hideBelow: 'lg', truncate: true },
            cell: ({ getValue }) => <span className="text-ink-2">{getValue()}</span>,
          }),
        ]}
        rows={variables.data?.data}
        rowId={(row) => row.id}
        rowName={(row) => row.key}
        skeletonRows={3}
        onOpen={readOnly ? undefined : setEditing}
        actions={(row) => [
          { label: 'Edit', icon: <Pencil />, disabledReason: readOnly, onSelect: () => setEditing(row) },
          {
            label: 'Delete',
            detail: 'Refused while a route uses it.',
            icon: <Trash2 />,
            danger: true,
            disabledReason: readOnly,
            onSelect: () => remove.mutate({ id: collectionId, variableId: row.id }),
          },
        ]}
        empty={
          <EmptyState icon={<Braces />} title="No variables yet" action={add}>
            Share a host, version or account number across routes. Reference it as {'{{var:key}}'}.
          </EmptyState>
        }
      />
      <Dialog
        open={editing !== undefined}
        onOpenChange={(open) => !open && setEditing(undefined)}
        size="md"
        title={editing === 'new' ? 'New variable' : `Variable ${editing?.key ?? ''}`}
      >
        {editing !== undefined && (
          <VariableForm
            collectionId={collectionId}
            variable={editing === 'new' ? undefined : editing}
            onDone={() => setEditing(undefined)}
          />
        )}
      </Dialog>
    </div>
  );
}
