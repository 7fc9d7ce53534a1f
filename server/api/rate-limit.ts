import { Refusal } from '#server/kernel/errors.ts';
import { log } from '#server/platform/log.ts';
import { type WindowCounter, windowCounter } from '#server/platform/window-counter.ts';
import type { KeyLimit } from './api-key.ts';

/**
 * The optional limit of a key: a fixed window counted before the handler (interface rule 01 §8). Counting failures let the call pass: the limit
 * shapes the customer's own traffic, it is not a security control.
 */
export async function countAgainstLimit(
  limit: KeyLimit | null,
  now: Date,
  count: WindowCounter = windowCounter(),
): Promise<{ headers: Record<string, string>; refusal: Refusal | null }> {
  if (!limit) return { headers: {}, refusal: null };
  const seconds = Math.floor(now.getTime() / 1000);
  const window = Math.floor(seconds / limit.window_sec);
  const reset = (window + 1) * limit.window_sec;
  let used: number;
  try {
    // One refusal is counted; the others are not held against the key when its limit is raised.
    used = await count(`key:${limit.id}`, window, limit.window_sec, limit.requests + 1);
  } catch (error) {
    log.warn({ err: error }, "the counter store is unavailable; a key's rate limit was not applied");
    return { headers: {}, refusal: null };
  }
  const headers = {
    'x-ratelimit-limit': String(limit.requests),
    'x-ratelimit-remaining': String(Math.max(0, limit.requests - used)),
    'x-ratelimit-reset': String(reset),
  };
  if (used <= limit.requests) return { headers, refusal: null };
  return {
    headers,
    refusal: new Refusal(
      'rate_limit_exceeded',
      `Rate limit exceeded: this key allows ${limit.requests} requests per ${limit.window_sec === 1 ? 'second' : `${limit.window_sec} seconds`}.`,
      {
        retryAfter: Math.max(1, reset - seconds),
      },
    ),
  };
}

/** Whether nothing is left of the limit in its window. Counts nothing; false when the store doesn't answer. */
export async function isUsedUp({ id, requests, window_sec }: KeyLimit, now: Date, count: WindowCounter): Promise<boolean> {
  const window = Math.floor(now.getTime() / 1000 / window_sec);
  return (await count(`key:${id}`, window, window_sec, undefined, 0).catch(() => 0)) >= requests;
}
