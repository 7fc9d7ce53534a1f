'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Pencil, RotateCw, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { Stat } from '#components/ui/stat.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ENGINE_LABELS } from '#server/domain/dyn-db/engines.shared.ts';
import { addressOf, type Connection, MODES, nextStepFor } from './labels.ts';
import { TestConnection } from './test-connection.tsx';
import { ttlWords } from './ttl-text.ts';

const EditConnectionSheet = lazyOverlay(() => import('./edit-sheet.tsx').then((module) => module.EditConnectionSheet), whenOpen);
const SshKeySheet = lazyOverlay(() => import('./ssh-key-sheet.tsx').then((module) => module.SshKeySheet), whenOpen);
const RotatePasswordDialog = lazyOverlay(() => import('./rotate-password.tsx').then((module) => module.RotatePasswordDialog), whenOpen);
const ReplacePasswordSheet = lazyOverlay(() => import('./rotate-password.tsx').then((module) => module.ReplacePasswordSheet), whenOpen);

type Open = 'edit' | 'rotate' | 'replace' | 'ssh' | 'delete';

/** Whether a connection works, how it is set, and what changes or ends it. */
export function ConnectionOverview({ connection }: { connection: Connection }) {
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const cannotUpdate = useForbidden('dyn_db_cred:update');
  const { execution_mode: mode } = connection;
  return (
    <Split side={<Details connection={connection} />}>
      {!connection.enabled && (
        <Callout tone="warn" title="This connection is disabled">
          No credentials are minted. Users that exist are still removed when they expire.
        </Callout>
      )}
      {connection.status === 'failing' && connection.last_error && (
        <Callout tone="bad" title={connection.last_error}>
          {nextStepFor(connection.last_error)}
        </Callout>
      )}
      <div className="grid gap-3 sm:grid-cols-3">
        <Stat label="Roles" value={grouped(connection.role_count)} href="?tab=roles" />
        <Stat label="Live leases" value={grouped(connection.live_leases)} href="?tab=leases" />
        <Stat label="Errored leases" value={grouped(connection.errored_leases)} href="?tab=leases" />
      </div>
      <SectionCard title="Connection" description="Logs in once and checks the privileges of the admin user.">
        <TestConnection key={connection.id} connection={connection} />
      </SectionCard>
      <SectionCard title="Settings" description="Address, lifetimes and TLS. Name, engine and mode can’t be changed.">
        <div className="flex flex-wrap gap-2">
          <Button icon={<Pencil />} disabledReason={cannotUpdate} onClick={() => setOpen('edit')}>
            Edit connection
          </Button>
          {mode !== 'iam' && (
            <>
              <Button icon={<RotateCw />} disabledReason={cannotUpdate} onClick={() => setOpen('rotate')}>
                Rotate admin password
              </Button>
              <Button icon={<KeyRound />} disabledReason={cannotUpdate} onClick={() => setOpen('replace')}>
                Replace admin password
              </Button>
            </>
          )}
          {mode === 'ssh_tunnel' && (
            <Button icon={<KeyRound />} disabledReason={cannotUpdate} onClick={() => setOpen('ssh')}>
              Rotate SSH key
            </Button>
          )}
        </div>
      </SectionCard>
      <DangerZone connection={connection} onDelete={() => setOpen('delete')} />
      <EditConnectionSheet open={open === 'edit'} connection={connection} onClose={close} />
      <RotatePasswordDialog open={open === 'rotate'} connection={connection} onClose={close} />
      <ReplacePasswordSheet open={open === 'replace'} connection={connection} onClose={close} />
      <SshKeySheet open={open === 'ssh'} connection={connection} onClose={close} />
      <DeleteDialog open={open === 'delete'} connection={connection} onClose={close} />
    </Split>
  );
}

