'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { KeyRound, Pencil, Plus, Trash2, Variable } from 'lucide-react';
import { useState } from 'react';
import { useSecretNames } from '#components/routes/secret-picker.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useReadOnlyReason } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { columnsFor, DataTable } from '#components/ui/data-table.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { EmptyState } from '#components/ui/states.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { notifyDone, notifyFailed } from '#components/ui/toaster.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

type Row = inferRouterOutputs<AppRouter>['collections']['variables']['data'][number];
const column = columnsFor<Row>();

/** Values that the routes of the collection share; one may stand for a secret, which then resolves per environment. */
export function VariablesTab({ collectionId }: { collectionId: string }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const readOnly = useReadOnlyReason();
  const names = useSecretNames();
  const [editing, setEditing] = useState<Row | 'new'>();
  const variables = useQuery(trpc.collections.variables.queryOptions({ id: collectionId }));
  const remove = useMutation(
    trpc.collections.deleteVariable.mutationOptions({
      onSuccess: () => {
        notifyDone('The variable was deleted');
        return cache.invalidateQueries(trpc.collections.pathFilter());
      },
      onError: (error) => notifyFailed(refusalOf(error).message, refusalOf(error).request_id),
    }),
  );
  if (variables.error && !variables.data) return <QueryError query={variables} what="The variables" />;
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
          column.accessor('key', { header: 'Key', cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span> }),
          column.display({
            id: 'value',
            header: 'Value',
            meta: { truncate: true, width: '35%' },
            cell: ({ row: { original: row } }) =>
              row.type === 'secret' ? (
                <Badge tone="accent" icon={<KeyRound />}>
                  {names.get(row.secret_id ?? '')?.name ?? 'a secret'}
                </Badge>
              ) : (
                <span className="font-mono text-ink-2 text-xs">{row.value}</span>
              ),
          }),
          column.display({
            id: 'use',
            header: 'Write it as',
            meta: { hideBelow: 'sm' },
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
            detail: 'Refused while a route names it.',
            icon: <Trash2 />,
            danger: true,
            disabledReason: readOnly,
            onSelect: () => remove.mutate({ id: collectionId, variableId: row.id }),
          },
        ]}
        empty={
          <EmptyState icon={<Variable />} title="No variables yet" action={add}>
            A host, a version or an account number that several routes need: written once here, named in routes as {'{{var:key}}'}.
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

function VariableForm({ collectionId, variable, onDone }: { collectionId: string; variable: Row | undefined; onDone: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }));
  const [key, setKey] = useState(variable?.key ?? '');
  const [type, setType] = useState<'value' | 'secret'>(variable?.type ?? 'value');
  const [value, setValue] = useState(variable?.value ?? '');
  const [secretId, setSecretId] = useState(variable?.secret_id ?? null);
  const [description, setDescription] = useState(variable?.description ?? '');
  const done = async () => {
    await cache.invalidateQueries(trpc.collections.pathFilter());
    notifyDone('Saved');
    onDone();
  };
  const create = useMutation(trpc.collections.createVariable.mutationOptions({ onSuccess: done }));
  const update = useMutation(trpc.collections.updateVariable.mutationOptions({ onSuccess: done }));
  const body = { key, type, ...(type === 'secret' ? { secret_id: secretId } : { value }), description: description || null };
  const missing = key ? (type === 'secret' && !secretId ? 'Choose the secret' : undefined) : 'Give it a key';
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (missing) return;
        if (variable) update.mutate({ id: collectionId, variableId: variable.id, ...body });
        else create.mutate({ id: collectionId, ...body });
      }}
    >
      <MutationError error={create.error ?? update.error} />
      <Field label="Key" required hint="Letters, digits and underscores.">
        <Input mono value={key} onChange={(event) => setKey(event.target.value)} />
      </Field>
      <Segmented
        label="What it holds"
        options={[
          { value: 'value', label: 'Plain text' },
          { value: 'secret', label: 'A secret' },
        ]}
        value={type}
        onValueChange={setType}
      />
      {type === 'value' ? (
        <Field label="Value" hint="Readable for everybody in the workspace.">
          <Textarea mono value={value} onChange={(event) => setValue(event.target.value)} />
        </Field>
      ) : (
        <Field label="Secret" required hint="Each environment uses its own value of it.">
          <Combobox
            options={(secrets.data?.data ?? []).map((one) => ({ value: one.id, label: one.name }))}
            value={secretId}
            onValueChange={setSecretId}
          />
        </Field>
      )}
      <Field label="Description" optional>
        <Input value={description} onChange={(event) => setDescription(event.target.value)} />
      </Field>
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending || update.isPending} disabledReason={missing}>
          Save
        </Button>
      </div>
    </form>
  );
}
