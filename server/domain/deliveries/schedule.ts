import { randomDigits } from '#server/crypto/random.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait before each retry (spec 60 §5.2); the last one repeats. */
const DELAYS = [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR, 10 * HOUR, 24 * HOUR];
const JITTER = 0.2;
/** A receiver may ask for at most this much. */
const LONGEST_RETRY_AFTER = HOUR;

/**
 * Milliseconds from the end of an attempt to the next one. `attempts` are those that have ended, at least 1; what the receiver asked for counts when it
 * is longer.
 */
export function retryDelay(attempts: number, retryAfterMs = 0, random = fraction): number {
  const base = DELAYS[Math.min(attempts, DELAYS.length) - 1] ?? DELAYS[0] ?? 0;
  return Math.max(base * (1 - JITTER + 2 * JITTER * random()), Math.min(retryAfterMs, LONGEST_RETRY_AFTER));
}

/** From 0 to 1. */
const fraction = () => Number(`0.${randomDigits(6)}`);
