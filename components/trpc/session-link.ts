import type { TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import { useSyncExternalStore } from 'react';
import type { AppRouter } from '#server/trpc/root.ts';
import { refusalOf } from './refusal.ts';

// Whether the last answer was that nobody is signed in: the session ended elsewhere, or by its age, while this page stayed open.
let ended = false;
const listeners = new Set<() => void>();

function noteSession(isEnded: boolean): void {
  if (ended === isEnded) return;
  ended = isEnded;
  for (const tell of listeners) tell();
}

/** True from the first call that was refused for want of a session until one is answered again, as after signing in in another tab. */
export const useSessionEnded = (): boolean =>
  useSyncExternalStore(
    (notify) => {
      listeners.add(notify);
      return () => listeners.delete(notify);
    },
    () => ended,
    () => false,
  );

/** Learns from every answer whether the session goes on. Changes nothing about the call. */
export const sessionLink: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    observable((observer) =>
      next(op).subscribe({
        next: (value) => {
          noteSession(false);
          observer.next(value);
        },
        error: (failure) => {
          if (refusalOf(failure).code === 'not_authenticated') noteSession(true);
          observer.error(failure);
        },
        complete: () => observer.complete(),
      }),
    );
