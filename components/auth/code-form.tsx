'use client';

import { ArrowLeft } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { callAuth, go, type SignedIn } from './call.ts';
import { MailboxHint } from './mailbox-hint.tsx';

export type CodeFormProps = { email: string; keep: boolean; next: string | null; onBack: () => void };

/** The six digits of a mail. Complete ones are sent at once, so that a pasted code needs no click. */
export function CodeForm({ email, keep, next, onBack }: CodeFormProps) {
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [sentAgain, setSentAgain] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  const verify = async (digits: string) => {
    setBusy(true);
    const answer = await callAuth<SignedIn>('/auth/magic/verify', { email, code: digits, keep });
    if (answer.ok) return go(next ?? answer.data.redirect_to);
    setBusy(false);
    setProblem(answer.refusal.message);
    input.current?.select();
  };
  const type = (text: string) => {
    const digits = text.replace(/\D/g, '').slice(0, 6);
    setCode(digits);
    setProblem(undefined);
    if (digits.length === 6 && digits !== code) void verify(digits);
  };
  const again = async () => {
    const answer = await callAuth('/auth/magic/start', { email });
    setSentAgain(answer.ok);
    setProblem(answer.ok ? undefined : answer.refusal.message);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (code.length === 6) void verify(code);
    else setProblem('Enter the 6-digit code.');
  };

  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-5">
      <p className="text-ink-2">
        If <strong className="font-medium text-ink [overflow-wrap:anywhere]">{email}</strong> has an account, we sent it an email with a
        code and a link. Both expire in 10 minutes.
      </p>
      <Field label="Code" error={problem}>
        <Input
          ref={input}
          value={code}
          onChange={(event) => type(event.target.value)}
          mono
          size="lg"
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
          disabled={busy}
          placeholder="000000"
          className="h-12 text-center text-xl tracking-[0.4em]"
        />
      </Field>
      <Button type="submit" variant="primary" size="lg" loading={busy} className="w-full">
        Sign in
      </Button>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Button variant="ghost" icon={<ArrowLeft />} onClick={onBack}>
          Back
        </Button>
        <Button variant="ghost" onClick={() => void again()}>
          {sentAgain ? 'Email sent' : 'Resend email'}
        </Button>
      </div>
      <MailboxHint />
    </form>
  );
}
