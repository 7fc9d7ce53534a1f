import type { Pool } from 'pg';
import { log } from '#server/platform/log.ts';
import type { Tenant } from '../snapshot/model.ts';
import type { Monthly } from './call.ts';

// Live calls a month (interface rules 12 §12, 20 §2): what the database said last plus what this gateway has counted since. The counter
// is flushed every second; while the database is away it goes on counting here.

/** One workspace in one month of UTC. A call counts in the month it was made in, even if it is written later. */
type Counter = { tenantId: string; year: number; month: number; stored: number; delta: number; flushing: number };

export type MonthlyCounters = {
  /** Counts one call, or says that the ceiling is reached (`admitted` false; nothing counted). */
  reserve(tenant: Tenant, now: number): { admitted: boolean; monthly: Monthly | null };
  /** Takes back a call reserved at `now` that another limit refused. */
  release(tenantId: string, now: number): void;
  /** Reads the counters of these workspaces, so that a restart forgets nothing. */
  load(): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
};

const FLUSH_MS = 1_000;

/** Calls of the month per workspace: counted here at once, added to the database every second (interface rule 20 §2). */
export function monthlyCounters(pool: Pool): MonthlyCounters {
  const counters = new Map<string, Counter>();
  let flushing: Promise<void> | undefined;
  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();

  const counterOf = (tenantId: string, now: number): Counter => {
    const { year, month, name } = monthOf(now);
    const key = `${tenantId} ${name}`;
    let counter = counters.get(key);
    if (!counter) {
      counter = { tenantId, year, month, stored: 0, delta: 0, flushing: 0 };
      counters.set(key, counter);
    }
    return counter;
  };

  async function flushOnce(): Promise<void> {
    const dirty = [...counters.values()]
      .filter((counter) => counter.delta !== 0)
      .sort((a, b) => (a.tenantId < b.tenantId ? -1 : a.tenantId > b.tenantId ? 1 : a.year - b.year || a.month - b.month));
    if (dirty.length === 0) return;
    for (const counter of dirty) {
      counter.flushing = counter.delta;
      counter.delta = 0;
    }
    try {
      const { rows } = await pool.query<{ tenant_id: string; year: number; month: number; n: string }>({
        name: 'usage-flush',
        // Tenants that were deleted meanwhile are skipped; the order keeps two gateways from waiting for each other in a circle.
        text: `insert into usage_counters (tenant_id, kind, year, month, n)
          select u.tenant_id, 'api_calls', u.year, u.month, u.n from unnest($1::uuid[], $2::int[], $3::int[], $4::bigint[]) with ordinality as u(tenant_id, year, month, n, i)
          where exists (select from tenants t where t.id = u.tenant_id) order by u.i
          on conflict (tenant_id, kind, year, month) do update set n = usage_counters.n + excluded.n returning tenant_id, year, month, n`,
        values: [dirty.map((c) => c.tenantId), dirty.map((c) => c.year), dirty.map((c) => c.month), dirty.map((c) => c.flushing)],
      });
      const stored = new Map(rows.map((row) => [`${row.tenant_id} ${nameOf(row.year, row.month)}`, Number(row.n)]));
      for (const counter of dirty) {
        counter.stored = stored.get(`${counter.tenantId} ${nameOf(counter.year, counter.month)}`) ?? counter.stored + counter.flushing;
        counter.flushing = 0;
      }
      forgetEnded();
    } catch (error) {
      for (const counter of dirty) {
        counter.delta += counter.flushing;
        counter.flushing = 0;
      }
      log.warn({ err: error }, 'cannot flush the usage counters; counting locally');
    }
  }

  /** Months that are over for an hour and written; a call that began in one may still come. */
  function forgetEnded(): void {
    const { name } = monthOf(Date.now() - 3_600_000);
    for (const [key, { year, month, delta }] of counters) if (delta === 0 && nameOf(year, month) < name) counters.delete(key);
  }

  function flush(): Promise<void> {
    flushing ??= flushOnce().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  return {
    reserve(tenant, now) {
      const counter = counterOf(tenant.id, now);
      const used = counter.stored + counter.flushing + counter.delta;
      const limit = tenant.monthlyCalls;
      if (limit !== null && used >= limit) return { admitted: false, monthly: { limit, remaining: 0 } };
      counter.delta += 1;
      return { admitted: true, monthly: limit === null ? null : { limit, remaining: limit - used - 1 } };
    },
    release(tenantId, now) {
      counterOf(tenantId, now).delta -= 1;
    },
    async load() {
      const now = new Date();
      const { rows } = await pool.query<{ tenant_id: string; n: string }>({
        name: 'usage-load',
        text: "select tenant_id, n from usage_counters where kind = 'api_calls' and year = $1 and month = $2",
        values: [now.getUTCFullYear(), now.getUTCMonth() + 1],
      });
      for (const row of rows) {
        const counter = counterOf(row.tenant_id, now.getTime());
        // It only grows: an answer that was overtaken by one of a flush is the older number.
        if (counter.flushing === 0) counter.stored = Math.max(counter.stored, Number(row.n));
      }
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
      await flush();
    },
  };
}

/** Compares like the months themselves. */
const nameOf = (year: number, month: number): number => year * 12 + month;

/** Every call asks for its month: the one at hand is worked out once. */
let held = { from: 0, to: 0, year: 0, month: 0, name: 0 };
function monthOf(now: number): typeof held {
  if (now >= held.from && now < held.to) return held;
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  held = { from: Date.UTC(year, month), to: Date.UTC(year, month + 1), year, month: month + 1, name: nameOf(year, month + 1) };
  return held;
}