function Details({ connection }: { connection: Connection }) {
  const { connect_options: options, ssh_port } = connection;
  return (
    <SectionCard title="Details">
      <KeyValueList
        items={[
          { label: 'Engine', value: ENGINE_LABELS[connection.engine] },
          { label: 'Host', value: addressOf(connection), copy: addressOf(connection) },
          { label: 'Database', value: connection.database_name ?? '—' },
          { label: 'Mode', value: MODES[connection.execution_mode].title },
          ...(connection.execution_mode === 'iam'
            ? [
                { label: 'Database user', value: connection.iam_db_user },
                { label: 'Region', value: connection.iam_region },
              ]
            : [
                { label: 'Admin user', value: connection.admin_username },
                { label: 'Admin password', value: connection.has_admin_password ? 'Stored' : 'Missing' },
                { label: 'Password rotated', value: <Time value={connection.root_rotated_at} empty="Never" /> },
              ]),
          ...(connection.ssh_host === null
            ? []
            : [
                {
                  label: 'Jump host',
                  value: `${connection.ssh_username}@${connection.ssh_host}${ssh_port === null ? '' : `:${ssh_port}`}`,
                },
                connection.ssh_host_fingerprint === null
                  ? { label: 'Host key', value: 'Not pinned yet', hint: 'The first successful connection pins it.' }
                  : {
                      label: 'Host key',
                      value: connection.ssh_host_fingerprint,
                      copy: connection.ssh_host_fingerprint,
                      hint: 'Pinned. Another key is refused.',
                    },
              ]),
          {
            label: 'TLS',
            value: connection.engine === 'mongo' ? (options.tls === false ? 'Off' : 'On') : (options.sslmode ?? 'require'),
          },
          { label: 'Default lifetime', value: ttlWords(connection.default_ttl_seconds) },
          { label: 'Longest lifetime', value: ttlWords(connection.max_ttl_seconds) },
          { label: 'Last check', value: <Time value={connection.last_check_at} empty="Never" /> },
          { label: 'Created', value: <Time value={connection.created_at} format="datetime" /> },
        ]}
      />
    </SectionCard>
  );
}

function DangerZone({ connection, onDelete }: { connection: Connection; onDelete: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const cannotUpdate = useForbidden('dyn_db_cred:update');
  const cannotDelete = useForbidden('dyn_db_cred:delete');
  const update = useMutation(
    trpc.dynDb.update.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: (_, { enabled }) => {
        notifyDone(enabled ? 'Connection enabled' : 'Connection disabled');
        return cache.invalidateQueries(trpc.dynDb.pathFilter());
      },
    }),
  );
  return (
    <SectionCard title="Danger zone" tone="danger">
      <div className="flex flex-col divide-y divide-line">
        <DangerRow title="Connection enabled" text="While this is off, no credentials are minted. Revoking and expiry go on.">
          <Switch
            hideLabel
            label="Connection enabled"
            checked={connection.enabled}
            disabledReason={update.isPending ? 'Saving…' : cannotUpdate}
            onCheckedChange={(enabled) => update.mutate({ connection: connection.name, enabled })}
          />
        </DangerRow>
        <DangerRow title="Delete the connection" text="Its roles go with it. Users that still exist on the server must be revoked before.">
          <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={cannotDelete} onClick={onDelete}>
            Delete connection
          </Button>
        </DangerRow>
      </div>
    </SectionCard>
  );
}

type DialogProps = { open: boolean; connection: Connection; onClose: () => void };

function DeleteDialog({ open, connection, onClose }: DialogProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const remove = useMutation(
    trpc.dynDb.delete.mutationOptions({
      onSuccess: () => {
        void cache.invalidateQueries(trpc.dynDb.list.queryFilter());
        void cache.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Connection ${connection.name} deleted`);
        router.replace(path('/database-credentials'));
      },
    }),
  );
  const live = connection.live_leases;
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        remove.reset();
        onClose();
      }}
      title={`Delete ${connection.name}?`}
      consequences={[
        `${counted(connection.role_count, 'role')} of it ${connection.role_count === 1 ? 'is' : 'are'} deleted.`,
        'Calls that mint credentials by it are answered with 404.',
        'Nothing changes on the server. The admin user stays.',
      ]}
      confirmLabel="Delete connection"
      resourceName={connection.name}
      space={space}
      blockedReason={live > 0 ? `Revoke its ${counted(live, 'live lease')} first` : undefined}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => remove.mutate({ connection: connection.name })}
    >
      <ApiEquivalent method="DELETE" path={`/dyn-db-credentials/${connection.name}`} />
    </ConfirmDanger>
  );
}
