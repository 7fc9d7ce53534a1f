import type { Rule, Verdict } from './counters/decision.ts';
import { memoryCounters } from './counters/memory.ts';
import { postgresCounters } from './counters/postgres.ts';
import { redisCounters } from './counters/redis.ts';
import { log } from './log.ts';
import { COUNTER_DEADLINE_MS, storeAway } from './redis.ts';

export type { Rule, Verdict } from './counters/decision.ts';

export type Counters = {
  /**
   * One atomic decision over all rules: every one admits and all are counted, or none is. A plain value when the counters are in
   * this process, else a promise that never rejects: when the store is away a local counter decides at limit / gateways.
   */
  take(rules: readonly Rule[], now: number): readonly Verdict[] | Promise<readonly Verdict[]>;
  /** Since when the shared store doesn't answer; null while it does. */
  readonly awaySince: Date | null;
  close(): void;
};

export type CounterSettings = { redisUrl?: string | undefined; gateways: number };

/**
 * The store of exact rate limits (interface rules 12 §12, 01 §16.1): Redis when configured, process memory when this gateway is the only
 * one, else PostgreSQL.
 */
export async function openCounters({ redisUrl, gateways }: CounterSettings): Promise<Counters> {
  const local = memoryCounters();
  if (!redisUrl && gateways === 1) return { take: local.take, awaySince: null, close: local.close };
  let awaySince: Date | null = null;
  let askAgainAt = 0;
  const lost = (error: unknown) => {
    log.warn({ err: storeAway(error) }, `the counter store is unavailable; rate limits are enforced locally at 1/${gateways}`);
    awaySince ??= new Date();
    askAgainAt = performance.now() + ASK_AGAIN_MS;
  };
  const shared = redisUrl ? await redisCounters(redisUrl, lost) : postgresCounters();
  const share = (rules: readonly Rule[], now: number) =>
    local.take(
      rules.map((rule) => shareOf(rule, gateways)),
      now,
    );
  return {
    take(rules, now) {
      if (awaySince) {
        // A store that hangs would hold up every call by the deadline: one call a second asks, the others do not wait.
        if (performance.now() < askAgainAt) return share(rules, now);
        askAgainAt = performance.now() + ASK_AGAIN_MS;
      }
      return inTime(shared.take(rules)).then(
        (verdicts) => {
          if (awaySince) log.info('the counter store is available again');
          awaySince = null;
          return verdicts;
        },
        (error: unknown) => {
          lost(error);
          return share(rules, now);
        },
      );
    },
    get awaySince() {
      return awaySince;
    },
    close() {
      shared.close();
      local.close();
    },
  };
}

const ASK_AGAIN_MS = 1_000;

/** Rejects after the deadline; what the store says later is dropped. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(storeAway()), COUNTER_DEADLINE_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** This gateway's part of a limit; never less than one call. */
function shareOf(rule: Rule, gateways: number): Rule {
  const part = (n: number) => Math.max(1, Math.floor(n / gateways));
  return { key: rule.key, limit: part(rule.limit), windowMs: rule.windowMs, burst: rule.burst === null ? null : part(rule.burst) };
}
