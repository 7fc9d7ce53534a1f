import { TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { AppRouter } from '#server/trpc/root.ts';
import { askReason, askStepUp, asksStepUp, cancelled, explainMissingFactor, type Refused } from './challenges.ts';

/** Headers that one call carries, by its context: `{ context: { headers } }`. Such a call goes in a request of its own. */
export const headersOf = (op: { context: Record<string, unknown> }): Record<string, string> | undefined =>
  op.context.headers as Record<string, string> | undefined;

/**
 * Asks for a verification when a call is refused for want of one, and repeats the call exactly once with it; likewise for a reason, which reveals ask for in
 * a form of their own. Pages know nothing of it: their call takes longer, or fails as it would have when the person cancels.
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
          if (!reason) return observer.error(asCancelled(failure, 'You didn’t give a reason, so nothing was done.'));
          ask({ ...attempt, context: { ...attempt.context, headers: { ...headersOf(attempt), ...reason } } }, (last) =>
            observer.error(last),
          );
        });
      };
      ask(op, (failure) => {
        const refused = failure.data as Refused | null | undefined;
        if (refused?.code === 'mfa_required' && op.type === 'mutation') explainMissingFactor(refused);
        if (!refused || !asksStepUp(refused)) return explain(op, failure);
        const own = headersOf(op);
        void askStepUp(refused, { reason_sent: own?.['x-reveal-reason'] !== undefined, signal: left.signal }).then((proof) => {
          if (!proof) return observer.error(asCancelled(failure));
          const proven = { ...op, context: { ...op.context, headers: { ...own, ...proof } } };
          ask(proven, (last) => explain(proven, last));
        });
      });
      return () => {
        left.abort();
        call?.unsubscribe();
      };
    });

function asCancelled({ shape, meta }: TRPCClientError<AppRouter>, message?: string): TRPCClientError<AppRouter> {
  const error = shape && { ...shape, data: { ...cancelled(shape.data), ...(message === undefined ? {} : { message }) } };
  return new TRPCClientError(error?.data.message ?? '', { ...(error ? { result: { error } } : {}), ...(meta ? { meta } : {}) });
}
