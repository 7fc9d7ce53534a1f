'use client';

import { useMutation } from '@tanstack/react-query';
import type { z } from 'zod';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { usePersonCall } from './person-calls.ts';
import type { PasswordChange } from './schemas.ts';
import { useRenewedSession } from './use-renewed-session.ts';

const loadPasswordChange = () => import('./schemas.ts').then((module) => module.PasswordChange);

/** Changing it ends every other session and every login of an application. Somebody without a password gets a link by mail instead. */
export function PasswordCard({ hasPassword, email }: { hasPassword: boolean; email: string }) {
  return (
    <SectionCard
      title="Password"
      description={
        hasPassword
          ? 'Changing it signs you out of all other sessions, and signs out your connected apps.'
          : 'You don’t have a password yet. You sign in with a code or link sent by email.'
      }
    >
      {hasPassword ? <ChangeForm email={email} /> : <AskForLink email={email} />}
    </SectionCard>
  );
}

function ChangeForm({ email }: { email: string }) {
  const call = usePersonCall();
  const form = useZodForm({ schema: loadPasswordChange, defaultValues: { current: '', new: '' } });
  const { refusal, refuse, clear } = useFormRefusal(form);
  const renewed = useRenewedSession();
  const change = useMutation({
    mutationFn: (input: z.output<typeof PasswordChange>) =>
      call<{ ended: { sessions: number; apps: number } }>('POST', '/auth/password/change', input),
    gcTime: 0,
    onError: (error) =>
      refusalOf(error).code === 'invalid_credentials'
        ? form.setError('current', { message: refusalOf(error).message }, { shouldFocus: true })
        : refuse(error),
    onSuccess: async ({ ended }) => {
      form.reset();
      await renewed();
      notifyDone(`Password changed. ${counted(ended.sessions, 'other session')} and ${counted(ended.apps, 'connected app')} signed out.`);
    },
  });
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        change.mutate(value);
      }}
      className="max-w-md"
    >
      {/* Password managers file the new password under this name. */}
      <input type="hidden" autoComplete="username" value={email} readOnly />
      <Field label="Current password" required error={fieldError(form, 'current')}>
        <Input type="password" autoComplete="current-password" {...form.register('current')} />
      </Field>
      <Field label="New password" required error={fieldError(form, 'new')} hint="At least 12 characters. Longer beats complex.">
        <Input type="password" autoComplete="new-password" {...form.register('new')} />
      </Field>
      <div>
        <Button type="submit" loading={change.isPending}>
          Change password
        </Button>
      </div>
    </Form>
  );
}

function AskForLink({ email }: { email: string }) {
  const call = usePersonCall();
  const ask = useMutation({ mutationFn: () => call('POST', '/auth/password/forgot', { email }) });
  return (
    <div className="flex flex-col items-start gap-3">
      {ask.isSuccess && <Callout tone="good" title={`We sent a link to ${email}`} />}
      <MutationError error={ask.error} />
      <Button loading={ask.isPending} onClick={() => ask.mutate()}>
        Email me a link to set a password
      </Button>
    </div>
  );
}
