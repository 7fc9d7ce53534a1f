'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Fingerprint, KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { usePersonCall } from '#components/me/person-calls.ts';
import { ME, type Person } from '#components/me/use-me.ts';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type FactorCardProps, lastFactorConsequence, type Passkey } from './factor-text.ts';
import { usePasskeyRegistration } from './use-passkey-registration.ts';

type Factors = Person['factors'];

const AddPasskey = lazyOverlay(
  () => import('./add-passkey.tsx').then((module) => module.AddPasskey),
  ({ registration }) => registration.stage !== 'idle',
);
const RenamePasskey = lazyOverlay(
  () => import('./rename-passkey.tsx').then((module) => module.RenamePasskey),
  ({ passkey }) => passkey !== undefined,
);

/** The passkeys and security keys of the account. */
export function PasskeysCard({ factors, needsFactor, onCodes }: FactorCardProps) {
  const [renaming, setRenaming] = useState<Passkey>();
  const [removing, setRemoving] = useState<Passkey>();
  const registration = usePasskeyRegistration(factors, onCodes);
  const { passkeys } = factors;
  return (
    <>
      <SectionCard
        title="Passkeys"
        description="Sign in and confirm actions with your fingerprint, face or screen lock."
        flush={passkeys.length > 0}
        className={passkeys.length > 0 ? undefined : 'pb-3.5'}
        actions={
          <Button size="sm" icon={<Plus />} loading={registration.stage === 'starting'} onClick={() => void registration.start()}>
            Add passkey
          </Button>
        }
      >
        {passkeys.length > 0 && (
          <ul className="divide-y divide-line">
            {passkeys.map((passkey) => (
              <PasskeyRow key={passkey.id} passkey={passkey} onRename={() => setRenaming(passkey)} onRemove={() => setRemoving(passkey)} />
            ))}
          </ul>
        )}
      </SectionCard>
      <AddPasskey registration={registration} />
      <RenamePasskey passkey={renaming} onClose={() => setRenaming(undefined)} />
      <RemovePasskey passkey={removing} factors={factors} needsFactor={needsFactor} onClose={() => setRemoving(undefined)} />
    </>
  );
}

function PasskeyRow({ passkey, onRename, onRemove }: { passkey: Passkey; onRename: () => void; onRemove: () => void }) {
  const { name, kind, backed_up, created_at, last_used_at, cloned_at } = passkey;
  const Icon = kind === 'security_key' ? KeyRound : Fingerprint;
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
      <div className="flex min-w-0 flex-1 basis-56 items-start gap-2.5">
        <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{name}</span>
            {kind === 'security_key' && <Badge>Security key</Badge>}
            {backed_up && <Badge title="Its provider keeps a copy, so it’s on your other devices too.">Synced</Badge>}
            {cloned_at && <Badge tone="bad">Blocked</Badge>}
          </p>
          <p className="text-ink-3 text-xs">
            Added <Time value={created_at} format="date" /> ·{' '}
            {last_used_at ? (
              <>
                last used <Time value={last_used_at} />
              </>
            ) : (
              'never used'
            )}
          </p>
          {cloned_at && (
            <p className="mt-1 text-bad-ink text-xs">
              Its counter went back <Time value={cloned_at} />, so somebody may have copied it. It no longer works. Remove it and add a new
              one.
            </p>
          )}
        </div>
      </div>
      <div className="flex gap-2">
        <Button size="sm" onClick={onRename}>
          Rename<span className="sr-only"> {name}</span>
        </Button>
        <Button size="sm" variant="danger-quiet" onClick={onRemove}>
          Remove<span className="sr-only"> {name}</span>
        </Button>
      </div>
    </li>
  );
}

type RemoveProps = { passkey: Passkey | undefined; factors: Factors; needsFactor: boolean; onClose: () => void };

function RemovePasskey({ passkey, factors, needsFactor, onClose }: RemoveProps) {
  const call = usePersonCall();
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: (id: string) => call('DELETE', `/auth/passkeys/${id}`),
    onError: (error) => refusalOf(error).code === 'not_found' && notifyRefused(error),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ME });
      notifyDone('Passkey removed');
      onClose();
    },
  });
  const isLast = !factors.totp && factors.passkeys.length === 1;
  return (
    <ConfirmDanger
      open={passkey !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      title={`Remove ${passkey?.name ?? 'passkey'}?`}
      consequences={[
        'It can no longer sign you in or confirm actions.',
        ...(isLast ? [lastFactorConsequence(needsFactor)] : []),
        'Your device may still offer it. Delete it there too.',
      ]}
      confirmLabel="Remove passkey"
      space="live"
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => passkey && remove.mutate(passkey.id)}
    />
  );
}
