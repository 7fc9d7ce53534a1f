'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { CredentialRow } from './rows.ts';

/** Deletes a wrap credential with its tokens, after saying what stops working. */
export function DeleteCredential({ credential, onClose }: { credential: CredentialRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.wrap.deleteCredential.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${credential?.name} deleted`);
        await cache.invalidateQueries(trpc.wrap.pathFilter());
        onClose();
      },
    }),
  );
  const tokens = credential?.active_tokens ?? 0;
  return (
    <ConfirmDanger
      open={credential !== undefined}
      onOpenChange={(next) => next || onClose()}
      title={`Delete ${credential?.name}?`}
      consequences={[
        'The key is wiped and can’t be restored.',
        ...(tokens > 0
          ? [
              `${counted(tokens, 'gateway token')} ${tokens === 1 ? 'is' : 'are'} revoked, and SDKs that use ${tokens === 1 ? 'it' : 'them'} stop working.`,
            ]
          : []),
      ]}
      confirmLabel="Delete credential"
      resourceName={credential?.name ?? ''}
      space={space}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => credential && remove.mutate({ secret_id: credential.secret_id, revoke_tokens: true })}
    />
  );
}
