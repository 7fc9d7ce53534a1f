import type { TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import { useSyncExternalStore } from 'react';
import type { AppRouter } from '#server/trpc/root.ts';
import { refusalOf } from './refusal.ts';

/** Longer than the pace of a session ever asks for; a wait that is longer is the person's to decide about. */
const LONGEST_SEC = 15;
const TRIES = 3;

// Calls that wait for their turn now; the bar over the page says so.
let waiting = 0;
const listeners = new Set<() => void>();

function note(more: 1 | -1): void {
  waiting += more;
  for (const tell of listeners) tell();
}

/** Whether calls of this tab wait because it asked too fast. */
export const isWaiting = (): boolean => waiting > 0;
/** `isWaiting`, for what shows it. */
export const useIsWaiting = (): boolean =>
  useSyncExternalStore(
    (notify) => {
      listeners.add(notify);
      return () => listeners.delete(notify);
    },
    isWaiting,
    () => false,
  );

/**
 * Asks again when a call came too fast: after the time that was told, and not all at one moment. Safe for changes too, since nothing is done for a call
 * that is refused so. Whoever stops waiting for an answer stops asking.
 */
export const rateLimitLink: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    observable((observer) => {
      let call: Unsubscribable | undefined;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const over = () => {
        if (timer === undefined) return;
        clearTimeout(timer);
        timer = undefined;
        note(-1);
      };
      const ask = (tries: number) => {
        call = next(op).subscribe({
          next: (value) => observer.next(value),
          complete: () => observer.complete(),
          error: (failure) => {
            const wait = waitOf(failure);
            if (wait === undefined || tries === 1) return observer.error(failure);
            note(1);
            timer = setTimeout(() => {
              over();
              if (op.signal?.aborted) observer.error(failure);
              else ask(tries - 1);
            }, wait);
          },
        });
      };
      ask(TRIES);
      return () => {
        over();
        call?.unsubscribe();
      };
    });

/** Milliseconds, spread over half a second; undefined for any other failure. */
function waitOf(failure: unknown): number | undefined {
  const { code, retry_after } = refusalOf(failure);
  if (code !== 'rate_limited' || retry_after === undefined || retry_after > LONGEST_SEC) return undefined;
  return retry_after * 1000 + Math.random() * 500;
}
