'use client';

import { ExternalLink } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { callAuth, SIGNED_IN_AGAIN } from '#components/auth/call.ts';
import { type Person, useMe } from '#components/me/use-me.ts';
import { useScope, useTakeCsrf } from '#components/trpc/provider.tsx';
import { Button, PlainLinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { type PlainChallenge, settleChallenge } from './challenges.ts';

type SignInDialogProps = { open: boolean; challenge: PlainChallenge; onCancel: () => void };

/** For calls that take a new sign-in. It happens in another tab, so that this one keeps what was typed; then the call goes on with the new session. */
export function SignInDialog({ open, challenge, onCancel }: SignInDialogProps) {
  const [begun, setBegun] = useState(false);
  const me = useMe();
  const { busy, problem, retry } = useNewSession(challenge, me.data?.user.email);
  const link = useRef<HTMLAnchorElement>(null);
  const again = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (begun) again.current?.focus();
  }, [begun]);
  const query = new URLSearchParams({ next: SIGNED_IN_AGAIN, ...(me.data ? { email: me.data.user.email } : {}) });
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onCancel()}
      title="Sign in again"
      description={challenge.message}
      initialFocus={link}
      footer={
        <>
          <Button onClick={onCancel}>Cancel</Button>
          <PlainLinkButton
            ref={link}
            href={`/signin?${query}`}
            target="_blank"
            rel="noopener"
            variant={begun ? 'secondary' : 'primary'}
            icon={<ExternalLink />}
            onClick={() => {
              setBegun(true);
              again.current?.focus();
            }}
          >
            Sign in again
            <span className="sr-only"> in a new tab</span>
          </PlainLinkButton>
          {begun && (
            <Button ref={again} variant="primary" loading={busy} onClick={() => void retry()}>
              Try again
            </Button>
          )}
        </>
      }
    >
      <p className="text-ink-2">
        {begun
          ? 'Sign in in the other tab. Then come back here and press Try again.'
          : 'Sign-in opens in a new tab. This page stays as it is and keeps what you typed.'}
      </p>
      {problem && <Callout tone="bad" title={problem} />}
    </Dialog>
  );
}

/** Goes on with the session that the browser has now, if it's a new one of the same person. */
function useNewSession(challenge: PlainChallenge, email: string | undefined) {
  const { csrf, person } = useScope();
  const take = useTakeCsrf();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const retry = async () => {
    setBusy(true);
    setProblem(undefined);
    const answer = await callAuth<Person>('/auth/me');
    setBusy(false);
    if (!answer.ok) return setProblem(answer.refusal.message);
    const { user, csrf_token } = answer.data;
    if (user.id !== person)
      return setProblem(
        `You’re signed in as ${user.email} now. Sign in again${email === undefined ? ' with the account of this page' : ` as ${email}`}.`,
      );
    if (csrf_token === csrf) return setProblem('You haven’t signed in again yet. Finish signing in in the other tab, then try again.');
    take(csrf_token);
    settleChallenge(challenge, { 'x-csrf-token': csrf_token });
  };
  return { busy, problem, retry };
}
