'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DateTimeInput } from '#components/ui/date-time-input.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { SecretDetail } from '#server/domain/secrets/schema.ts';

type Detail = z.output<typeof SecretDetail>;
/** What is asked about one environment's value. */
export type Asking = {
  what: 'restore' | 'remove' | 'expiry';
  environment: { name: string; display_name: string };
  value: Detail['environments'][number];
};

/** A date of its own for the value of one environment. */
export function ExpiryDialog({ secret, value, onClose }: { secret: Detail; value: Detail['environments'][number]; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [at, setAt] = useState(value.expires_at_override);
  const update = useMutation(
    trpc.secrets.updateEnvironment.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.secrets.pathFilter());
        onClose();
      },
    }),
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Expiry in ${value.environment_name}`}
      description={secret.expires_at ? 'Overrides the expiry of the secret in this environment.' : 'The secret has no expiry.'}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            loading={update.isPending}
            onClick={() => update.mutate({ id: secret.id, env: value.environment_name, expires_at_override: at })}
          >
            Save
          </Button>
        </>
      }
    >
      <Field label="Expires" optional hint="Leave empty to use the secret’s expiry.">
        <DateTimeInput value={at} onChange={setAt} />
      </Field>
      <MutationError error={update.error} />
    </Dialog>
  );
}

/** Asks before a value is wiped, or the one before it comes back. */
export function ConfirmValue({ asking, secret, onClose }: { asking: Asking | undefined; secret: Detail; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const done = (message: string) => () => {
    void queryClient.invalidateQueries(trpc.secrets.pathFilter());
    notifyDone(message);
    onClose();
  };
  const restore = useMutation(trpc.secrets.restore.mutationOptions({ onSuccess: done('Previous value restored as a new version') }));
  const remove = useMutation(trpc.secrets.removeValue.mutationOptions({ onSuccess: done('Value removed') }));
  const name = asking?.environment.name ?? '';
  const label = asking?.environment.display_name ?? '';
  const failed = restore.error ?? remove.error;
  const removing = asking?.what === 'remove';
  return (
    <ConfirmDanger
      open={asking?.what === 'restore' || removing}
      onOpenChange={(open) => {
        if (open) return;
        restore.reset();
        remove.reset();
        onClose();
      }}
      title={removing ? `Remove the value in ${label}?` : `Restore the previous value in ${label}?`}
      consequences={
        removing
          ? ['The value and its earlier versions are permanently deleted.', `Calls in ${label} that need ${secret.name} fail.`]
          : ['The next call uses the previous value.', 'It’s saved as a new version. No value is shown.']
      }
      confirmLabel={removing ? 'Remove value' : 'Restore value'}
      {...(removing ? { resourceName: secret.name } : {})}
      space={space}
      busy={restore.isPending || remove.isPending}
      error={failed ? refusalOf(failed) : undefined}
      onConfirm={() => (removing ? remove.mutate({ id: secret.id, env: name }) : restore.mutate({ id: secret.id, environment: name }))}
    />
  );
}
