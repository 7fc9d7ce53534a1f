'use client';

import { ArrowLeft, Fingerprint } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { callAuth, type SignedIn } from './call.ts';
import { CodeInput } from './code-input.tsx';
import { type PasskeyRequest, signWithPasskey, supportsPasskeys } from './passkey.ts';

type Method = 'passkey' | '2fa' | 'recovery';
/** The sign-in that this browser began; its cookie stands for the first factor, for five minutes and five tries. */
export type PendingLogin = { email: string; methods: readonly Method[] };

export type SecondFactorFormProps = {
  pending: PendingLogin;
  onSignedIn: (answer: SignedIn) => void;
  /** Back to the beginning; `ended` when the first factor no longer counts. */
  onBack: (ended: boolean) => void;
};

/** After a password, a mailed code or a link: a passkey, the code of an authenticator app, or a recovery code. */
export function SecondFactorForm({ pending, onSignedIn, onBack }: SecondFactorFormProps) {
  const methods = pending.methods.filter((method) => method !== 'passkey' || supportsPasskeys());
  const [method, setMethod] = useState<Method>(methods[0] ?? 'recovery');
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const digits = useRef<HTMLInputElement>(null);
  const passkey = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (method === 'passkey') passkey.current?.focus();
  }, [method]);

  const send = async (proof: object) => {
    const answer = await callAuth<SignedIn>('/auth/login/mfa', { method, ...proof });
    if (answer.ok) return onSignedIn(answer.data);
    setBusy(false);
    // The first factor is used up or too old: nothing on this page helps any more.
    if (answer.refusal.type === 'not_authenticated' || answer.refusal.type === 'invalid_credentials') return onBack(true);
    setProblem(answer.refusal.message);
  };
  const byCode = (text: string) => {
    setBusy(true);
    void send({ code: text });
  };
  const byPasskey = async () => {
    setBusy(true);
    setProblem(undefined);
    const begun = await callAuth<PasskeyRequest>('/auth/login/mfa/options', {});
    const signed = begun.ok ? await signWithPasskey(begun.data.options) : { problem: begun.refusal.message };
    if (begun.ok && 'credential' in signed) return send({ credential: signed.credential, challenge: begun.data.challenge });
    setBusy(false);
    setProblem('problem' in signed ? signed.problem : undefined);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (method === 'passkey') void byPasskey();
    else if (method === '2fa' && code.length !== 6) setProblem('Enter the 6-digit code.');
    else if (code.trim() === '') setProblem('Enter a recovery code.');
    else byCode(code);
  };
  const change = (next: Method) => {
    setMethod(next);
    setCode('');
    setProblem(undefined);
  };
  const type = (text: string) => {
    setCode(text);
    setProblem(undefined);
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-5">
      {method === 'passkey' && problem && <Callout tone="bad" title={problem} />}
      {method === '2fa' && (
        <Field label="Authenticator code" hint="The 6 digits your authenticator app shows now." error={problem}>
          <CodeInput
            key="2fa"
            inputRef={digits}
            value={code}
            problem={problem}
            disabled={busy}
            onChange={type}
            onComplete={byCode}
            autoFocus
          />
        </Field>
      )}
      {method === 'recovery' && (
        <Field
          label="Recovery code"
          hint="One of the 10 codes you saved when you set up your second factor. It works once."
          error={problem}
        >
          <Input
            value={code}
            onChange={(event) => type(event.target.value)}
            mono
            size="lg"
            autoComplete="off"
            autoFocus
            disabled={busy}
            placeholder="XXXX-XXXX-XXXX"
          />
        </Field>
      )}
      <Button
        ref={passkey}
        type="submit"
        variant="primary"
        size="lg"
        icon={method === 'passkey' ? <Fingerprint /> : undefined}
        loading={busy}
        className="w-full"
      >
        {method === 'passkey' ? 'Use a passkey' : 'Sign in'}
      </Button>
      <div className="flex flex-col items-start">
        {methods
          .filter((other) => other !== method)
          .map((other) => (
            <Button key={other} variant="ghost" className="-ml-3" onClick={() => change(other)}>
              {WORDS[other]}
            </Button>
          ))}
        <Button variant="ghost" icon={<ArrowLeft />} className="-ml-3" onClick={() => onBack(false)}>
          Back
        </Button>
      </div>
    </form>
  );
}

const WORDS: Record<Method, string> = {
  passkey: 'Use a passkey',
  '2fa': 'Use an authenticator code',
  recovery: 'Lost your device? Use a recovery code',
};
