'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { duration, inPath, type Root } from './pki-labels.ts';

type Asking = { root: Root; open: boolean; busy: boolean; error: unknown; onConfirm: () => void; onClose: () => void };

/** Says what a new intermediate changes before it's made. */
export function RotateDialog({ root, open, busy, error, onConfirm, onClose }: Asking) {
  const { space } = useScope();
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Make a new intermediate of ${root.name}?`}
      consequences={[
        `Everything new is signed by it, for ${duration(root.intermediate_ttl_seconds)} at most.`,
        'Certificates of the one before stay valid, and it goes on signing its revocation list.',
        'Servers must send the new chain with new certificates.',
      ]}
      confirmLabel="Rotate intermediate"
      space={space}
      busy={busy}
      error={error ? refusalOf(error) : undefined}
      onConfirm={onConfirm}
    >
      <ApiEquivalent method="POST" path={`/pki/roots/${inPath(root)}/rotate-intermediate`} body={{}} />
    </ConfirmDanger>
  );
}

const ENDS = {
  retired: {
    title: (name: string) => `Retire ${name}?`,
    consequences: [
      'It issues no certificates, and its intermediate isn’t replaced any more.',
      'Certificates stay valid until they expire, and revocation lists go on.',
      'You can activate it again.',
    ],
    label: 'Retire root',
    done: 'retired',
  },
  revoked: {
    title: (name: string) => `Revoke ${name}?`,
    consequences: [
      'Its intermediates are revoked, and with them every certificate. This can’t be undone.',
      'A root can’t take itself back: remove it from every machine that trusts it.',
      'You confirm with a second factor, and the audit log records it.',
    ],
    label: 'Revoke root',
    done: 'revoked',
  },
} as const;
export type End = keyof typeof ENDS;

/** Asks before a root stops issuing, for a while or for good. */
export function EndRootDialog({ root, end, onClose }: { root: Root; end: End | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const update = useMutation(
    trpc.pki.updateRoot.mutationOptions({
      onSuccess: ({ status }) => {
        notifyDone(`Root ${root.name} ${status}`);
        onClose();
        return queryClient.invalidateQueries(trpc.pki.pathFilter());
      },
    }),
  );
  const about = ENDS[end ?? 'retired'];
  return (
    <ConfirmDanger
      open={end !== undefined}
      onOpenChange={(next) => {
        if (next) return;
        update.reset();
        onClose();
      }}
      title={about.title(root.name)}
      consequences={about.consequences}
      confirmLabel={about.label}
      {...(end === 'revoked' ? { resourceName: root.name } : {})}
      space={space}
      busy={update.isPending}
      error={update.error ? refusalOf(update.error) : undefined}
      onConfirm={() => end && update.mutate({ name: root.id, status: end })}
    >
      <ApiEquivalent method="PATCH" path={`/pki/roots/${inPath(root)}`} body={{ status: end ?? 'retired' }} />
    </ConfirmDanger>
  );
}

/** Asks before a root and its keys are destroyed. */
export function DeleteRootDialog({
  root,
  valid,
  open,
  onClose,
}: {
  root: Root;
  valid: number | undefined;
  open: boolean;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const remove = useMutation(
    trpc.pki.deleteRoot.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.pki.listRoots.queryFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Root ${root.name} deleted`);
        router.replace(path('/pki'));
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
      title={`Delete ${root.name}?`}
      consequences={
        valid === undefined
          ? undefined
          : [
              'Its key and those of its intermediates are destroyed. This can’t be undone.',
              'Its public addresses and revocation lists go.',
              'Its roles and the records of its certificates are deleted.',
            ]
      }
      confirmLabel="Delete root"
      resourceName={root.name}
      space={space}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      blockedReason={valid ? `${counted(valid, 'certificate')} of it haven’t expired` : undefined}
      onConfirm={() => remove.mutate({ name: root.id })}
    >
      <ApiEquivalent method="DELETE" path={`/pki/roots/${inPath(root)}`} />
    </ConfirmDanger>
  );
}
