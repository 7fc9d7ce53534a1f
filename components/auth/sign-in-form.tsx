'use client';

import { Mail } from 'lucide-react';
import { useState } from 'react';
import { Controller } from 'react-hook-form';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { applyRefusal, Form, fieldError, insistOn, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Link } from '#components/ui/link.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';
import { callAuth, go, type SignedIn } from './call.ts';
import { CodeForm } from './code-form.tsx';
import { PasswordInput } from './password-input.tsx';

const loadSignInFields = () => import('./schemas.ts').then((module) => module.SignInFields);

/** E-mail and password, or a code by mail for who has none or forgot it. `next` is where the person wanted to go. */
export function SignInForm({ next, email }: { next: string | null; email: string }) {
  const [refusal, setRefusal] = useState<RefusalView>();
  const [codeFor, setCodeFor] = useState<{ email: string; keep: boolean }>();
  const [sending, setSending] = useState(false);
  const form = useZodForm({ schema: loadSignInFields, defaultValues: { email, password: '', keep: false } });

  if (codeFor) return <CodeForm {...codeFor} next={next} onBack={() => setCodeFor(undefined)} />;

  const signIn = async (value: { email: string; password: string; keep: boolean }) => {
    const answer = await callAuth<SignedIn>('/auth/login', value);
    if (answer.ok) return go(next ?? answer.data.redirect_to);
    setRefusal(applyRefusal(form, answer.refusal));
  };
  const mailCode = async () => {
    if (!(await insistOn(form, 'email'))) return;
    setSending(true);
    const { email, keep } = form.getValues();
    const answer = await callAuth('/auth/magic/start', { email });
    setSending(false);
    if (answer.ok) setCodeFor({ email, keep: Boolean(keep) });
    else setRefusal(applyRefusal(form, answer.refusal));
  };

  return (
    <Form form={form} onSubmit={signIn} refusal={refusal}>
      <Field label="Email" error={fieldError(form, 'email')}>
        <Input {...form.register('email')} type="email" size="lg" autoComplete="username" inputMode="email" autoFocus={email === ''} />
      </Field>
      <Field
        label="Password"
        error={fieldError(form, 'password')}
        action={
          <Link href="/forgot" className="text-accent-ink text-xs hover:underline">
            Forgot password?
          </Link>
        }
      >
        <PasswordInput {...form.register('password')} autoComplete="current-password" autoFocus={email !== ''} />
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
        Sign in
      </Button>
      <div className="flex items-center gap-3 text-ink-3 text-xs before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        or
      </div>
      <Button size="lg" icon={<Mail />} loading={sending} onClick={() => void mailCode()} className="w-full">
        Email me a code
      </Button>
    </Form>
  );
}
