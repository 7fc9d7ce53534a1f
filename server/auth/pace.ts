import { Refusal } from '#server/kernel/errors.ts';
import { log } from '#server/platform/log.ts';
import { type WindowCounter, windowCounter } from '#server/platform/windows.ts';
import type { SignedInPerson } from './person.ts';

/** Calls in ten seconds. A page of the dashboard makes a few dozen when it opens, and live views one in seconds. */
export const PACE = { window_sec: 10, session: 400, person: 800 } as const;

/**
 * What one session, and one person over all of theirs, may ask of the dashboard's planes: far above what hands do, far below what would hold up others.
 * A fixed window as of keys (interface rule 01 §8), counted before anything is done. Counting failures let the call pass: what needs a guard that
 * fails closed (signing in, codes) has its own. @throws Refusal rate_limited with the rest of the window
 */
export async function keepPace({ session, user }: SignedInPerson, now: Date, count: WindowCounter = windowCounter()): Promise<void> {
  const seconds = now.getTime() / 1000;
  const window = Math.floor(seconds / PACE.window_sec);
  const within = async (key: string, limit: number) => {
    if ((await count(`pace:${key}`, window, PACE.window_sec, limit + 1)) <= limit) return;
    const retryAfter = Math.max(1, Math.ceil((window + 1) * PACE.window_sec - seconds));
    const whose = limit === PACE.person ? 'All your sessions together' : 'This session';
    throw new Refusal(
      'rate_limited',
      `${whose} made more than ${limit} calls in ${PACE.window_sec} seconds. Nothing was done; the next is answered in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`,
      { retryAfter },
    );
  };
  try {
    // What its own session is refused is not held against the person's others.
    await within(`session:${session.id}`, PACE.session);
    await within(`person:${user.id}`, PACE.person);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    log.warn({ err: error }, 'the counter store does not answer; the pace of a person was not measured');
  }
}
