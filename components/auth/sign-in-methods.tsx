'use client';

import { Fingerprint, Mail } from 'lucide-react';
import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { applyRefusal, Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Link } from '#components/ui/link.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';
import { callAuth, type SignInAnswer } from './call.ts';
import { PasswordInput } from './password-input.tsx';
import { type Identity, Or } from './sign-in-form.tsx';
import { SsoLink, useDomainSso } from './sso-option.tsx';
import { usePasskeySignIn } from './use-passkey-sign-in.ts';

export type SignInMethodsProps = {
  who: Identity;
  next: string | null;
  onAnswer: (answer: SignInAnswer) => void;
  onMailed: () => void;
  onBack: () => void;
};

const loadSignInPassword = () => import('./schemas.ts').then((module) => module.SignInPassword);

/** How to sign in with an address: the same ways for every address, so that the page does not tell which ones have an account. */
export function SignInMethods({ who, next, onAnswer, onMailed, onBack }: SignInMethodsProps) {
  const [refusal, setRefusal] = useState<RefusalView>();
  const [mailing, setMailing] = useState(false);
  const passkey = usePasskeySignIn({ keep: () => who.keep, onSignedIn: onAnswer });
  const { sso, required } = useDomainSso(who.email);
  const form = useZodForm({ schema: loadSignInPassword, defaultValues: { password: '' } });
  const signIn = async ({ password }: { password: string }) => {
    const answer = await callAuth<SignInAnswer>('/auth/login', { ...who, password });
    if (answer.ok) return onAnswer(answer.data);
    setRefusal(applyRefusal(form, answer.refusal));
  };
  const mailCode = async () => {
    setMailing(true);
    const answer = await callAuth('/auth/magic/start', { email: who.email });
    setMailing(false);
    if (answer.ok) onMailed();
    else setRefusal(answer.refusal);
  };
  return (
    <Form form={form} onSubmit={signIn} refusal={refusal}>
      <div className="flex items-baseline justify-between gap-3 rounded-md border border-line bg-subtle px-3 py-2">
        <span className="min-w-0 truncate" title={who.email}>
          {who.email}
        </span>
        <button type="button" onClick={onBack} className="shrink-0 cursor-pointer text-accent-ink text-xs hover:underline">
          Change<span className="sr-only"> email</span>
        </button>
      </div>
      {required && (
        <>
          <Callout title="Your organization requires single sign-on." />
          <SsoLink email={who.email} next={next} primary />
          <Or />
        </>
      )}
      {/* Password managers find the password by this name. */}
      <input type="hidden" autoComplete="username" value={who.email} readOnly />
      <Field
        label="Password"
        error={fieldError(form, 'password')}
        action={
          <Link href="/forgot" className="text-accent-ink text-xs hover:underline">
            Forgot password?
          </Link>
        }
      >
        <PasswordInput {...form.register('password')} autoComplete="current-password" autoFocus />
      </Field>
      <Button type="submit" variant={required ? 'secondary' : 'primary'} size="lg" loading={form.formState.isSubmitting} className="w-full">
        Sign in
      </Button>
      <Or />
      {passkey.problem && <Callout tone="bad" title={passkey.problem} />}
      <div className="flex flex-col gap-2.5">
        {sso && !required && <SsoLink email={who.email} next={next} />}
        <Button size="lg" icon={<Fingerprint />} loading={passkey.busy} onClick={() => void passkey.signIn()} className="w-full">
          Use a passkey
        </Button>
        <Button size="lg" icon={<Mail />} loading={mailing} onClick={() => void mailCode()} className="w-full">
          Email me a code
        </Button>
      </div>
    </Form>
  );
}
