import { setImmediate } from 'node:timers/promises';
import type { SignedInPerson } from '#server/api/credentials/session.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { log } from '#server/platform/log.ts';
import { type WindowCounter, windowCounter } from '#server/platform/window-counter.ts';

/** Calls in ten seconds. A page of the dashboard makes a few dozen when it opens, and live views one in seconds. */
export const SESSION_RATE_LIMIT = { window_sec: 10, session: 400, person: 800 } as const;

type Pace = (person: SignedInPerson, now: Date) => Promise<void>;

/**
 * What one session, and one person over all of theirs, may ask of the dashboard's planes: far above what hands do, far below what would hold up others.
 * A fixed window as of keys (interface rule 01 §8), counted before anything is done. Counting failures let the call pass: what needs a guard that
 * fails closed (signing in, codes) has its own. @throws Refusal rate_limited with the rest of the window
 */
export const limitSessionRate = (person: SignedInPerson, now: Date, count?: WindowCounter): Promise<void> =>
  batchedSessionLimit(count)(person, now);

/**
 * The same for the calls of one request, which are of one person: those of one moment are counted at once, and as many of them are answered, in their
 * order, as one by one. Fifty one by one change the two counters a hundred times, and where gateways share them those are a hundred round trips.
 */
export function batchedSessionLimit(count: WindowCounter = windowCounter()): Pace {
  let calls = 0;
  let judged: Promise<Judgement> | undefined;
  return async (person, now) => {
    const place = calls++;
    judged ??= setImmediate().then(() => {
      const together = calls;
      calls = 0;
      judged = undefined;
      return judge(person, now, together, count);
    });
    const refusal = (await judged)(place);
    if (refusal) throw refusal;
  };
}

/** What becomes of the call at a place among those that were counted together. */
type Judgement = (place: number) => Refusal | undefined;

async function judge({ session, user }: SignedInPerson, now: Date, calls: number, count: WindowCounter): Promise<Judgement> {
  const seconds = now.getTime() / 1000;
  const window = Math.floor(seconds / SESSION_RATE_LIMIT.window_sec);
  const admitted = async (key: string, limit: number, asked: number) => {
    const used = await count(`pace:${key}`, window, SESSION_RATE_LIMIT.window_sec, limit + asked, asked);
    return Math.min(asked, Math.max(0, asked - (used - limit)));
  };
  const refusal = (whose: string, limit: number) => {
    const retryAfter = Math.max(1, Math.ceil((window + 1) * SESSION_RATE_LIMIT.window_sec - seconds));
    return new Refusal(
      'rate_limited',
      `${whose} exceeded ${limit} requests in ${SESSION_RATE_LIMIT.window_sec} seconds. Your request wasn't processed. Try again in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`,
      { retryAfter },
    );
  };
  try {
    const ofSession = await admitted(`session:${session.id}`, SESSION_RATE_LIMIT.session, calls);
    // What its own session is refused is not held against the person's others.
    const ofPerson = ofSession === 0 ? 0 : await admitted(`person:${user.id}`, SESSION_RATE_LIMIT.person, ofSession);
    return (place) => {
      if (place >= ofSession) return refusal('This session', SESSION_RATE_LIMIT.session);
      return place >= ofPerson ? refusal('Your sessions together', SESSION_RATE_LIMIT.person) : undefined;
    };
  } catch (error) {
    log.warn({ err: error }, "the counter store is unavailable; a person's rate limit was not applied");
    return () => undefined;
  }
}
