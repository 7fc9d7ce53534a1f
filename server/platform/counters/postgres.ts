import { sql } from '../sql.ts';
import { bucketVerdict, type Rule, type Verdict, windowVerdict } from './decision.ts';

export type PostgresCounters = { take(rules: readonly Rule[]): Promise<readonly Verdict[]>; close(): void };

type Row = { now: number; a: number; b: number; at: number; ok: boolean };
const CLEAN_EVERY_MS = 60_000;

/** Counters in an unlogged table, for several gateways without Redis: one function call a decision, the database's clock and row locks. */
export function postgresCounters(): PostgresCounters {
  const cleaner = setInterval(
    () =>
      void sql()
        .query("delete from rate_states where expires_at < now() - interval '1 minute'")
        .catch(() => {}),
    CLEAN_EVERY_MS,
  );
  cleaner.unref();
  return {
    async take(rules) {
      const { rows } = await sql().query<Row>({
        name: 'take-rate',
        text: 'select now_ms as now, a, b, at_ms as at, ok from take_rate($1, $2, $3, $4)',
        values: [rules.map((r) => r.key), rules.map((r) => r.limit), rules.map((r) => r.windowMs), rules.map((r) => r.burst ?? 0)],
      });
      return rules.map((rule, i) => verdictOf(rule, rows[i]));
    },
    close: () => clearInterval(cleaner),
  };
}

function verdictOf(rule: Rule, row: Row | undefined): Verdict {
  if (!row) throw new Error('take_rate answered fewer rows than rules');
  if (rule.burst !== null) return bucketVerdict(rule, row.now, { tokens: row.a, at: row.at }, row.ok);
  return windowVerdict(rule, row.now, { index: row.at, previous: row.a, current: row.b }, row.ok);
}
