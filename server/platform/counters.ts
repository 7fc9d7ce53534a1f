import { isKept, type Rule, type Standing, type Verdict } from './counters/decision.ts';
import { noteStanding, owe, oweAgain, remembered, seedsOf, takeOwed } from './counters/kept.ts';
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
  if (!redisUrl && gateways === 1) return ownCounters();
  const local = memoryCounters();
  let awaySince: Date | null = null;
  let askAgainAt = 0;
  const lost = (error: unknown) => {
    log.warn({ err: storeAway(error) }, `the counter store is unavailable; rate limits are enforced locally at 1/${gateways}`);
    awaySince ??= new Date();
    askAgainAt = performance.now() + ASK_AGAIN_MS;
  };
  const shared = redisUrl ? await redisCounters(redisUrl, lost, noteStanding) : postgresCounters(noteStanding);
  const share = (rules: readonly Rule[], now: number): readonly Verdict[] => {
    const seeds = rules.map((rule) => (isKept(rule) ? shareOfStanding(remembered(rule), gateways) : undefined));
    const parts = rules.map((rule) => shareOf(rule, gateways));
    const verdicts = local.take(parts, now, seeds);
    if (verdicts.every(({ admitted }) => admitted)) for (const rule of rules) if (isKept(rule)) owe(rule, now);
    return verdicts;
  };
  const ask = async (rules: readonly Rule[], now: number): Promise<readonly Verdict[]> => {
    if (!rules.some(isKept)) return inTime(shared.take(rules));
    const seeds = await seedsOf(rules);
    const owed = rules.map((rule) => takeOwed(rule, now));
    return inTime(shared.take(rules, { seeds, owed })).catch((error: unknown) => {
      for (const [i, rule] of rules.entries()) oweAgain(rule, owed[i] ?? 0, now);
      throw error;
    });
  };
  return {
    take(rules, now) {
      if (awaySince) {
        // A store that hangs would hold up every call by the deadline: one call a second asks, the others do not wait.
        if (performance.now() < askAgainAt) return share(rules, now);
        askAgainAt = performance.now() + ASK_AGAIN_MS;
      }
      // A store that hangs runs what it was sent when it goes on: it is asked without counting, and told what it is owed once it has answered.
      return (awaySince ? inTime(shared.ask()).then(() => ask(rules, now)) : ask(rules, now)).then(
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

/** Counters of the only gateway. */
function ownCounters(): Counters {
  const local = memoryCounters(noteStanding);
  return {
    take(rules, now) {
      if (!rules.some(isKept)) return local.take(rules, now);
      const seeds = seedsOf(rules);
      return seeds instanceof Promise ? seeds.then((known) => local.take(rules, now, known)) : local.take(rules, now, seeds);
    },
    awaySince: null,
    close: local.close,
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

/** The same part of what was counted so far, so that the rest is shared and not the whole anew. */
function shareOfStanding(standing: Standing | undefined, gateways: number): Standing | undefined {
  if (standing === undefined) return undefined;
  const part = standing.isBucket ? Math.floor : Math.ceil;
  return { ...standing, a: part(standing.a / gateways), b: part(standing.b / gateways) };
}
