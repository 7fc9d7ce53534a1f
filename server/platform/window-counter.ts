import { processState } from '#server/kernel/process-state.ts';
import { isKept } from './counters/decision.ts';
import { noteStanding, seedsOf } from './counters/kept.ts';
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
  held.counter ??= sharedWindowCounter() ?? keptCounter(memoryCounter());
  return held.counter;
}

/** The counter that all processes of the deployment share; null when web counts in its own memory. */
export function sharedWindowCounter(): WindowCounter | null {
  if (env.REDIS_URL) held.shared ??= keptCounter(redisWindows(env.REDIS_URL).count);
  else if (env.SVC_GATEWAYS > 1) held.shared ??= keptCounter(postgresCounter);
  return held.shared ?? null;
}
const held = processState('windows', (): { counter?: WindowCounter; shared?: WindowCounter } => ({}));

/** As WindowCounter, from `least` on where the store has lost what it had. */
type Seeded = (key: string, window: number, windowSec: number, most?: number, by?: number, least?: number) => Promise<number>;

/** Windows of an hour and longer go on from what is remembered of them. */
function keptCounter(count: Seeded): WindowCounter {
  return async (key, window, windowSec, most = Number.POSITIVE_INFINITY, by = 1) => {
    const rule = { key: `window:${key}`, windowMs: windowSec * 1000, limit: 0, burst: null };
    if (!isKept(rule)) return count(key, window, windowSec, most, by, 0);
    const [seed] = await seedsOf([rule]);
    const n = await count(key, window, windowSec, most, by, seed?.at === window && seed.windowMs === rule.windowMs ? seed.b : 0);
    if (n > 0) noteStanding(rule, { windowMs: rule.windowMs, isBucket: false, a: 0, b: Math.min(n, most), at: window });
    return n;
  };
}

/** Counts in this process alone; windows that are over are dropped as the map grows. */
export function memoryCounter(): Seeded {
  const counts = new Map<string, { window: number; n: number; until: number }>();
  let sweepAt = 0;
  return async (key, window, windowSec, most = Number.POSITIVE_INFINITY, by = 1, least = 0) => {
    const until = (window + 1) * windowSec;
    const entry = counts.get(key);
    const before = Math.max(least, entry?.window === window ? entry.n : 0);
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

export const postgresCounter: Seeded = async (key, window, windowSec, most = MOST_PG, by = 1, least = 0) => {
  const { rows } = await sql().query<{ n: number }>({
    name: 'window-count',
    text: `insert into rate_counters (key, "window", n, expires_at) values ($1, $2, greatest($6::int, least($6 + $5::int, $4)), to_timestamp($3)) on conflict (key, "window") do update
      set n = greatest(rate_counters.n, $6, least(greatest(rate_counters.n, $6) + $5, $4)) returning n`,
    values: [key, window, (window + 1) * windowSec, Math.min(most, MOST_PG), by, least],
  });
  return rows[0]?.n ?? by;
};

/** Nothing counts so far. */
const MOST_PG = 2_147_483_647;

/** Fixed windows in Redis. `count` rejects with a lost connection (503 unless the caller decides otherwise) when the store does not answer. */
export function redisWindows(url: string): { count: Seeded; close(): void } {
  const client = openRedis(url, (error) => log.warn({ err: storeAway(error) }, 'the counter store is unavailable'));
  return {
    async count(key, window, windowSec, most = Number.POSITIVE_INFINITY, by = 1, least = 0) {
      const name = `sallyport:window:${key}:${window}`;
      try {
        const redis = await client;
        const results =
          least > 0
            ? [[null, await redis.eval(COUNT_FROM, 1, name, by, least, windowSec + 1)] as const]
            : await redis
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

/** One step, so that of two processes that find the window lost neither counts twice. */
const COUNT_FROM = `local n = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[2])) + tonumber(ARGV[1])
redis.call('SET', KEYS[1], n, 'EX', ARGV[3])
return n`;
