'use client';

import { useEffect, useRef, useState } from 'react';
import { SETTLE_MS } from '#components/ui/use-settled.ts';
import { callAuth, type SignedIn } from './call.ts';
import { offersAutofill, type PasskeyRequest, signWithPasskey, stopCeremony, supportsPasskeys } from './passkey.ts';

export type PasskeySignIn = {
  /** Also offers passkeys in the list of the e-mail field, where the browser can. */
  autofill?: boolean;
  keep: () => boolean;
  onSignedIn: (answer: SignedIn) => void;
};

/** Challenges live for five minutes; an offer in the field is renewed before. */
const RENEW_MS = 4 * 60_000;

/** Signing in with a passkey alone: it says who the person is and counts as both factors (interface rule 22 §4.5). */
export function usePasskeySignIn({ autofill = false, keep, onSignedIn }: PasskeySignIn) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const attempt = async (offered: boolean, isLeft = () => false): Promise<string | undefined> => {
    const begun = await callAuth<PasskeyRequest>('/auth/passkey/login-options', {});
    if (isLeft()) return undefined;
    // Nobody asked for the offer, so nobody is told that it failed.
    if (!begun.ok) return offered ? undefined : begun.refusal.message;
    const signed = await signWithPasskey(begun.data.options, { autofill: offered });
    if (!('credential' in signed)) return offered ? undefined : signed.problem;
    setBusy(true);
    const { credential } = signed;
    const answer = await callAuth<SignedIn>('/auth/passkey/login', { credential, challenge: begun.data.challenge, keep: keep() });
    if (!answer.ok) return answer.refusal.message;
    onSignedIn(answer.data);
    // The next page is on its way: the button stays busy until it is there.
    return new Promise(() => undefined);
  };
  const latest = useRef(attempt);
  useEffect(() => {
    latest.current = attempt;
  });
  useEffect(() => {
    if (!autofill) return;
    let left = false;
    const offer = async () => {
      if (left || !(await offersAutofill()) || left) return;
      const told = await latest.current(true, () => left);
      setBusy(false);
      if (told) setProblem(told);
    };
    const timers = [setTimeout(() => void offer(), SETTLE_MS), setInterval(() => void offer(), RENEW_MS)];
    return () => {
      left = true;
      for (const timer of timers) clearTimeout(timer);
      void stopCeremony();
    };
  }, [autofill]);
  const signIn = async () => {
    if (!supportsPasskeys()) return setProblem('This browser doesn’t support passkeys. Sign in another way.');
    setBusy(true);
    setProblem(undefined);
    setProblem(await latest.current(false));
    setBusy(false);
  };
  return { busy, problem, signIn };
}
