'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { AlertRow, ChannelRow } from './labels.ts';

/** Asks before an alert goes. */
export function DeleteAlert({ alert, onClose }: { alert: AlertRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.alerts.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${alert?.name} deleted`);
        onClose();
        await cache.invalidateQueries(trpc.alerts.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDanger
      open={alert !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      space={space}
      title={`Delete “${alert?.name ?? ''}”?`}
      confirmLabel="Delete alert"
      consequences={['Nobody is told any more when its condition holds.', 'Its incidents are deleted with it.']}
      onConfirm={() => alert && remove.mutate({ id: alert.id })}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
    />
  );
}

/** Asks before a channel goes. */
export function DeleteChannel({ channel, onClose }: { channel: ChannelRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.alertChannels.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${channel?.name} deleted`);
        onClose();
        await cache.invalidateQueries(trpc.alertChannels.pathFilter());
      },
    }),
  );
  const used = channel?.alerts ?? 0;
  return (
    <ConfirmDanger
      open={channel !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      space={space}
      title={`Delete “${channel?.name ?? ''}”?`}
      confirmLabel="Delete channel"
      consequences={[
        used === 0 ? 'No alert uses it.' : `${used === 1 ? '1 alert' : `${used} alerts`} no longer tell it anything.`,
        'Messages on their way to it are dropped.',
      ]}
      onConfirm={() => channel && remove.mutate({ id: channel.id })}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
    />
  );
}
