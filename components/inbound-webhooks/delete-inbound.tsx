'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { InboundRow } from './inbound-labels.ts';

/** Asks before a receiver goes. */
export function DeleteInbound({ open, receiver, onClose }: { open: boolean; receiver: InboundRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.inboundWebhooks.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${receiver?.name} deleted`);
        onClose();
        await Promise.all([cache.invalidateQueries(trpc.inboundWebhooks.pathFilter()), cache.invalidateQueries(trpc.account.pathFilter())]);
      },
    }),
  );
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        remove.reset();
        onClose();
      }}
      space={space}
      title={`Delete “${receiver?.name ?? ''}”?`}
      confirmLabel="Delete inbound webhook"
      consequences={['Its sender gets 404 from then on. Remove the address there.', 'Its calls stay in the request log.']}
      onConfirm={() => receiver && remove.mutate({ id: receiver.id })}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
    />
  );
}
