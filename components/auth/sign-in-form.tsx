'use client';

import { Fingerprint } from 'lucide-react';
import { Controller } from 'react-hook-form';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import type { SignedIn } from './call.ts';
import { usePasskeySignIn } from './use-passkey-sign-in.ts';

/** Who wants to sign in, and for how long. */
export type Identity = { email: string; keep: boolean };

export type SignInFormProps = {
  who: Identity;
  /** Why the person is back here. */
  problem?: string | undefined;
  onContinue: (who: Identity) => void;
  onSignedIn: (answer: SignedIn) => void;
};

const loadSignInStart = () => import('./schemas.ts').then((module) => module.SignInStart);

/** The address first. A passkey needs none: the browser offers it in the field, or by the button. */
export function SignInForm({ who, problem, onContinue, onSignedIn }: SignInFormProps) {
  const form = useZodForm({ schema: loadSignInStart, defaultValues: who });
  const passkey = usePasskeySignIn({ autofill: true, keep: () => Boolean(form.getValues('keep')), onSignedIn });
  const told = passkey.problem ?? problem;
  return (
    <Form form={form} onSubmit={({ email, keep }) => onContinue({ email, keep: Boolean(keep) })}>
      {told && <Callout tone="bad" title={told} />}
      <Field label="Email" error={fieldError(form, 'email')}>
        <Input {...form.register('email')} type="email" size="lg" autoComplete="username webauthn" inputMode="email" autoFocus />
      </Field>
      <Controller
        control={form.control}
        name="keep"
        render={({ field }) => (
          <Checkbox
            checked={Boolean(field.value)}
            onCheckedChange={field.onChange}
            label="Keep me signed in"
            description="For up to 30 days on this device. You’re signed out after 14 days of inactivity."
          />
        )}
      />
      <Button type="submit" variant="primary" size="lg" loading={form.formState.isSubmitting} className="w-full">
        Continue
      </Button>
      <Or />
      <Button size="lg" icon={<Fingerprint />} loading={passkey.busy} onClick={() => void passkey.signIn()} className="w-full">
        Sign in with a passkey
      </Button>
    </Form>
  );
}

/** Between the main way and the others. */
export const Or = () => (
  <div className="flex items-center gap-3 text-ink-3 text-xs before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
    or
  </div>
);
