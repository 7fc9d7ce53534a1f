'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { AddCredentialSheet, type MadeKey } from './add-credential.tsx';
import { type CredentialRow, type Detail, identityOf, KINDS } from './client-labels.ts';
import { HowToSign, MadeKeyDialog } from './made-key.tsx';

type Row = CredentialRow & { toggle: (on: boolean) => void; readOnly: string | undefined };
const column = columnsFor<Row>();
const columns = [
  column.accessor('kind', {
    header: 'Credential',
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap items-center gap-x-2">
        {KINDS[original.kind]}
        <span title={original.data.thumbprint} className="font-mono font-normal text-ink-2 text-xs">
          {identityOf(original)}
        </span>
        {original.is_primary && <Badge title="Edit the client to change this address">Primary</Badge>}
      </span>
    ),
  }),
  column.accessor('label', {
    header: 'Label',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => getValue() ?? <span className="text-ink-3">—</span>,
  }),
  column.display({
    id: 'ends',
    header: 'Expires',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original } }) => <Time value={original.expires_at ?? original.data.not_after} format="date" empty="Never" />,
  }),
  column.accessor('last_matched_at', {
    header: 'Last seen',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
  column.accessor('enabled', {
    header: 'On',
    cell: ({ row: { original } }) => (
      <Switch
        hideLabel
        label={`${KINDS[original.kind]} ${identityOf(original)} is on`}
        checked={original.enabled}
        disabledReason={original.readOnly}
        onCheckedChange={original.toggle}
      />
    ),
  }),
];

/** By what calls of the client are recognised. */
export function Credentials({ client }: { client: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const readOnly = useForbidden('client:update');
  const { space } = useScope();
  const query = useQuery(trpc.clients.credentials.queryOptions({ id: client.id }));
  const [adding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<CredentialRow>();
  const [made, setMade] = useState<MadeKey>();
  const [shown, setShown] = useState<CredentialRow>();
  const key = trpc.clients.credentials.queryKey({ id: client.id });
  const refresh = () => void queryClient.invalidateQueries(trpc.clients.pathFilter());
  const update = useMutation(
    trpc.clients.updateCredential.mutationOptions({
      onMutate: ({ credentialId, enabled }) => {
        queryClient.setQueryData(
          key,
          (before) =>
            before && {
              ...before,
              data: before.data.map((row) => (row.id === credentialId ? { ...row, enabled: enabled ?? row.enabled } : row)),
            },
        );
      },
      onError: (error) => notifyRefused(error),
      onSettled: refresh,
    }),
  );
  const remove = useMutation(
    trpc.clients.deleteCredential.mutationOptions({
      onSuccess: () => {
        refresh();
        notifyDone('Credential deleted');
        setDeleting(undefined);
      },
    }),
  );
  if (query.isError) return <QueryError query={query} what="Credentials" />;
  const rows = query.data?.data.map((row) => ({
    ...row,
    readOnly,
    toggle: (enabled: boolean) => update.mutate({ id: client.id, credentialId: row.id, enabled }),
  }));
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-ink-2">A call matches this client if it matches any credential that is on.</p>
        <Button variant="primary" icon={<Plus />} disabledReason={readOnly} onClick={() => setAdding(true)}>
          Add credential
        </Button>
      </div>
      <DataTable
        columns={columns}
        rows={rows}
        rowId={(row) => row.id}
        rowName={(row) => `${KINDS[row.kind]} ${identityOf(row)}`}
        caption={`Credentials of ${client.name}`}
        skeletonRows={2}
        actions={(row) => [
          ...(isSigning(row.kind) ? [{ label: 'How to sign…', onSelect: () => setShown(row) }] : []),
          {
            label: 'Delete…',
            danger: true,
            disabledReason: readOnly ?? (row.is_primary ? 'Edit the client to change its primary address' : undefined),
            onSelect: () => setDeleting(row),
          },
        ]}
      />
      <AddCredentialSheet client={client} open={adding} onOpenChange={setAdding} onMade={setMade} />
      <MadeKeyDialog made={made} onGone={() => setMade(undefined)} />
      <Dialog open={shown !== undefined} onOpenChange={() => setShown(undefined)} size="md" title="Sign calls with this key">
        {shown && isSigning(shown.kind) && <HowToSign keyId={shown.id} kind={shown.kind} />}
      </Dialog>
      <ConfirmDanger
        open={deleting !== undefined}
        onOpenChange={(open) => {
          if (open) return;
          remove.reset();
          setDeleting(undefined);
        }}
        title={deleting ? `Delete ${KINDS[deleting.kind].toLowerCase()} ${identityOf(deleting)}?` : ''}
        consequences={[
          deleting?.last_matched_at ? (
            <>
              Last matched <Time value={deleting.last_matched_at} />.
            </>
          ) : (
            'Never matched a call.'
          ),
          'Calls with this credential no longer match the client.',
        ]}
        confirmLabel="Delete credential"
        space={space}
        busy={remove.isPending}
        error={remove.error ? refusalOf(remove.error) : undefined}
        onConfirm={() => deleting && remove.mutate({ id: client.id, credentialId: deleting.id })}
      >
        {deleting && <ApiEquivalent method="DELETE" path={`/clients/${client.id}/credentials/${deleting.id}`} />}
      </ConfirmDanger>
    </>
  );
}

const isSigning = (kind: CredentialRow['kind']): kind is 'signature_hmac' | 'signature_ed25519' =>
  kind === 'signature_hmac' || kind === 'signature_ed25519';
