'use client';

import { useState } from 'react';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { go, type SignInAnswer } from './call.ts';
import { CodeForm } from './code-form.tsx';
import { type Identity, SignInForm } from './sign-in-form.tsx';
import { SignInMethods } from './sign-in-methods.tsx';

type Step = 'identify' | 'choose' | 'mailed-code';

export type SignInViewProps = {
  /** Where the person wanted to go. */
  next: string | null;
  email: string;
  /** Why they are back here. */
  problem: string | undefined;
  /** Whether they are signed in, and something asks for a newer sign-in. */
  again: boolean;
};

/** Signing in, one question at a time: who, then how. */
export function SignInView({ next, email, problem, again }: SignInViewProps) {
  const [who, setWho] = useState<Identity>({ email, keep: false });
  const [step, setStep] = useState<Step>(email === '' ? 'identify' : 'choose');
  const answered = (answer: SignInAnswer) => {
    if (answer.status === 'ok') return go(next ?? answer.redirect_to);
    // The browser has the token of the first factor as a cookie.
    go(next ? `${answer.redirect_to}?next=${encodeURIComponent(next)}` : answer.redirect_to);
  };
  return (
    <AuthLayout
      title={again ? 'Sign in again' : 'Sign in'}
      description={again ? 'With the account that you use in the other tab.' : 'Welcome back.'}
      footer={
        again ? undefined : (
          <>
            No account yet?{' '}
            <Link href="/signup" className="text-accent-ink underline underline-offset-2">
              Sign up
            </Link>
          </>
        )
      }
    >
      {step === 'identify' && (
        <SignInForm
          who={who}
          problem={problem}
          onSignedIn={answered}
          onContinue={(identity) => {
            setWho(identity);
            setStep('choose');
          }}
        />
      )}
      {step === 'choose' && (
        <SignInMethods
          who={who}
          next={next}
          onAnswer={answered}
          onMailed={() => setStep('mailed-code')}
          onBack={() => setStep('identify')}
        />
      )}
      {step === 'mailed-code' && <CodeForm who={who} onAnswer={answered} onBack={() => setStep('choose')} />}
    </AuthLayout>
  );
}
