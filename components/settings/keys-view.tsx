'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Progress } from '#components/ui/progress.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { TenantKey } from '#server/domain/keys/schema.ts';
import { KmsCard } from './kms-card.tsx';
import { RevokeVersion } from './revoke-version.tsx';

type Key = z.output<typeof TenantKey>;
const column = columnsFor<Key>();
const STATES: Record<string, 'ok' | 'off' | 'blocked'> = { active: 'ok', retired: 'off', revoked: 'blocked' };
const METHODS: Record<string, string> = { global: 'This installation', customer_kms: 'Your KMS', operator_kms: 'This installation’s KMS' };
const columns = [
  column.accessor('version', {
    header: 'Version',
    meta: { width: '5rem' },
    cell: ({ getValue }) => <span className="figures">{getValue()}</span>,
  }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={STATES[getValue()] ?? 'off'}>{capitalize(getValue())}</Status>,
  }),
  column.accessor('wrap_method', {
    header: 'Wrapped by',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => METHODS[getValue()] ?? getValue(),
  }),
  column.accessor('created_at', { header: 'Created', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('retired_at', { header: 'Retired', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('values', { header: 'Values', meta: { align: 'right' }, cell: ({ getValue }) => grouped(getValue()) }),
];

const POLL_MS = 2_000;

/** The keys every secret of the workspace is sealed with: their versions, a new one, and how far re-sealing has come. */
export function KeysView() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { slug } = useScope();
  const unturned = useForbidden('kms:rotate');
  const [asking, setAsking] = useState(false);
  const query = useQuery({
    ...trpc.tenantKeys.list.queryOptions({}),
    refetchInterval: ({ state }) => (state.data?.rewrap && state.data.rewrap.state !== 'completed' ? POLL_MS : false),
  });
  const rotate = useMutation(
    trpc.tenantKeys.rotate.mutationOptions({
      onSuccess: ({ new_version }) => {
        void queryClient.invalidateQueries(trpc.tenantKeys.pathFilter());
        notifyDone(`Key rotated to version ${new_version}`);
        setAsking(false);
      },
    }),
  );
  const state = useQuery({
    ...trpc.tenantKeys.state.queryOptions({}),
    refetchInterval: ({ state: { data } }) => (data?.sealed_since ? 2 * POLL_MS : false),
  });
  const unrevoked = useForbidden('kms:revoke');
  const [revoking, setRevoking] = useState<Key>();
  const sealed = state.data?.sealed_since != null;
  const { keys, rewrap } = query.data ?? {};
  const values = keys?.reduce((sum, key) => sum + key.values, 0) ?? 0;
  return (
    <Page className="max-w-4xl">
      <PageHeader
        title="Tenant KMS"
        description="Everything this workspace stores is encrypted under a master key of its own, which this installation or your own KMS holds."
        actions={
          <Button
            icon={<RotateCw />}
            disabledReason={unturned ?? (sealed ? 'Unseal the workspace first' : undefined)}
            onClick={() => setAsking(true)}
          >
            Rotate key
          </Button>
        }
      />
      {query.isError ? (
        <QueryError query={query} what="Workspace keys" />
      ) : (
        <>
          {state.data && <KmsCard state={state.data} />}
          {rewrap && rewrap.state !== 'completed' && (
            <SectionCard
              title={`Re-encrypting from version ${rewrap.from_version} to ${rewrap.to_version}`}
              description={
                state.data?.provider
                  ? 'Calls are not affected. Until this is done, taking your key away doesn’t lock every value on its own.'
                  : 'Calls are not affected. Both versions work until this is done.'
              }
            >
              <Resealed done={rewrap.rows_done} total={rewrap.rows_total} state={rewrap.state} />
            </SectionCard>
          )}
          <DataTable
            columns={columns}
            rows={keys}
            rowId={(row) => row.id}
            rowName={(row) => `version ${row.version}`}
            caption="Versions of the workspace key"
            skeletonRows={2}
            actions={(row) =>
              row.status === 'revoked' || unrevoked !== undefined
                ? []
                : [{ label: 'Revoke version', danger: true, onSelect: () => setRevoking(row) }]
            }
          />
          <Callout title="Every change of a key is recorded in the audit log’s critical chain">
            <Link href={`/${slug}/live/audit`}>Verify the chain on the Audit page</Link> to prove that no version was added, retired or
            revoked unnoticed.
          </Callout>
        </>
      )}
      <ConfirmDanger
        open={asking}
        onOpenChange={(open) => {
          setAsking(open);
          rotate.reset();
        }}
        title="Rotate the workspace key?"
        consequences={[
          'A new version is created immediately. New values are encrypted with it.',
          `${grouped(values)} stored ${values === 1 ? 'value is' : 'values are'} re-encrypted in the background. Calls are not affected.`,
          'The old version is retired. It only opens what isn’t re-encrypted yet, and can be revoked after that.',
        ]}
        confirmLabel="Rotate key"
        resourceName={slug}
        space="live"
        busy={rotate.isPending}
        error={rotate.error ? refusalOf(rotate.error) : undefined}
        onConfirm={() => rotate.mutate({})}
      />
      <RevokeVersion version={revoking} onClose={() => setRevoking(undefined)} />
    </Page>
  );
}

function Resealed({ done, total, state }: { done: number; total: number; state: string }) {
  const text =
    state === 'waiting'
      ? 'Waiting to start'
      : state === 'paused'
        ? 'Paused while the workspace is sealed'
        : `${grouped(done)} of ${grouped(total)} values`;
  return (
    <div className="flex flex-col gap-1.5">
      <p className="figures text-ink-2 text-xs">{text}</p>
      <Progress label="Re-encrypting" done={done} of={total} text={text} />
    </div>
  );
}
