import { useSyncExternalStore } from 'react';

/** What a refused call asks of its person: to prove who they are, to say why, to sign in again, or to enroll a factor they can prove who they are with. */
export type Challenge = { key: number; message: string } & (
  | {
      kind: 'verify';
      /** What the verification will be good for, e.g. `plaintext.reveal`. */
      scope: string;
      methods: readonly string[];
      /** Reveals, and moves of a stored credential, take a reason into the audit log; false for one that was sent along already. */
      asks_reason: boolean;
      settle: (headers: ChallengeHeaders | null) => void;
    }
  | { kind: 'reason' | 'sign_in'; settle: (headers: ChallengeHeaders | null) => void }
  | { kind: 'enroll' }
);

/** A challenge that says all in its message. */
export type PlainChallenge = Challenge & { kind: 'reason' | 'sign_in' };

/** What the repeated request carries besides. */
export type ChallengeHeaders = {
  'x-svc-stepup'?: string;
  'x-reveal-reason'?: string;
  /** Of the session that began in another tab. */
  'x-csrf-token'?: string;
};

// Calls wait here in the order they were refused; the dialog shows the first.
let waiting: readonly Challenge[] = [];
let counted = 0;
const listeners = new Set<() => void>();

function set(next: readonly Challenge[]): void {
  waiting = next;
  for (const tell of listeners) tell();
}

/** The challenge whose turn it is. */
export const useChallenge = (): Challenge | undefined =>
  useSyncExternalStore(
    (notify) => {
      listeners.add(notify);
      return () => listeners.delete(notify);
    },
    firstChallenge,
    () => undefined,
  );

/** As `useChallenge` has it. */
export const firstChallenge = (): Challenge | undefined => waiting[0];

/** The answer to the challenge whose turn it is: the headers that repeat its call, or null when the person cancelled. */
export function settleChallenge(challenge: Challenge, headers: ChallengeHeaders | null): void {
  set(waiting.filter(({ key }) => key !== challenge.key));
  if (challenge.kind !== 'enroll') challenge.settle(headers);
}

/** The members of a refusal that matter here (interface rule 22 §1). */
export type Refused = {
  code?: string;
  message?: string;
  requires_step_up?: unknown;
  action_scope?: unknown;
  allowed_methods?: unknown;
};

/** Whether a refusal asks for a verification. */
export const asksStepUp = (refused: Refused | null | undefined): boolean =>
  refused?.requires_step_up === true && typeof refused.action_scope === 'string';

/** Asks the person to prove who they are. @returns what the repeated call must carry, or null when they cancelled or `signal` aborted */
export function askStepUp(refused: Refused, { reason_sent = false, signal }: { reason_sent?: boolean; signal?: AbortSignal | null } = {}) {
  return new Promise<ChallengeHeaders | null>((settle) => {
    const challenge: Challenge = {
      key: ++counted,
      kind: 'verify',
      message: refused.message ?? '',
      scope: String(refused.action_scope),
      methods: Array.isArray(refused.allowed_methods) ? refused.allowed_methods.map(String) : [],
      asks_reason: (refused.code === 'reveal_step_up_required' || refused.action_scope === 'credential.move') && !reason_sent,
      settle,
    };
    set([...waiting, challenge]);
    signal?.addEventListener('abort', () => settleChallenge(challenge, null), { once: true });
  });
}

/** Whether a refusal asks for a new sign-in, which no factor stands in for. */
export const asksSignIn = (refused: Refused | null | undefined): boolean =>
  refused?.code === 'step_up_required' && Array.isArray(refused.allowed_methods) && refused.allowed_methods.join() === 'sign_in';

/** Asks the person why. @returns what the repeated call must carry, or null when they cancelled or `signal` aborted */
export const askReason = (refused: Refused, signal: AbortSignal) => askPlainly('reason', refused, signal);

/** Asks the person to sign in again in another tab, so that this one keeps what was typed. @returns as `askReason` */
export const askSignIn = (refused: Refused, signal?: AbortSignal | null) => askPlainly('sign_in', refused, signal);

function askPlainly(kind: 'reason' | 'sign_in', refused: Refused, signal: AbortSignal | null | undefined) {
  return new Promise<ChallengeHeaders | null>((settle) => {
    const challenge: Challenge = { key: ++counted, kind, message: refused.message ?? '', settle };
    set([...waiting, challenge]);
    signal?.addEventListener('abort', () => settleChallenge(challenge, null), { once: true });
  });
}

/** Explains that a factor is needed and where to enroll one. The call is refused all the same: enrolling takes longer than a call waits. */
export function explainMissingFactor(refused: Refused): void {
  if (waiting.some(({ kind }) => kind === 'enroll')) return;
  set([...waiting, { key: ++counted, kind: 'enroll', message: refused.message ?? '' }]);
}

/** What the caller of a cancelled call is told; `cancelled` tells it from a refusal that nobody answered. */
export const cancelled = <R extends Refused>(refused: R, what: keyof typeof DECLINED = 'verify') => ({
  ...refused,
  message: DECLINED[what],
  cancelled: true,
});

const DECLINED = {
  verify: 'You didn’t confirm it’s you, so nothing was done.',
  reason: 'You didn’t give a reason, so nothing was done.',
  sign_in: 'You didn’t sign in again, so nothing was done.',
};

/** Whether a call failed because its person did not want to prove who they are. */
export const isCancelled = (error: unknown): boolean =>
  (error as { data?: { cancelled?: unknown } | null } | null)?.data?.cancelled === true;
