'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { StreamRow } from './stream-labels.ts';

/** Asks before a stream goes. */
export function DeleteStream({ stream, onClose }: { stream: StreamRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.logStreams.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${stream?.name} deleted`);
        onClose();
        await cache.invalidateQueries(trpc.logStreams.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDanger
      open={stream !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      space={space}
      title={`Delete “${stream?.name ?? ''}”?`}
      confirmLabel="Delete log stream"
      consequences={[
        'Nothing more is sent to its destination. What is in the logs here stays.',
        'A new stream starts with what happens then.',
      ]}
      onConfirm={() => stream && remove.mutate({ id: stream.id })}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
    />
  );
}
