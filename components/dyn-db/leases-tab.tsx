'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ban, RotateCw, Timer } from 'lucide-react';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { counted } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notify, notifyDone } from '#components/ui/toaster.tsx';
import { Countdown } from './countdown.tsx';
import { type Connection, LEASE_STATES, type Lease, nextStepFor } from './labels.ts';

const PER_PAGE = 100;
/** As often as the service itself looks for leases that are over, or twice. */
const POLL_MS = 5_000;

const column = columnsFor<Lease>();
const columns = [
  column.accessor('username', {
    header: 'Database user',
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col gap-0.5 py-1">
        {original.username === null ? `Lease ${original.id}` : <CopyText value={original.username} label="user name" />}
        {original.last_error && (
          <span className="max-w-xl whitespace-normal text-bad-ink text-xs [overflow-wrap:anywhere]">
            {original.last_error} {nextStepFor(original.last_error)}
          </span>
        )}
      </span>
    ),
  }),
  column.accessor('role_name', { header: 'Role', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => getValue() ?? '—' }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ row: { original } }) => (
      <span className="flex flex-col">
        <Status state={LEASE_STATES[original.status].state}>{LEASE_STATES[original.status].label}</Status>
        {original.attempts > 0 && <span className="text-ink-3 text-xs">{counted(original.attempts, 'failure')}</span>}
      </span>
    ),
  }),
  column.accessor('expires_at', {
    header: 'Expires in',
    meta: { align: 'right' },
    cell: ({ getValue }) => <Countdown until={getValue()} />,
  }),
  column.accessor('issued_at', { header: 'Issued', meta: { hideBelow: 'md' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** Every user of a connection that may still exist on the server, newest first. */
export function LeasesTab({ connection }: { connection: Connection }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const readOnly = useForbidden('dyn_db_cred:revoke');
  const [page, setPage] = useState(0);
  const [revoking, setRevoking] = useState<Lease>();
  const [all, setAll] = useState(false);
  const query = useQuery(
    trpc.dynDb.leases.queryOptions(
      { connection: connection.name, limit: PER_PAGE, offset: page * PER_PAGE },
      { refetchInterval: POLL_MS, placeholderData: keepPreviousData },
    ),
  );
  const refresh = () => cache.invalidateQueries(trpc.dynDb.pathFilter());
  const retry = useMutation(
    trpc.dynDb.revoke.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => notifyDone('The user is removed'),
      onSettled: refresh,
    }),
  );
  if (query.isError && !query.data) return <QueryError query={query} what="Leases" />;
  const { leases, total = 0 } = query.data ?? {};
  const errored = leases?.filter(({ status }) => status === 'errored').length ?? 0;
  const from = page * PER_PAGE;
  return (
    <section className="flex flex-col gap-3">
      {total > 0 && (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p role="status" className="text-ink-2">
            {counted(total, 'live lease')}
            {errored > 0 && `, ${errored} errored: the service goes on trying once an hour`}
          </p>
          <div className="flex flex-wrap items-center gap-2">
            {total > PER_PAGE && (
              <>
                <span className="figures text-ink-3 text-xs">
                  {from + 1} to {Math.min(total, from + PER_PAGE)} of {total}
                </span>
                <Button size="sm" disabledReason={page > 0 ? undefined : 'These are the newest'} onClick={() => setPage(page - 1)}>
                  Newer
                </Button>
                <Button
                  size="sm"
                  disabledReason={from + PER_PAGE < total ? undefined : 'These are the oldest'}
                  onClick={() => setPage(page + 1)}
                >
                  Older
                </Button>
              </>
            )}
            <Button variant="danger-quiet" icon={<Ban />} disabledReason={readOnly} onClick={() => setAll(true)}>
              Revoke all
            </Button>
          </div>
        </div>
      )}
      <DataTable
        caption="Leases"
        columns={columns}
        rows={leases}
        rowId={(row) => String(row.id)}
        rowName={(row) => row.username ?? `lease ${row.id}`}
        refreshing={query.isPlaceholderData}
        skeletonRows={3}
        empty={
          <EmptyState icon={<Timer />} title="No live leases">
            Users that are minted stand here until they are removed from the server.
          </EmptyState>
        }
        actions={(row) => [
          ...(row.status === 'errored'
            ? [
                {
                  label: 'Retry removal now',
                  icon: <RotateCw />,
                  disabledReason: readOnly ?? (retry.isPending ? 'Trying…' : undefined),
                  onSelect: () => retry.mutate({ id: String(row.id) }),
                },
              ]
            : []),
          { label: 'Revoke…', icon: <Ban />, danger: true, disabledReason: readOnly, onSelect: () => setRevoking(row) },
        ]}
      />
      <RevokeOne lease={revoking} iam={connection.execution_mode === 'iam'} onClose={() => setRevoking(undefined)} />
      <RevokeAll connection={connection} total={total} open={all} onClose={() => setAll(false)} />
    </section>
  );
}

function RevokeOne({ lease, iam, onClose }: { lease: Lease | undefined; iam: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const revoke = useMutation(
    trpc.dynDb.revoke.mutationOptions({
      onSuccess: ({ message }) => {
        if (message) notify('Lease revoked', message);
        else notifyDone('The user is removed');
        onClose();
      },
      onSettled: () => cache.invalidateQueries(trpc.dynDb.pathFilter()),
    }),
  );
  const failed = revoke.error ? refusalOf(revoke.error) : undefined;
  return (
    <ConfirmDanger
      open={lease !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        revoke.reset();
        onClose();
      }}
      title={`Revoke ${lease?.username ?? 'this lease'}?`}
      consequences={
        iam
          ? ['The lease is marked as revoked. The token itself can’t be recalled: it opens new sessions until it expires.']
          : ['Its sessions are cut and the user is dropped, now.', 'Whoever uses it must get another credential.']
      }
      confirmLabel="Revoke"
      space={space}
      busy={revoke.isPending}
      error={failed && { ...failed, message: `${failed.message} ${nextStepFor(failed.message)} The service goes on trying by itself.` }}
      onConfirm={() => lease && revoke.mutate({ id: String(lease.id) })}
    >
      <ApiEquivalent method="POST" path={`/dyn-db-credentials/leases/${lease?.id}/revoke`} />
    </ConfirmDanger>
  );
}

type AllProps = { connection: Connection; total: number; open: boolean; onClose: () => void };

/** One call each, since each takes a statement on the server. What can't be removed now stays in the list. */
function RevokeAll({ connection, total, open, onClose }: AllProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const { space } = useScope();
  const [done, setDone] = useState<number>();
  const [error, setError] = useState<{ message: string; request_id?: string | undefined }>();
  const run = async () => {
    setError(undefined);
    setDone(0);
    let [revoked, failed] = [0, 0];
    try {
      const { leases } = await client.dynDb.leases.query({ connection: connection.name, limit: 500 });
      for (const { id } of leases) {
        const refusal = await client.dynDb.revoke.mutate({ id: String(id) }).then(
          () => undefined,
          (refused: unknown) => refusalOf(refused),
        );
        if (refusal) {
          failed += 1;
          setError({ message: `${counted(failed, 'user')} not removed. ${refusal.message}`, request_id: refusal.request_id || undefined });
        } else revoked += 1;
        setDone(revoked + failed);
      }
    } catch (refused) {
      failed += 1;
      setError(refusalOf(refused));
    }
    setDone(undefined);
    await cache.invalidateQueries(trpc.dynDb.pathFilter());
    if (failed > 0) return;
    notifyDone(`${counted(revoked, 'user')} removed`);
    onClose();
  };
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next || done !== undefined) return;
        setError(undefined);
        onClose();
      }}
      title={`Revoke all leases of ${connection.name}?`}
      consequences={[
        `${counted(total, 'user')} on the server ${total === 1 ? 'is' : 'are'} dropped, and their sessions are cut.`,
        'Applications that use them fail until they get another credential.',
        ...(connection.enabled ? ['New credentials can still be minted. Disable the connection first to stop that.'] : []),
      ]}
      confirmLabel={done === undefined ? 'Revoke all' : `Revoking ${done} of ${total}`}
      resourceName={connection.name}
      space={space}
      busy={done !== undefined}
      error={error}
      onConfirm={run}
    />
  );
}
