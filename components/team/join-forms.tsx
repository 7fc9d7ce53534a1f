'use client';

import { useState } from 'react';
import { callAuth, go, type SignedIn } from '#components/auth/call.ts';
import { PasswordInput } from '#components/auth/password-input.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { applyRefusal, Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';

const loadNewAccount = () => import('./schemas.ts').then((module) => module.NewAccount);

/** Joins with the account that is signed in. */
export function JoinForm({ token, csrf, workspace }: { token: string; csrf: string; workspace: string }) {
  const [refusal, setRefusal] = useState<RefusalView>();
  const [busy, setBusy] = useState(false);
  const join = async () => {
    setBusy(true);
    const answer = await callAuth<{ redirect_to: string }>(`/auth/invitations/${token}/accept`, {}, csrf);
    if (answer.ok) return go(answer.data.redirect_to);
    setBusy(false);
    setRefusal(answer.refusal);
  };
  return (
    <div className="flex flex-col gap-5">
      <Button variant="primary" size="lg" loading={busy} onClick={() => void join()} className="w-full">
        Join {workspace}
      </Button>
      {refusal && <Callout tone="bad" title={refusal.message} requestId={refusal.request_id} />}
    </div>
  );
}

/** Creates the account of the invited address and joins. */
export function JoinWithNewAccount({ token }: { token: string }) {
  const [refusal, setRefusal] = useState<RefusalView>();
  const form = useZodForm({ schema: loadNewAccount, defaultValues: { full_name: '', password: '' } });
  const join = async ({ full_name, password }: { full_name: string; password: string }) => {
    const answer = await callAuth<SignedIn>(`/auth/invitations/${token}/sign-up`, { full_name, ...(password ? { password } : {}) });
    if (answer.ok) return go(answer.data.redirect_to);
    setRefusal(applyRefusal(form, answer.refusal));
  };
  return (
    <Form form={form} onSubmit={join} refusal={refusal}>
      <Field label="Your name" error={fieldError(form, 'full_name')}>
        <Input {...form.register('full_name')} size="lg" autoComplete="name" autoFocus />
      </Field>
      <Field
        label="Password"
        optional
        hint="At least 12 characters. Without one, you sign in with a code we email you."
        error={fieldError(form, 'password')}
      >
        <PasswordInput {...form.register('password')} autoComplete="new-password" />
      </Field>
      <Button type="submit" variant="primary" size="lg" loading={form.formState.isSubmitting} className="w-full">
        Create account and join
      </Button>
    </Form>
  );
}
