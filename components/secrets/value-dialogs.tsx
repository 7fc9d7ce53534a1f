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
      description={
        secret.expires_at
          ? 'Without a date of its own this environment follows the date of the secret.'
          : 'The secret itself has no expiry.'
      }
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
      <Field label="Expires" optional hint="Empty: as the secret.">
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
  const restore = useMutation(trpc.secrets.restore.mutationOptions({ onSuccess: done('The previous value is back, as a new version') }));
  const remove = useMutation(trpc.secrets.removeValue.mutationOptions({ onSuccess: done('The value is removed and wiped') }));
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
      title={removing ? `Remove the value in ${label}?` : `Put the previous value back in ${label}?`}
      consequences={
        removing
          ? [
              'It is wiped at once, with every earlier version, and cannot be brought back.',
              `Calls in ${label} that need ${secret.name} are refused from then on.`,
            ]
          : [
              'The present value is replaced; the next call uses the previous one.',
              'It becomes a new version. Nothing is shown to anybody.',
            ]
      }
      confirmLabel={removing ? 'Remove value' : 'Put it back'}
      {...(removing ? { resourceName: secret.name } : {})}
      space={space}
      busy={restore.isPending || remove.isPending}
      error={failed ? refusalOf(failed) : undefined}
      onConfirm={() => (removing ? remove.mutate({ id: secret.id, env: name }) : restore.mutate({ id: secret.id, environment: name }))}
    />
  );
}
