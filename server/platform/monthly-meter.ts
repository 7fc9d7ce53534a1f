import { processState } from '#server/kernel/process-state.ts';
import { log } from './log.ts';
import { sql } from './sql.ts';

type Counter = { tenantId: string; kind: string; year: number; month: number; stored: number; delta: number; flushing: number };
type State = {
  counters: Map<string, Counter>;
  loading: Map<string, Promise<Counter>>;
  timer: NodeJS.Timeout | undefined;
  flushing: Promise<void>;
};
const state = processState(
  'monthly-meters',
  (): State => ({ counters: new Map(), loading: new Map(), timer: undefined, flushing: Promise.resolve() }),
);

const FLUSH_MS = 1_000;

export type MeterTaken = { allowed: boolean; used: number; giveBack: () => void };

/**
 * Counts `n` uses of a kind in the month (UTC) of one workspace, all or none of them: what the database said last and what this process has counted since
 * are compared with the limit. Sums are written every second, so processes that count at the same time may pass a limit by what they do in a second.
 * @throws when the counter can't be read for the first time
 */
export async function takeFromMonth(tenantId: string, kind: string, n: number, limit: number | null, now: Date): Promise<MeterTaken> {
  const counter = await counterOf(tenantId, kind, now);
  const used = counter.stored + counter.flushing + counter.delta;
  if (limit !== null && used + n > limit) return { allowed: false, used, giveBack: () => {} };
  counter.delta += n;
  state.timer ??= setTimeout(() => void flushMeters(), FLUSH_MS).unref();
  return {
    allowed: true,
    used,
    giveBack: () => {
      counter.delta -= n;
    },
  };
}

async function counterOf(tenantId: string, kind: string, now: Date): Promise<Counter> {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() + 1];
  const name = `${tenantId} ${kind} ${year} ${month}`;
  const known = state.counters.get(name);
  if (known) return known;
  let loading = state.loading.get(name);
  if (!loading) {
    loading = load({ tenantId, kind, year, month, stored: 0, delta: 0, flushing: 0 })
      .then((counter) => {
        state.counters.set(name, counter);
        return counter;
      })
      .finally(() => state.loading.delete(name));
    state.loading.set(name, loading);
  }
  return loading;
}

async function load(counter: Counter): Promise<Counter> {
  const { rows } = await sql().query<{ n: string }>({
    name: 'monthly-meter-load',
    text: 'select n from usage_counters where tenant_id = $1 and kind = $2 and year = $3 and month = $4',
    values: [counter.tenantId, counter.kind, counter.year, counter.month],
  });
  return { ...counter, stored: Number(rows[0]?.n ?? 0) };
}

/** Writes what was counted so far. Never throws: what can't be written now is added to the next sums. For an orderly stop, and for tests. */
export function flushMeters(): Promise<void> {
  clearTimeout(state.timer);
  state.timer = undefined;
  state.flushing = state.flushing.then(flush);
  return state.flushing;
}

async function flush(): Promise<void> {
  const dirty = [...state.counters].filter(([, counter]) => counter.delta !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
  if (dirty.length === 0) return;
  const counters = dirty.map(([, counter]) => counter);
  for (const counter of counters) {
    counter.flushing = counter.delta;
    counter.delta = 0;
  }
  try {
    const { rows } = await sql().query<{ tenant_id: string; kind: string; year: number; month: number; n: string }>({
      name: 'monthly-meter-flush',
      text: WRITE,
      values: [
        counters.map((c) => c.tenantId),
        counters.map((c) => c.kind),
        counters.map((c) => c.year),
        counters.map((c) => c.month),
        counters.map((c) => c.flushing),
      ],
    });
    const stored = new Map(rows.map((row) => [`${row.tenant_id} ${row.kind} ${row.year} ${row.month}`, Number(row.n)]));
    for (const [name, counter] of dirty) {
      counter.stored = stored.get(name) ?? counter.stored + counter.flushing;
      counter.flushing = 0;
    }
    forgetEnded();
  } catch (error) {
    for (const counter of counters) {
      counter.delta += counter.flushing;
      counter.flushing = 0;
    }
    log.warn({ err: error, counters: counters.length }, 'cannot write monthly counters; trying again');
    state.timer ??= setTimeout(() => void flushMeters(), FLUSH_MS).unref();
  }
}

/** Months that are over for an hour and written; a call that began in one may still come. */
function forgetEnded(): void {
  const then = new Date(Date.now() - 3_600_000);
  const current = then.getUTCFullYear() * 12 + then.getUTCMonth() + 1;
  for (const [name, { year, month, delta }] of state.counters) if (delta === 0 && year * 12 + month < current) state.counters.delete(name);
}

// Workspaces that were deleted meanwhile are skipped; the order keeps two processes from waiting for each other in a circle.
const WRITE = `insert into usage_counters (tenant_id, kind, year, month, n)
  select u.tenant_id, u.kind, u.year, u.month, u.n from unnest($1::uuid[], $2::text[], $3::int[], $4::int[], $5::bigint[]) with ordinality as u (tenant_id, kind, year, month, n, i)
  where exists (select from tenants t where t.id = u.tenant_id) order by u.i
  on conflict (tenant_id, kind, year, month) do update set n = usage_counters.n + excluded.n returning tenant_id, kind, year, month, n`;
