import { TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { AppRouter } from '#server/trpc/root.ts';
import {
  askReason,
  askSignIn,
  askStepUp,
  asksSignIn,
  asksStepUp,
  type ChallengeHeaders,
  cancelled,
  explainMissingFactor,
  type Refused,
} from './challenges.ts';

/** Headers that one call carries, by its context: `{ context: { headers } }`. Such a call goes in a request of its own. */
export const headersOf = (op: { context: Record<string, unknown> }): Record<string, string> | undefined =>
  op.context.headers as Record<string, string> | undefined;

/**
 * Asks for a verification or a new sign-in when a call is refused for want of one, and repeats the call exactly once with it; likewise for a reason, which
 * reveals ask for in a form of their own. Pages know nothing of it: their call takes longer, or fails as it would have when the person cancels.
 */
export const stepUpLink: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    observable((observer) => {
      const left = new AbortController();
      let call: Unsubscribable | undefined;
      const ask = (attempt: typeof op, refuse: (failure: TRPCClientError<AppRouter>) => void) => {
        call = next(attempt).subscribe({
          next: (value) => observer.next(value),
          complete: () => observer.complete(),
          error: refuse,
        });
      };
      /** What is left to refuse once the person has proven who they are. */
      const explain = (attempt: typeof op, failure: TRPCClientError<AppRouter>) => {
        const refused = failure.data as Refused | null | undefined;
        if (refused?.code !== 'reveal_reason_required' || op.type !== 'mutation' || op.context.reveal) return observer.error(failure);
        void askReason(refused, left.signal).then((reason) => {
          if (!reason) return observer.error(asCancelled(failure, 'reason'));
          ask(carrying(attempt, reason), (last) => observer.error(last));
        });
      };
      ask(op, (failure) => {
        const refused = failure.data as Refused | null | undefined;
        if (refused?.code === 'mfa_required' && op.type === 'mutation') explainMissingFactor(refused);
        const signIn = op.type === 'mutation' && asksSignIn(refused);
        if (!refused || !(signIn || asksStepUp(refused))) return explain(op, failure);
        const proof = signIn
          ? askSignIn(refused, left.signal)
          : askStepUp(refused, { reason_sent: headersOf(op)?.['x-reveal-reason'] !== undefined, signal: left.signal });
        void proof.then((headers) => {
          if (!headers) return observer.error(asCancelled(failure, signIn ? 'sign_in' : 'verify'));
          const proven = carrying(op, headers);
          ask(proven, (last) => explain(proven, last));
        });
      });
      return () => {
        left.abort();
        call?.unsubscribe();
      };
    });

const carrying = <O extends { context: Record<string, unknown> }>(op: O, headers: ChallengeHeaders): O => ({
  ...op,
  context: { ...op.context, headers: { ...headersOf(op), ...headers } },
});

function asCancelled({ shape, meta }: TRPCClientError<AppRouter>, what: Parameters<typeof cancelled>[1]): TRPCClientError<AppRouter> {
  const error = shape && { ...shape, data: cancelled(shape.data, what) };
  return new TRPCClientError(error?.data.message ?? '', { ...(error ? { result: { error } } : {}), ...(meta ? { meta } : {}) });
}
