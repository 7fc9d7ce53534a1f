'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Field } from '#components/ui/field.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Detail, nameInPath, type Version } from './key-labels.ts';

type Props = { crypto: Detail; open: boolean; onClose: () => void };

/** What would stop working, as the server counts it. */
function useImpact(crypto: Detail, open: boolean) {
  const trpc = useTRPC();
  return useQuery(trpc.cryptoKeys.activity.queryOptions({ name: crypto.id }, { enabled: open }));
}

/** Asks before a key and all that it encrypted is lost. */
export function DeleteKeyDialog({ crypto, open, onClose }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const impact = useImpact(crypto, open);
  const remove = useMutation(
    trpc.cryptoKeys.delete.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.cryptoKeys.list.queryFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Key ${crypto.name} deleted`);
        router.replace(path('/crypto'));
      },
    }),
  );
  const used = impact.data?.used_by ?? [];
  const live = crypto.versions.filter(({ status }) => status !== 'destroyed').length;
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        remove.reset();
        onClose();
      }}
      title={`Delete ${crypto.name}?`}
      consequences={
        impact.data && [
          `${counted(live, 'version')} destroyed for good, the active one too.`,
          'What was encrypted under it can’t be decrypted, and its signatures can’t be verified any more.',
          ...(usesIn(impact.data.days) > 0 ? [`It was used ${counted(usesIn(impact.data.days), 'time')} in the last 30 days.`] : []),
        ]
      }
      confirmLabel="Delete key"
      resourceName={crypto.name}
      space={space}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : impact.error ? refusalOf(impact.error) : undefined}
      blockedReason={used.length > 0 ? `Still used by ${used.slice(0, 5).join(', ')}` : undefined}
      onConfirm={() => remove.mutate({ name: crypto.id })}
    >
      <ApiEquivalent method="DELETE" path={`/crypto/keys/${nameInPath(crypto)}`} />
    </ConfirmDanger>
  );
}

const usesIn = (days: readonly { operations: Record<string, number> }[]) =>
  days.reduce((sum, { operations }) => sum + Object.values(operations).reduce((a, b) => a + b, 0), 0);

const WHEN = [
  { value: '30', label: 'In 30 days' },
  { value: '14', label: 'In 14 days' },
  { value: '7', label: 'In 7 days' },
  { value: '0', label: 'Now' },
];

/** Asks before a version is destroyed: now, or after days in which it can be brought back. */
export function DestroyVersionDialog({ crypto, version, onClose }: { crypto: Detail; version: Version | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const [when, setWhen] = useState('30');
  const impact = useImpact(crypto, version !== undefined);
  const done = (message: string) => () => {
    void queryClient.invalidateQueries(trpc.cryptoKeys.pathFilter());
    notifyDone(message);
    onClose();
  };
  const destroy = useMutation(
    trpc.cryptoKeys.destroy_version.mutationOptions({ onSuccess: done(`Version ${version?.version ?? ''} destroyed`) }),
  );
  const schedule = useMutation(
    trpc.cryptoKeys.schedule_destruction.mutationOptions({ onSuccess: done(`Destruction of version ${version?.version ?? ''} scheduled`) }),
  );
  const now = when === '0';
  const n = String(version?.version ?? '');
  const tokens = impact.data?.tokens.find((row) => row.version === version?.version)?.count ?? 0;
  const failed = destroy.error ?? schedule.error ?? impact.error;
  return (
    <ConfirmDanger
      open={version !== undefined}
      onOpenChange={(next) => {
        if (next) return;
        destroy.reset();
        schedule.reset();
        onClose();
      }}
      title={`Destroy version ${n} of ${crypto.name}?`}
      consequences={
        impact.data && [
          now ? 'Its material is erased. This can’t be undone.' : 'It stops working now, and is erased then. You can undo it until then.',
          'What was encrypted or signed with it can’t be decrypted or verified any more. Rewrap first what you still need.',
          tokens > 0 ? `${counted(tokens, 'vault token')} can never be detokenized again.` : 'No vault tokens depend on it.',
        ]
      }
      confirmLabel={now ? 'Destroy version' : 'Schedule destruction'}
      resourceName={crypto.name}
      space={space}
      busy={destroy.isPending || schedule.isPending}
      error={failed ? refusalOf(failed) : undefined}
      onConfirm={() => (now ? destroy.mutate({ name: crypto.id, n }) : schedule.mutate({ name: crypto.id, n, days: Number(when) }))}
    >
      <Field label="When">
        <Select options={WHEN} value={when} onValueChange={setWhen} />
      </Field>
      {now ? (
        <ApiEquivalent method="DELETE" path={`/crypto/keys/${nameInPath(crypto)}/versions/${n}`} />
      ) : (
        <ApiEquivalent
          method="POST"
          path={`/crypto/keys/${nameInPath(crypto)}/versions/${n}/schedule-destruction`}
          body={{ days: Number(when) }}
        />
      )}
    </ConfirmDanger>
  );
}

/** Says what a new version changes before it's made. */
export function RotateDialog({ crypto, open, onClose }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const rotate = useMutation(
    trpc.cryptoKeys.rotate.mutationOptions({
      onSuccess: ({ new_version }) => {
        void queryClient.invalidateQueries(trpc.cryptoKeys.pathFilter());
        notifyDone(`Version ${new_version} is active`);
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
      title={`Rotate ${crypto.name}?`}
      consequences={[
        `Version ${crypto.current_version + 1} is used for everything new.`,
        `Version ${crypto.current_version} still decrypts and verifies until you destroy it.`,
      ]}
      confirmLabel="Rotate key"
      space={space}
      busy={rotate.isPending}
      error={rotate.error ? refusalOf(rotate.error) : undefined}
      onConfirm={() => rotate.mutate({ name: crypto.id })}
    >
      <ApiEquivalent method="POST" path={`/crypto/keys/${nameInPath(crypto)}/rotate`} body={{}} />
    </ConfirmDanger>
  );
}
