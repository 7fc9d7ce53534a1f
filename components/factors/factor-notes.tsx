'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { usePersonCall } from '#components/me/person-calls.ts';
import type { Person } from '#components/me/use-me.ts';
import { useRenewedSession } from '#components/me/use-renewed-session.ts';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

const MailedCode = lazyOverlay(() => import('./mailed-code.tsx').then((module) => module.MailedCode), whenOpen);

/** Back to what asked for a factor, once there is one; and until then, why the person should add one. */
export function MissingFactorNote({ hasFactor, needsFactor, next }: { hasFactor: boolean; needsFactor: boolean; next: string | null }) {
  if (hasFactor)
    return next ? (
      <Callout
        tone="good"
        title="You have a second factor"
        actions={
          <LinkButton size="sm" variant="primary" href={next}>
            Continue where you were
          </LinkButton>
        }
      />
    ) : null;
  if (!needsFactor && !next) return null;
  return (
    <Callout tone="warn" title="Add a second factor">
      {needsFactor
        ? 'You’re an Owner or Admin. Until you add a passkey or an authenticator app, you can’t reveal values, and a stolen password is enough to take over your workspaces.'
        : 'Add a passkey or an authenticator app to continue. It takes less than a minute.'}
    </Callout>
  );
}

/** How long after its sign-in a session may replace lost factors (server/domain/factors/recovery.ts). */
const RECOVERY_MS = 15 * 60_000;

/** After signing in with a recovery code: a way to replace the factors that are gone. It confirms nothing else. */
export function RecoveredNote({ me }: { me: Person }) {
  const call = usePersonCall();
  const [asking, setAsking] = useState(false);
  const mail = useMutation({
    mutationFn: () => call('POST', '/auth/2fa/recovery/challenge'),
    onSuccess: () => setAsking(true),
  });
  const renewed = useRenewedSession();
  const reset = useMutation({
    mutationFn: (code: string) => call('POST', '/auth/2fa/recovery/reset', { code }),
    onSuccess: async () => {
      await renewed();
      setAsking(false);
      notifyDone('Lost factors removed. All other sessions and connected apps are signed out.');
    },
  });
  const hasFactor = me.factors.totp || me.factors.passkeys.length > 0;
  if (!hasFactor || !me.session.auth_methods.includes('recovery')) return null;
  const tooLate = Date.now() - new Date(me.session.created_at).getTime() > RECOVERY_MS;
  return (
    <>
      <Callout
        tone="warn"
        title="You signed in with a recovery code"
        actions={
          tooLate ? undefined : (
            <Button size="sm" loading={mail.isPending} onClick={() => mail.mutate()}>
              Replace lost factors
            </Button>
          )
        }
      >
        {tooLate
          ? 'If you lost your device, sign in with another recovery code: you can replace your factors for 15 minutes.'
          : 'If you lost your device, replace your factors now. You have 15 minutes from signing in.'}
      </Callout>
      <MutationError error={mail.error} />
      <MailedCode
        open={asking}
        title="Replace lost factors"
        confirmLabel="Remove and sign out"
        danger
        busy={reset.isPending}
        problem={reset.error ? refusalOf(reset.error).message : undefined}
        onCode={(code) => reset.mutate(code)}
        onResend={() => mail.mutate()}
        onClose={() => {
          setAsking(false);
          reset.reset();
        }}
      >
        <p className="text-ink-2">
          This removes all your passkeys, your authenticator app and your recovery codes, and signs you out everywhere else. Then you add a
          new one here.
        </p>
      </MailedCode>
    </>
  );
}
