'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Smartphone } from 'lucide-react';
import { useState } from 'react';
import { usePersonCall } from '#components/me/person-calls.ts';
import { ME } from '#components/me/use-me.ts';
import { isCancelled } from '#components/step-up/challenges.ts';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type FactorCardProps, lastFactorConsequence, type Setup } from './factor-text.ts';

const SetUpAuthenticator = lazyOverlay(
  () => import('./set-up-authenticator.tsx').then((module) => module.SetUpAuthenticator),
  ({ setup }) => setup !== undefined,
);

const MailedCode = lazyOverlay(() => import('./mailed-code.tsx').then((module) => module.MailedCode), whenOpen);

/** The app that shows a new code every 30 seconds. */
export function AuthenticatorCard({ factors, needsFactor, onCodes }: FactorCardProps) {
  const call = usePersonCall();
  const queryClient = useQueryClient();
  const [setup, setSetup] = useState<Setup>();
  const [removing, setRemoving] = useState(false);
  const [asksCode, setAsksCode] = useState(false);
  const begin = useMutation({
    mutationFn: (code?: string) => call<Setup>('POST', '/auth/2fa/setup', code === undefined ? {} : { code }),
    gcTime: 0,
    onSuccess: (begun) => {
      setAsksCode(false);
      setSetup(begun);
      // The secret is in the open dialog and nowhere else.
      begin.reset();
    },
    onError: (error, code) => {
      if (code !== undefined || isCancelled(error)) return;
      // Without a factor to confirm with, and not freshly signed in: a mailed code does instead.
      if (refusalOf(error).code === 'step_up_required') mail.mutate();
      else notifyRefused(error);
    },
  });
  const mail = useMutation({
    mutationFn: () => call('POST', '/auth/passkey/challenge'),
    onSuccess: () => setAsksCode(true),
    onError: (error) => notifyRefused(error),
  });
  const remove = useMutation({
    mutationFn: () => call('POST', '/auth/2fa/disable'),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ME });
      notifyDone('Authenticator app removed');
      setRemoving(false);
    },
  });
  const isLast = factors.passkeys.length === 0;
  return (
    <>
      <SectionCard
        title={<span className="flex flex-wrap items-center gap-2">Authenticator app {factors.totp && <Badge tone="good">On</Badge>}</span>}
        description={
          factors.totp ? (
            <>
              Shows a new code every 30 seconds. Set up <Time value={factors.totp_enabled_at} format="date" />.
            </>
          ) : (
            'An app such as 1Password, Google Authenticator or Authy shows a new code every 30 seconds.'
          )
        }
        className="pb-3.5"
        actions={
          <>
            <Button size="sm" icon={<Smartphone />} loading={begin.isPending || mail.isPending} onClick={() => begin.mutate(undefined)}>
              {factors.totp ? 'Replace' : 'Set up'}
              <span className="sr-only"> authenticator app</span>
            </Button>
            {factors.totp && (
              <Button size="sm" variant="danger-quiet" onClick={() => setRemoving(true)}>
                Remove<span className="sr-only"> authenticator app</span>
              </Button>
            )}
          </>
        }
      />
      <MailedCode
        open={asksCode}
        title="Set up an authenticator app"
        busy={begin.isPending}
        problem={begin.error ? refusalOf(begin.error).message : undefined}
        onCode={(code) => begin.mutate(code)}
        onResend={() => mail.mutate()}
        onClose={() => {
          setAsksCode(false);
          begin.reset();
        }}
      />
      <SetUpAuthenticator
        setup={setup}
        replaces={factors.totp}
        onClose={() => setSetup(undefined)}
        onDone={(codes) => {
          setSetup(undefined);
          void queryClient.invalidateQueries({ queryKey: ME });
          notifyDone('Authenticator app set up');
          onCodes(codes);
        }}
      />
      <ConfirmDanger
        open={removing}
        onOpenChange={(open) => {
          setRemoving(open);
          remove.reset();
        }}
        title="Remove the authenticator app?"
        consequences={[
          'Its codes no longer sign you in or confirm actions.',
          ...(isLast ? [lastFactorConsequence(needsFactor), 'Your recovery codes stop working.'] : []),
        ]}
        confirmLabel="Remove"
        space="live"
        busy={remove.isPending}
        error={remove.error ? refusalOf(remove.error) : undefined}
        onConfirm={() => remove.mutate()}
      />
    </>
  );
}
