'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { PROVIDERS } from '#server/domain/keys/providers.shared.ts';
import type { KmsState } from '#server/domain/keys/schema.ts';

const KmsWizard = lazyPart(() => import('./kms-wizard.tsx').then((module) => module.KmsWizard));

type State = z.output<typeof KmsState>;
const nameOf = (provider: string) => PROVIDERS[provider as keyof typeof PROVIDERS] ?? provider;
const WHY: Record<string, string> = {
  access_denied: 'The KMS refuses its key: it is disabled, or the grant was removed.',
  unreachable: 'The KMS didn’t answer.',
  key_revoked: 'The key version in use was revoked for good. What it wrapped can’t be opened again.',
};

/** Who holds the workspace's key, whether it can be used, and what to do about it. */
export function KmsCard({ state }: { state: State }) {
  const forbidden = useForbidden('kms:onboard');
  const [adding, setAdding] = useState(false);
  const [opened, setOpened] = useState(false);
  const own = state.provider !== null;
  return (
    <SectionCard
      title={own ? nameOf(state.provider ?? '') : 'Held by this installation'}
      description={
        own
          ? 'Your KMS unwraps the workspace’s master key. Without it nothing stored here can be opened.'
          : 'The installation’s root key wraps the workspace’s master key. Use a KMS of your own to be able to take it away.'
      }
      actions={
        <Button
          variant={own ? 'secondary' : 'primary'}
          disabledReason={forbidden ?? (state.sealed_since ? 'Unseal the workspace first' : undefined)}
          onClick={() => {
            setOpened(true);
            setAdding(true);
          }}
        >
          {own ? 'Use another key' : 'Add provider'}
        </Button>
      }
    >
      {own && <Facts state={state} />}
      {opened && <KmsWizard open={adding} replacing={own} onClose={() => setAdding(false)} />}
    </SectionCard>
  );
}

function Facts({ state }: { state: State }) {
  return (
    <div className="flex flex-col gap-3">
      {state.sealed_since && (
        <Callout tone="bad" title="This workspace is sealed">
          {WHY[state.sealed_reason ?? ''] ?? 'Its key is unavailable.'}{' '}
          {state.sealed_reason !== 'key_revoked' &&
            'Calls that need a secret are refused. Nothing is lost: the workspace unseals by itself soon after the key can be used again.'}
        </Callout>
      )}
      <KeyValueList
        items={[
          {
            label: 'State',
            value: state.sealed_since ? (
              <span className="inline-flex flex-wrap items-center gap-x-2">
                <Status state="blocked">Sealed</Status>
                <Time value={state.sealed_since} />
              </span>
            ) : (
              <Status state={state.leaving ? 'off' : 'ok'}>{state.leaving ? 'Leaving' : 'In use'}</Status>
            ),
          },
          { label: 'Key', value: state.kms_key_ref, copy: state.kms_key_ref ?? '' },
          { label: 'Last verified', value: state.last_verified_at ? <Time value={state.last_verified_at} /> : null },
          ...(state.last_error ? [{ label: 'Last error', value: state.last_error }] : []),
        ]}
      />
      <Actions state={state} />
    </div>
  );
}

function Actions({ state }: { state: State }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { slug } = useScope();
  const [leaving, setLeaving] = useState(false);
  const unsealing = useForbidden('kms:unseal');
  const unturned = useForbidden('kms:onboard');
  const told = async (message: string) => {
    notifyDone(message);
    await cache.invalidateQueries(trpc.tenantKeys.pathFilter());
  };
  const refresh = () => cache.invalidateQueries(trpc.tenantKeys.pathFilter());
  const verify = useMutation(
    trpc.tenantKeys.verify.mutationOptions({ onSuccess: () => told('The KMS wrapped and unwrapped a test value'), onError: refresh }),
  );
  const unseal = useMutation(trpc.tenantKeys.unseal.mutationOptions({ onSuccess: () => told('Unsealed'), onError: refresh }));
  const offboard = useMutation(
    trpc.tenantKeys.offboard.mutationOptions({
      onSuccess: async () => {
        setLeaving(false);
        await told('Leaving. The KMS is forgotten when everything is re-encrypted.');
      },
    }),
  );
  const error = verify.error ?? unseal.error;
  return (
    <>
      {error && <Callout tone="bad" title={refusalOf(error).message} requestId={refusalOf(error).request_id} />}
      <div className="flex flex-wrap gap-2">
        <Button loading={verify.isPending} onClick={() => verify.mutate({})}>
          Verify
        </Button>
        {state.sealed_since && state.sealed_reason !== 'key_revoked' && (
          <Button variant="primary" loading={unseal.isPending} disabledReason={unsealing} onClick={() => unseal.mutate({})}>
            Unseal
          </Button>
        )}
        {!state.leaving && (
          <Button
            variant="ghost"
            disabledReason={unturned ?? (state.sealed_since ? 'Unseal the workspace first' : undefined)}
            onClick={() => setLeaving(true)}
          >
            Leave BYOK
          </Button>
        )}
      </div>
      <ConfirmDanger
        open={leaving}
        onOpenChange={(open) => {
          setLeaving(open);
          offboard.reset();
        }}
        title="Leave your own KMS?"
        consequences={[
          'A new version of the master key is wrapped by this installation’s root key.',
          'Stored values are re-encrypted in the background. Keep your KMS key usable until that is done.',
          'Afterwards you can no longer lock the workspace from your side.',
        ]}
        confirmLabel="Leave BYOK"
        resourceName={slug}
        space="live"
        busy={offboard.isPending}
        error={offboard.error ? refusalOf(offboard.error) : undefined}
        onConfirm={() => offboard.mutate({})}
      />
    </>
  );
}
