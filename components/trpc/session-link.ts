import type { TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import { useSyncExternalStore } from 'react';
import type { AppRouter } from '#server/trpc/root.ts';
import { refusalOf } from './refusal.ts';

/** What a page that stayed open has lost: the session, or the membership of its workspace. */
export type Ended = 'session' | 'membership';

// What the last answer said is over: ended elsewhere, or by its age, while this page stayed open.
let ended: Ended | undefined;
const listeners = new Set<() => void>();

function note(what: Ended | undefined): void {
  if (ended === what) return;
  ended = what;
  for (const tell of listeners) tell();
}

/** What is over, from the first call that was refused for want of it until one is answered again, as after signing in in another tab. */
export const useEnded = (): Ended | undefined =>
  useSyncExternalStore(
    (notify) => {
      listeners.add(notify);
      return () => listeners.delete(notify);
    },
    () => ended,
    () => undefined,
  );

/** Learns from every answer whether the session and the membership go on. Changes nothing about the call. */
export const sessionLink: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    observable((observer) =>
      next(op).subscribe({
        next: (value) => {
          note(undefined);
          observer.next(value);
        },
        error: (failure) => {
          const { code } = refusalOf(failure);
          if (code === 'not_authenticated') note('session');
          if (code === 'not_a_member') note('membership');
          observer.error(failure);
        },
        complete: () => observer.complete(),
      }),
    );
