import { TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { AppRouter } from '#server/trpc/root.ts';
import { askStepUp, asksStepUp, cancelled, explainMissingFactor, type Refused } from './challenges.ts';

/** Headers that one call carries, by its context: `{ context: { headers } }`. Such a call goes in a request of its own. */
export const headersOf = (op: { context: Record<string, unknown> }): Record<string, string> | undefined =>
  op.context.headers as Record<string, string> | undefined;

/**
 * Asks for a verification when a call is refused for want of one, and repeats the call exactly once with it. Pages know nothing of it: their call
 * takes longer, or fails as it would have when the person cancels.
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
      ask(op, (failure) => {
        const refused = failure.data as Refused | null | undefined;
        if (refused?.code === 'mfa_required' && op.type === 'mutation') explainMissingFactor(refused);
        if (!refused || !asksStepUp(refused)) return observer.error(failure);
        const own = headersOf(op);
        void askStepUp(refused, { reason_sent: own?.['x-reveal-reason'] !== undefined, signal: left.signal }).then((proof) => {
          if (!proof) return observer.error(asCancelled(failure));
          ask({ ...op, context: { ...op.context, headers: { ...own, ...proof } } }, (last) => observer.error(last));
        });
      });
      return () => {
        left.abort();
        call?.unsubscribe();
      };
    });

function asCancelled({ shape, meta }: TRPCClientError<AppRouter>): TRPCClientError<AppRouter> {
  const error = shape && { ...shape, data: cancelled(shape.data) };
  return new TRPCClientError(error?.data.message ?? '', { ...(error ? { result: { error } } : {}), ...(meta ? { meta } : {}) });
}
