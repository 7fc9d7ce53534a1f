'use client';

import { MailCheck } from 'lucide-react';
import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { Field } from '#components/ui/field.tsx';
import { applyRefusal, Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { textLink } from '#components/ui/layout.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';
import { callAuth, go, type SignedIn } from './call.ts';
import { MailboxHint } from './mailbox-hint.tsx';
import { PasswordInput } from './password-input.tsx';

const loadSignUpFields = () => import('./schemas.ts').then((module) => module.SignUpFields);

/** Workspace, name, e-mail, password: the four things a workspace needs to begin. */
export function SignUpForm() {
  const [refusal, setRefusal] = useState<RefusalView>();
  const [mailedTo, setMailedTo] = useState<string>();
  const form = useZodForm({ schema: loadSignUpFields, defaultValues: { tenant_name: '', full_name: '', email: '', password: '' } });

  if (mailedTo) return <CheckMail email={mailedTo} onBack={() => setMailedTo(undefined)} />;

  const signUp = async (value: { tenant_name: string; full_name: string; email: string; password: string }) => {
    const answer = await callAuth<SignedIn | { status: 'check_mail' }>('/auth/signup', value);
    setRefusal(undefined);
    if (!answer.ok) return setRefusal(applyRefusal(form, answer.refusal));
    if (answer.data.status === 'ok') return go(answer.data.redirect_to);
    setMailedTo(value.email);
  };

  return (
    <Form form={form} onSubmit={signUp} refusal={refusal}>
      <Field label="Workspace name" hint="Your company or team name." error={fieldError(form, 'tenant_name')}>
        <Input {...form.register('tenant_name')} size="lg" autoComplete="organization" placeholder="Acme" autoFocus />
      </Field>
      <Field label="Your name" error={fieldError(form, 'full_name')}>
        <Input {...form.register('full_name')} size="lg" autoComplete="name" />
      </Field>
      <Field label="Email" error={fieldError(form, 'email')}>
        <Input {...form.register('email')} type="email" size="lg" autoComplete="email" inputMode="email" />
      </Field>
      <Field label="Password" hint="At least 12 characters. Longer beats complex." error={fieldError(form, 'password')}>
        <PasswordInput {...form.register('password')} autoComplete="new-password" />
      </Field>
      <Button type="submit" variant="primary" size="lg" loading={form.formState.isSubmitting} className="w-full">
        Create workspace
      </Button>
    </Form>
  );
}

/** The same for every address, whether or not it has an account. */
function CheckMail({ email, onBack }: { email: string; onBack: () => void }) {
  return (
    <div className="flex flex-col gap-5" role="status">
      <div className="flex gap-3 rounded-lg border border-line-strong bg-surface p-4">
        <MailCheck aria-hidden className="mt-0.5 size-5 shrink-0 text-accent-ink" />
        <div>
          <p className="font-medium">Check your email</p>
          <p className="mt-1 text-ink-2">
            We sent a link to <strong className="font-medium text-ink [overflow-wrap:anywhere]">{email}</strong>. Open it in this browser
            within 24 hours to finish signing up.
          </p>
        </div>
      </div>
      <p className="text-ink-2">
        No email after a few minutes? Check your spam folder, or{' '}
        <button type="button" className={cn(textLink, 'cursor-pointer')} onClick={onBack}>
          try again
        </button>
        .
      </p>
      <MailboxHint />
    </div>
  );
}
