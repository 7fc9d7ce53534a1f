'use client';

import { useState } from 'react';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { go, type SignInAnswer } from './call.ts';
import { CodeForm } from './code-form.tsx';
import { type Identity, SignInForm } from './sign-in-form.tsx';
import { SignInMethods } from './sign-in-methods.tsx';

type Step = 'identify' | 'choose' | 'mailed-code';

/** Signing in, one question at a time: who, then how. `next` is where the person wanted to go; `problem` why they are back here. */
export function SignInView({ next, email, problem }: { next: string | null; email: string; problem: string | undefined }) {
  const [who, setWho] = useState<Identity>({ email, keep: false });
  const [step, setStep] = useState<Step>(email === '' ? 'identify' : 'choose');
  const answered = (answer: SignInAnswer) => {
    if (answer.status === 'ok') return go(next ?? answer.redirect_to);
    // The browser has the token of the first factor as a cookie.
    go(next ? `${answer.redirect_to}?next=${encodeURIComponent(next)}` : answer.redirect_to);
  };
  return (
    <AuthLayout
      title="Sign in"
      description="Welcome back."
      footer={
        <>
          No account yet?{' '}
          <Link href="/signup" className="text-accent-ink underline underline-offset-2">
            Sign up
          </Link>
        </>
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
