'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';

type UsageShape = { references: readonly { kind: string; name: string | null; id: string }[]; calls_30d: number | null };

/** Asks before a secret goes, with what still needs it. */
export function DeleteSecret({
  secret,
  readOnly,
  usage,
}: {
  secret: { id: string; name: string };
  readOnly: string | undefined;
  usage: UsageShape | undefined;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const [open, setOpen] = useState(false);
  const remove = useMutation(
    trpc.secrets.delete.mutationOptions({
      onSuccess: () => {
        router.push(path('/secrets'));
        notifyDone(`Secret ${secret.name} deleted`);
        void queryClient.invalidateQueries(trpc.secrets.list.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        void queryClient.invalidateQueries(trpc.collections.pathFilter());
      },
    }),
  );
  const users = [...new Set(usage?.references.map(({ name, id }) => name ?? id))];
  return (
    <SectionCard tone="danger" title="Danger zone">
      <DangerRow title="Delete secret" text="Deletes its values in all environments. This can’t be undone.">
        <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={readOnly} onClick={() => setOpen(true)}>
          Delete secret…
        </Button>
      </DangerRow>
      <ConfirmDanger
        open={open}
        onOpenChange={(next) => {
          setOpen(next);
          remove.reset();
        }}
        title={`Delete ${secret.name}?`}
        consequences={
          usage && [
            users.length
              ? `Used by ${users.slice(0, 5).join(', ')}${users.length > 5 ? ` and ${users.length - 5} more` : ''}.`
              : 'Not used by any route.',
            `Used in ${usage.calls_30d === null ? 'many calls' : counted(usage.calls_30d, 'call')} in the last 30 days.`,
            'Its values are permanently deleted.',
          ]
        }
        confirmLabel="Delete secret"
        resourceName={secret.name}
        space={space}
        busy={remove.isPending}
        blockedReason={users.length ? 'Remove it from the routes that use it first' : undefined}
        error={remove.error ? refusalOf(remove.error) : undefined}
        onConfirm={() => remove.mutate({ id: secret.id })}
      >
        <ApiEquivalent method="DELETE" path={`/secrets/${secret.id}`} />
      </ConfirmDanger>
    </SectionCard>
  );
}
