'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { MailboxHint } from '#components/auth/mailbox-hint.tsx';
import { PasswordInput } from '#components/auth/password-input.tsx';
import { refusalOf, refusalView } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { applyRefusal, Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';
import { usePersonCall } from './person-calls.ts';
import type { EmailChange } from './schemas.ts';
import type { Person } from './use-me.ts';

const loadEmailChange = () => import('./schemas.ts').then((module) => module.EmailChange);

/** Asks for a new address. It counts once the link mailed to it was used; the old address gets a notice and, for 7 days, a way back. */
export function ChangeEmail({ me, open, onClose }: { me: Person; open: boolean; onClose: () => void }) {
  const call = usePersonCall();
  const [refusal, setRefusal] = useState<RefusalView>();
  const form = useZodForm({ schema: loadEmailChange, defaultValues: { email: '', password: '' } });
  const hasFactor = me.factors.totp || me.factors.passkeys.length > 0;
  const asksPassword = me.user.has_password && !hasFactor;
  const change = useMutation({
    mutationFn: ({ email, password }: z.output<typeof EmailChange>) =>
      call('POST', '/auth/email/change', asksPassword ? { email, password } : { email }),
    gcTime: 0,
    onError: (error) =>
      refusalOf(error).code === 'invalid_credentials'
        ? form.setError('password', { message: refusalOf(error).message }, { shouldFocus: true })
        : setRefusal(applyRefusal(form, refusalView(error))),
  });
  const close = () => {
    form.reset();
    change.reset();
    setRefusal(undefined);
    onClose();
  };
  const id = 'change-email';
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && close()}
      title="Change your email address"
      description={`You sign in with ${me.user.email} until you open the link in the email to the new address.`}
      footer={
        change.isSuccess ? (
          <Button variant="primary" onClick={close}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" form={id} variant="primary" loading={change.isPending}>
              Send link
            </Button>
          </>
        )
      }
    >
      {change.isSuccess ? (
        <>
          <Callout tone="good" title={`If ${change.variables.email} is free, we sent it a link`}>
            Open it to change your address. {me.user.email} gets a notice.
          </Callout>
          <MailboxHint />
        </>
      ) : (
        <Form
          id={id}
          form={form}
          refusal={refusal}
          onSubmit={(value) => {
            setRefusal(undefined);
            change.mutate(value);
          }}
        >
          <Field label="New email" required error={fieldError(form, 'email')}>
            <Input type="email" inputMode="email" autoComplete="email" {...form.register('email')} />
          </Field>
          {asksPassword && (
            <Field label="Current password" required error={fieldError(form, 'password')}>
              <PasswordInput autoComplete="current-password" {...form.register('password')} />
            </Field>
          )}
        </Form>
      )}
    </Dialog>
  );
}
