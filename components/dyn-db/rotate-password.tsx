'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Field } from '#components/ui/field.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { Connection } from './labels.ts';

type Props = { open: boolean; connection: Connection; onClose: () => void };

/** Gives the admin user another password on the server, one that nobody sees. */
export function RotatePasswordDialog({ open, connection, onClose }: Props) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const rotate = useMutation(
    trpc.dynDb.rotate_root.mutationOptions({
      onSuccess: async () => {
        notifyDone('Admin password rotated');
        await cache.invalidateQueries(trpc.dynDb.pathFilter());
        onClose();
      },
    }),
  );
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        rotate.reset();
        onClose();
      }}
      title={`Rotate the password of ${connection.admin_username}?`}
      consequences={[
        'The server gets a new random password for this user, which is checked with a second login and never shown.',
        'Whoever else logs in with the old password can’t any more.',
        'Users that were minted are not affected.',
      ]}
      confirmLabel="Rotate password"
      resourceName={connection.name}
      space={space}
      busy={rotate.isPending}
      error={rotate.error ? refusalOf(rotate.error) : undefined}
      onConfirm={() => rotate.mutate({ connection: connection.name })}
    >
      <ApiEquivalent method="POST" path={`/dyn-db-credentials/${connection.name}/rotate-root`} />
    </ConfirmDanger>
  );
}

/** Stores a password that was changed on the server by somebody else. */
export function ReplacePasswordSheet({ open, connection, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="Replace admin password"
      description="Stores the password that the server has already. The server isn’t changed."
    >
      {open && <ReplaceForm connection={connection} onClose={onClose} />}
    </Sheet>
  );
}

function ReplaceForm({ connection, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const [password, setPassword] = useState('');
  useUnsavedGuard(password !== '');
  const update = useMutation(
    trpc.dynDb.update.mutationOptions({
      gcTime: 0,
      onSuccess: async () => {
        setPassword('');
        notifyDone('Admin password stored');
        await cache.invalidateQueries(trpc.dynDb.pathFilter());
        onClose();
      },
    }),
  );
  return (
    <form
      className="flex grow flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (password !== '') update.mutate({ connection: connection.name, admin_password: password });
      }}
    >
      <Field label={`Password of ${connection.admin_username}`} required hint="Encrypted, and never shown again.">
        <SecretInput value={password} onChange={(event) => setPassword(event.target.value)} />
      </Field>
      <MutationError error={update.error} />
      <ApiEquivalent method="PATCH" path={`/dyn-db-credentials/${connection.name}`} body={{ admin_password: 'ADMIN_PASSWORD' }} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={update.isPending}
            disabledReason={password === '' ? 'Enter the password first' : undefined}
          >
            Store password
          </Button>
        </div>
      </SheetFooter>
    </form>
  );
}
