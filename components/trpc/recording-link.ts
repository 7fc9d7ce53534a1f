import type { TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import type { SecretFields } from '#server/domain/explorer/masking.shared.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import { nextKey, onceMasked, record } from './recorder.ts';
import { refusalOf } from './refusal.ts';

/**
 * Notes every call of the client for the developer pane, masked before anything is kept, but for those that reveal a stored value. Changes nothing about
 * the call.
 */
export const recordingLink =
  ({ secret_fields }: { secret_fields: SecretFields }): TRPCLink<AppRouter> =>
  () =>
  ({ op, next }) =>
    observable((observer) => {
      if (op.context.reveal) return next(op).subscribe(observer);
      const began = performance.now();
      const note = (more: { request_id: string; status?: number; error?: { code: string; message: string } }) => {
        const page = window.location.pathname;
        const call = {
          key: nextKey(),
          kind: op.type === 'mutation' ? ('mutation' as const) : ('query' as const),
          ms: Math.round(performance.now() - began),
          at: Date.now(),
          ...more,
        };
        onceMasked((shown) => record({ ...call, what: { procedure: op.path, input: shown(op.path, op.input, secret_fields) } }, page));
      };
      return next(op).subscribe({
        next: (value) => {
          note({ request_id: requestIdOf(value.context?.response) });
          observer.next(value);
        },
        error: (failure) => {
          // A query that its page no longer waits for is no call worth a line.
          if (!op.signal?.aborted) {
            const { code, message, request_id, status } = refusalOf(failure);
            note({ request_id: request_id || requestIdOf(failure.meta?.response), status, error: { code, message } });
          }
          observer.error(failure);
        },
        complete: () => observer.complete(),
      });
    });

const requestIdOf = (response: unknown): string => (response instanceof Response ? (response.headers.get('x-request-id') ?? '') : '');
