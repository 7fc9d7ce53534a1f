'use client';

import { useState } from 'react';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { applyRefusal, Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';
import { callAuth } from './call.ts';
import { MailboxHint } from './mailbox-hint.tsx';
import { PasswordInput } from './password-input.tsx';

const loadForgotPassword = () => import('./schemas.ts').then((module) => module.ForgotPassword);
const loadResetPassword = () => import('./schemas.ts').then((module) => module.ResetPassword);

/** Asks for a reset link. The answer is the same for every address. */
export function ForgotForm() {
  const [refusal, setRefusal] = useState<RefusalView>();
  const [sent, setSent] = useState(false);
  const form = useZodForm({ schema: loadForgotPassword, defaultValues: { email: '' } });
  if (sent)
    return (
      <div className="flex flex-col gap-5" role="status">
        <Callout tone="good" title="Check your email">
          If this address has an account, we sent it a link to choose a new password. The link expires in 60 minutes.
        </Callout>
        <MailboxHint />
      </div>
    );
  const send = async (value: { email: string }) => {
    const answer = await callAuth('/auth/password/forgot', value);
    if (answer.ok) setSent(true);
    else setRefusal(applyRefusal(form, answer.refusal));
  };
  return (
    <Form form={form} onSubmit={send} refusal={refusal}>
      <Field label="Email" error={fieldError(form, 'email')}>
        <Input {...form.register('email')} type="email" size="lg" autoComplete="username" inputMode="email" autoFocus />
      </Field>
      <Button type="submit" variant="primary" size="lg" loading={form.formState.isSubmitting} className="w-full">
        Send reset link
      </Button>
    </Form>
  );
}

/** Sets the password with the token of a mailed link. */
export function ResetForm({ token }: { token: string }) {
  const [refusal, setRefusal] = useState<RefusalView>();
  const [done, setDone] = useState(false);
  const form = useZodForm({ schema: loadResetPassword, defaultValues: { token, new: '' } });
  if (done)
    return (
      <div className="flex flex-col gap-5" role="status">
        <Callout tone="good" title="Password changed">
          You’ve been signed out everywhere. Sign in with your new password.
        </Callout>
        <LinkButton href="/signin" variant="primary" size="lg">
          Sign in
        </LinkButton>
      </div>
    );
  const reset = async (value: { token: string; new: string }) => {
    const answer = await callAuth('/auth/password/reset', value);
    if (answer.ok) setDone(true);
    else setRefusal(applyRefusal(form, answer.refusal));
  };
  return (
    <Form form={form} onSubmit={reset} refusal={refusal}>
      <Field label="New password" hint="At least 12 characters. Longer beats complex." error={fieldError(form, 'new')}>
        <PasswordInput {...form.register('new')} autoComplete="new-password" autoFocus />
      </Field>
      <Button type="submit" variant="primary" size="lg" loading={form.formState.isSubmitting} className="w-full">
        Change password
      </Button>
    </Form>
  );
}
