'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { ClientRow } from './client-labels.ts';

type Props = {
  client: Pick<ClientRow, 'id' | 'name' | 'assigned_route_count' | 'credential_count' | 'last_matched_at'>;
  open: boolean;
  onClose: () => void;
  onDeleted?: () => void;
};

/** Asks before a client goes, with the routes it may call now. */
export function DeleteClient({ client, open, onClose, onDeleted }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.clients.delete.mutationOptions({
      onSuccess: () => {
        onDeleted?.();
        notifyDone(`Client ${client.name} deleted`);
        void queryClient.invalidateQueries(trpc.clients.list.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        onClose();
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
      title={`Delete ${client.name}?`}
      consequences={[
        client.assigned_route_count === 0
          ? 'Not assigned to any route.'
          : `Assigned to ${counted(client.assigned_route_count, 'route')}. Routes that require a client refuse its calls immediately.`,
        `Also deletes its ${counted(client.credential_count, 'credential')}.`,
        client.last_matched_at ? (
          <>
            Last seen <Time value={client.last_matched_at} />.
          </>
        ) : (
          'Never seen.'
        ),
      ]}
      confirmLabel="Delete client"
      resourceName={client.name}
      space={space}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => remove.mutate({ id: client.id })}
    >
      <ApiEquivalent method="DELETE" path={`/clients/${client.id}`} />
    </ConfirmDanger>
  );
}
