'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createPasskey, supportsPasskeys } from '#components/auth/passkey.ts';
import { deviceOf } from '#components/me/device.ts';
import { usePersonCall } from '#components/me/person-calls.ts';
import { ME, type Person } from '#components/me/use-me.ts';
import { isCancelled } from '#components/step-up/challenges.ts';
import { refusalOf } from '#components/trpc/refusal.ts';
import { notifyDone, notifyFailed } from '#components/ui/toaster.tsx';

type Options = { options: Parameters<typeof createPasskey>[0]; challenge: string };
/** The first factor of an account brings recovery codes. */
type Registered = { recovery_codes: readonly string[] | null };
type Created = { credential: object; challenge: string };

/** `code`: the mailed code is asked for; `name`: the device has made the passkey and it wants a name. */
export type Stage = 'idle' | 'starting' | 'code' | 'creating' | 'name' | 'saving';
export type Registration = ReturnType<typeof usePasskeyRegistration>;

/**
 * Adding a passkey (interface rule 22 §5.3). An account with a factor confirms by it, in the shared dialog; one without gets a code by mail. The device
 * makes the passkey, and it counts once it was named and saved.
 */
export function usePasskeyRegistration({ totp, passkeys }: Person['factors'], onCodes: (codes: readonly string[]) => void) {
  const call = usePersonCall();
  const queryClient = useQueryClient();
  const [stage, setStage] = useState<Stage>('idle');
  const [problem, setProblem] = useState<string>();
  const [created, setCreated] = useState<Created>();

  const cancel = () => {
    setStage('idle');
    setProblem(undefined);
    setCreated(undefined);
  };
  /** Shows a failure where the person is: in the open dialog, or in the corner when there is none. */
  const failed = (message: string, at: 'idle' | 'code' | 'name') => {
    setStage(at);
    if (at === 'idle') notifyFailed(message);
    else setProblem(message);
  };
  const create = async (input: { code?: string }) => {
    const back = input.code === undefined ? 'idle' : 'code';
    setStage('creating');
    setProblem(undefined);
    try {
      const { options, challenge } = await call<Options>('POST', '/auth/passkey/register-options', input);
      const made = await createPasskey(options);
      if (!('credential' in made)) return made.problem ? failed(made.problem, back) : setStage(back);
      setCreated({ credential: made.credential, challenge });
      setStage('name');
    } catch (error) {
      if (isCancelled(error)) return cancel();
      failed(refusalOf(error).message, back);
    }
  };
  const start = async () => {
    if (!supportsPasskeys()) return notifyFailed('This browser doesn’t support passkeys.');
    if (totp || passkeys.length > 0) return create({});
    setStage('starting');
    try {
      await call('POST', '/auth/passkey/challenge');
      setStage('code');
    } catch (error) {
      failed(refusalOf(error).message, 'idle');
    }
  };
  const resend = async () => {
    setProblem(undefined);
    await call('POST', '/auth/passkey/challenge').catch((error: unknown) => setProblem(refusalOf(error).message));
  };
  const save = async (name: string) => {
    setStage('saving');
    setProblem(undefined);
    try {
      const { recovery_codes } = await call<Registered>('POST', '/auth/passkey/register', { ...created, name });
      await queryClient.invalidateQueries({ queryKey: ME });
      notifyDone('Passkey added');
      cancel();
      if (recovery_codes) onCodes(recovery_codes);
    } catch (error) {
      failed(refusalOf(error).message, 'name');
    }
  };
  const suggestedName = () => deviceOf(navigator.userAgent);
  return { stage, problem, start, create, save, cancel, suggestedName, resend };
}
