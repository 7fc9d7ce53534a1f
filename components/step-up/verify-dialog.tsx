'use client';

import { Fingerprint } from 'lucide-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { callAuth } from '#components/auth/call.ts';
import { CodeInput } from '#components/auth/code-input.tsx';
import { type PasskeyRequest, signWithPasskey, supportsPasskeys } from '#components/auth/passkey.ts';
import { type Person, useMe } from '#components/me/use-me.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { type Challenge, settleChallenge } from './challenges.ts';

export type VerifyDialogProps = { open: boolean; challenge: Challenge & { kind: 'verify' }; onCancel: () => void };

type Method = 'passkey' | '2fa';
type Verified = { step_up_token: string };

/** A passkey first, the code of an authenticator app second; what was verified goes back to the call that waits. */
export function VerifyDialog({ open, challenge, onCancel }: VerifyDialogProps) {
  const me = useMe();
  const offered = me.data ? methodsOf(me.data.factors, challenge.methods) : undefined;
  const [chosen, setChosen] = useState<Method>();
  const method = chosen ?? offered?.[0];
  const [reason, setReason] = useState('');
  const [code, setCode] = useState('');
  const verify = useVerification(challenge, reason);
  const main = useRef<HTMLButtonElement>(null);
  const digits = useRef<HTMLInputElement>(null);
  const focused = method === '2fa' ? digits : main;
  // The factors may be known only after the dialog has opened.
  useEffect(() => {
    if (method && open) focused.current?.focus();
  }, [method, open, focused]);

  const submit = () => {
    if (method === 'passkey') void verify.byPasskey();
    else if (code.length === 6) void verify.byCode(code);
    else verify.setProblem('Enter the 6-digit code.');
  };
  const other = offered?.find((one) => one !== method);
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onCancel()}
      title="Confirm it’s you"
      description={challenge.message}
      initialFocus={focused as RefObject<HTMLElement | null>}
      footer={
        <>
          <Button onClick={onCancel}>Cancel</Button>
          <Button
            ref={main}
            variant="primary"
            icon={method === 'passkey' ? <Fingerprint /> : undefined}
            loading={verify.busy}
            disabledReason={method ? undefined : 'Loading your factors'}
            onClick={submit}
          >
            {method === 'passkey' ? 'Use a passkey' : 'Confirm'}
          </Button>
        </>
      }
    >
      {challenge.asks_reason && (
        <Field label="Reason" optional hint="Recorded in the audit log with your name.">
          <Input value={reason} maxLength={500} placeholder="Ticket or incident" onChange={(event) => setReason(event.target.value)} />
        </Field>
      )}
      {!me.data && (me.error ? <MutationError error={me.error} /> : <Skeleton lines={2} label="Loading your factors" />)}
      {method === '2fa' && (
        <Field label="Authenticator code" hint="The 6 digits your authenticator app shows now." error={verify.problem}>
          <CodeInput
            inputRef={digits}
            value={code}
            problem={verify.problem}
            disabled={verify.busy}
            onChange={(next) => {
              setCode(next);
              verify.setProblem(undefined);
            }}
            onComplete={(complete) => void verify.byCode(complete)}
          />
        </Field>
      )}
      {method === 'passkey' && verify.problem && <Callout tone="bad" title={verify.problem} />}
      {offered?.length === 0 && (
        <Callout tone="warn" title="This browser can’t use your passkeys">
          Open the dashboard in another browser, or add an authenticator app in Security there.
        </Callout>
      )}
      {other && (
        <div>
          <Button
            variant="ghost"
            size="sm"
            className="-ml-2"
            onClick={() => {
              setChosen(other);
              verify.setProblem(undefined);
            }}
          >
            {other === '2fa' ? 'Use an authenticator code' : 'Use a passkey'}
          </Button>
        </div>
      )}
    </Dialog>
  );
}

/** The person's own methods among those the call accepts, the passkey first. */
function methodsOf(factors: Person['factors'], allowed: readonly string[]): Method[] {
  const own: Method[] = [];
  if (factors.passkeys.length > 0 && supportsPasskeys()) own.push('passkey');
  if (factors.totp) own.push('2fa');
  return own.filter((method) => allowed.length === 0 || allowed.includes(method));
}

/** The two ceremonies (interface rule 22 §5.4). What one proves settles the challenge. */
function useVerification(challenge: Challenge & { kind: 'verify' }, reason: string) {
  const { csrf } = useScope();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const action_scope = challenge.scope;
  const told = reason.trim();
  const during = async (work: () => Promise<string | undefined>) => {
    setBusy(true);
    setProblem(undefined);
    setProblem(await work());
    setBusy(false);
  };
  const take = async (path: `/auth/${string}`, proof: object): Promise<string | undefined> => {
    const answer = await callAuth<Verified>(path, { ...proof, action_scope }, csrf);
    if (!answer.ok) return answer.refusal.message;
    const headers = { 'x-svc-stepup': answer.data.step_up_token };
    settleChallenge(challenge, told === '' ? headers : { ...headers, 'x-reveal-reason': encodeURIComponent(told) });
    return undefined;
  };
  const byCode = (code: string) => during(() => take('/auth/2fa/verify-step-up', { code }));
  const byPasskey = () =>
    during(async () => {
      const begun = await callAuth<PasskeyRequest>('/auth/2fa/webauthn/step-up-options', { action_scope }, csrf);
      if (!begun.ok) return begun.refusal.message;
      const signed = await signWithPasskey(begun.data.options);
      if (!('credential' in signed)) return signed.problem;
      return take('/auth/2fa/webauthn/verify-step-up', { credential: signed.credential, challenge: begun.data.challenge });
    });
  return { busy, problem, setProblem, byCode, byPasskey };
}
