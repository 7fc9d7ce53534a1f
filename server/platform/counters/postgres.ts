import { sql } from '../sql.ts';
import { bucketVerdict, isKept, type Rule, type Standing, type Verdict, windowVerdict } from './decision.ts';
import type { SharedCounters } from './shared.ts';

type Row = { now: number; a: number; b: number; at: number; ok: boolean };
const CLEAN_EVERY_MS = 60_000;

/**
 * Counters in an unlogged table, for several gateways without Redis: one function call a decision, the database's clock and row locks. `onCounted` hears of what
 * lasts long.
 */
export function postgresCounters(onCounted?: (rule: Rule, standing: Standing) => void): SharedCounters {
  const cleaner = setInterval(
    () =>
      void sql()
        .query("delete from rate_states where expires_at < now() - interval '1 minute'")
        .catch(() => {}),
    CLEAN_EVERY_MS,
  );
  cleaner.unref();
  return {
    async take(rules, missed) {
      const values = [rules.map((r) => r.key), rules.map((r) => r.limit), rules.map((r) => r.windowMs), rules.map((r) => r.burst ?? 0)];
      const fitting = missed?.seeds.map((seed, i) =>
        seed?.windowMs === rules[i]?.windowMs && seed?.isBucket === (rules[i]?.burst !== null) ? seed : undefined,
      );
      const { rows } = await sql().query<Row>(
        missed && fitting && (fitting.some(Boolean) || missed.owed.some((calls) => calls > 0))
          ? {
              name: 'take-owed-rate',
              text: 'select now_ms as now, a, b, at_ms as at, ok from take_kept_rate($1, $2, $3, $4, $5, $6, $7, $8)',
              values: [
                ...values,
                fitting.map((s) => s?.a ?? 0),
                fitting.map((s) => s?.b ?? 0),
                fitting.map((s) => s?.at ?? -1),
                missed.owed,
              ],
            }
          : { name: 'take-rate', text: 'select now_ms as now, a, b, at_ms as at, ok from take_rate($1, $2, $3, $4)', values },
      );
      for (const [i, { a, b, at }] of rows.entries()) {
        const rule = rules[i];
        if (rule && isKept(rule)) onCounted?.(rule, { windowMs: rule.windowMs, isBucket: rule.burst !== null, a, b, at });
      }
      return rules.map((rule, i) => verdictOf(rule, rows[i]));
    },
    ask: () => sql().query('select 1'),
    close: () => clearInterval(cleaner),
  };
}

function verdictOf(rule: Rule, row: Row | undefined): Verdict {
  if (!row) throw new Error('take_rate answered fewer rows than rules');
  if (rule.burst !== null) return bucketVerdict(rule, row.now, { tokens: row.a, at: row.at }, row.ok);
  return windowVerdict(rule, row.now, { index: row.at, previous: row.a, current: row.b }, row.ok);
}
