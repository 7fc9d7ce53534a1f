'use client';

import { ArrowLeft } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { callAuth, type SignInAnswer } from './call.ts';
import { CodeInput } from './code-input.tsx';
import { MailboxHint } from './mailbox-hint.tsx';
import type { Identity } from './sign-in-form.tsx';

export type CodeFormProps = { who: Identity; onAnswer: (answer: SignInAnswer) => void; onBack: () => void };

/** The six digits of a mail. Complete ones are sent at once, so that a pasted code needs no click. */
export function CodeForm({ who, onAnswer, onBack }: CodeFormProps) {
  const { email } = who;
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [sentAgain, setSentAgain] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  const verify = async (digits: string) => {
    setBusy(true);
    const answer = await callAuth<SignInAnswer>('/auth/magic/verify', { ...who, code: digits });
    if (answer.ok) return onAnswer(answer.data);
    setBusy(false);
    setProblem(answer.refusal.message);
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
        <CodeInput
          inputRef={input}
          value={code}
          problem={problem}
          disabled={busy}
          autoFocus
          onChange={(digits) => {
            setCode(digits);
            setProblem(undefined);
          }}
          onComplete={(digits) => void verify(digits)}
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
