import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';
import { log } from './log.ts';
import { openRedis, storeAway } from './redis.ts';
import { sql } from './sql.ts';

/**
 * Counts one more event in a window, or `by` at once, and answers the count so far, which `most` keeps from growing beyond itself. @throws when the store does not answer; the
 * caller decides open or closed
 */
export type WindowCounter = (key: string, window: number, windowSec: number, most?: number, by?: number) => Promise<number>;

/**
 * Fixed-window counters of the control plane: key limits, sign-in and sign-up throttles (interface rule 01 §16.1). Process memory when one web
 * process serves the deployment, else Redis when configured, else PostgreSQL.
 */
export function windowCounter(): WindowCounter {
  held.counter ??= sharedWindowCounter() ?? memoryCounter();
  return held.counter;
}

/** The counter that all processes of the deployment share; null when web counts in its own memory. */
export function sharedWindowCounter(): WindowCounter | null {
  if (env.REDIS_URL) held.shared ??= redisWindows(env.REDIS_URL).count;
  else if (env.SVC_GATEWAYS > 1) held.shared ??= postgresCounter;
  return held.shared ?? null;
}
const held = processState('windows', (): { counter?: WindowCounter; shared?: WindowCounter } => ({}));

/** Counts in this process alone; windows that are over are dropped as the map grows. */
export function memoryCounter(): WindowCounter {
  const counts = new Map<string, { window: number; n: number; until: number }>();
  let sweepAt = 0;
  return async (key, window, windowSec, most = Number.POSITIVE_INFINITY, by = 1) => {
    const until = (window + 1) * windowSec;
    const entry = counts.get(key);
    const before = entry?.window === window ? entry.n : 0;
    const n = Math.max(before, Math.min(before + by, most));
    counts.set(key, { window, n, until });
    const now = Date.now() / 1000;
    if (counts.size > 10_000 && now > sweepAt) {
      sweepAt = now + 10;
      for (const [k, v] of counts) if (v.until < now) counts.delete(k);
    }
    return n;
  };
}

export const postgresCounter: WindowCounter = async (key, window, windowSec, most = MOST_PG, by = 1) => {
  const { rows } = await sql().query<{ n: number }>({
    name: 'window-count',
    text: `insert into rate_counters (key, "window", n, expires_at) values ($1, $2, least($5::int, $4), to_timestamp($3)) on conflict (key, "window") do update
      set n = greatest(rate_counters.n, least(rate_counters.n + $5, $4)) returning n`,
    values: [key, window, (window + 1) * windowSec, most, by],
  });
  return rows[0]?.n ?? by;
};

/** Nothing counts so far. */
const MOST_PG = 2_147_483_647;

/** Fixed windows in Redis. `count` rejects with a lost connection (503 unless the caller decides otherwise) when the store does not answer. */
export function redisWindows(url: string): { count: WindowCounter; close(): void } {
  const client = openRedis(url, (error) => log.warn({ err: storeAway(error) }, 'the counter store is unavailable'));
  return {
    async count(key, window, windowSec, most = Number.POSITIVE_INFINITY, by = 1) {
      const name = `sallyport:window:${key}:${window}`;
      try {
        const redis = await client;
        const results = await redis
          .multi()
          .incrby(name, by)
          .expire(name, windowSec + 1)
          .exec();
        const [error, n] = results?.[0] ?? [new Error('the counter store returned nothing')];
        if (error) throw error;
        if (Number(n) > most) await redis.decrby(name, Math.min(by, Number(n) - most));
        return Number(n);
      } catch (error) {
        throw storeAway(error);
      }
    },
    close: () => void client.then((redis) => redis.disconnect()),
  };
}
