import { retryAfter } from './error.ts';

/** What the Management API may answer better a moment later. A 409 never is: somebody else's change doesn't go away. */
const RETRIED = new Set([408, 429, 500, 502, 503, 504]);
const LONGEST_WAIT_MS = 30_000;

/** How long to wait before the next attempt, in milliseconds; undefined when the answer is final. `attempt` counts from 0. */
export function delayAfter(response: Response, attempt: number, random = Math.random): number | undefined {
  if (!RETRIED.has(response.status) || response.headers.has('x-svc-upstream-status')) return undefined;
  const asked = retryAfter(response.headers);
  if (asked === null) return backoff(attempt, random);
  // To come earlier than asked would only be refused again; a wait this long is the caller's decision.
  return asked * 1000 > LONGEST_WAIT_MS ? undefined : asked * 1000 + Math.round(random() * 250);
}

/** Half a second, doubled with every attempt up to eight seconds, of which a random half is taken off so that clients don't return together. */
export function backoff(attempt: number, random = Math.random): number {
  const most = Math.min(500 * 2 ** attempt, 8_000);
  return Math.round(most / 2 + (random() * most) / 2);
}
