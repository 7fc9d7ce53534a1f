import type { PoolClient } from 'pg';
import { ClickHouseError, clickHouseRows, clickHouseRun, hasClickHouse } from '#server/platform/clickhouse.ts';
import { env } from '#server/platform/env.ts';
import { log } from '#server/platform/log.ts';
import { withPooledClient } from '#server/platform/pooled-client.ts';
import { sql } from '#server/platform/sql.ts';
import { anchorTenant } from '../anchors.ts';
import { ADD_TOTALS, FORGET_TOTALS } from '../totals.ts';
import { pastOf } from './past.ts';
import { pastTotals } from './reading.ts';

const DAY = 24 * 3_600_000;
/** Readers that looked at the cut before it moved have ended by then. */
const SETTLED_MS = 10 * 60_000;

/**
 * Takes a space's calls in ClickHouse from before a moment out of every list and total; they are deleted there later. Comes after the same was done to
 * PostgreSQL: a row is taken off the totals by the store it is read from, so once. @returns calls taken out @throws ClickHouseError
 */
export async function raiseFloor(tenant_id: string, sandbox: boolean, before: Date): Promise<number> {
  if (!hasClickHouse()) return 0;
  const past = await pastOf({ tenant_id, sandbox });
  if (past && past.kept_from >= before) return 0;
  const totals = past ? await pastTotals(past, before) : [];
  await withPooledClient(sql(), async (client) => {
    await client.query('begin');
    const { rows } = await client.query<{ cut: string }>('select cut::text as cut from request_log_history for share');
    if (rows[0]?.cut !== String(past?.cut ?? 0n)) throw new ClickHouseError(new Error('calls were handed over meanwhile'));
    const { rowCount } = await client.query(
      `insert into request_log_floors as f (tenant_id, sandbox, kept_from) values ($1, $2, $3) on conflict (tenant_id, sandbox) do update
        set kept_from = excluded.kept_from where f.kept_from < excluded.kept_from and ($4::timestamptz is null or f.kept_from = $4)`,
      [tenant_id, sandbox, before, past?.kept_from],
    );
    // Another run raised it since: what was counted here was taken off by that.
    if (rowCount === 1 && totals.length > 0) {
      const taken = totals.map(({ n, ...key }) => ({ tenant_id, sandbox, ...key, n: -n }));
      await client.query(ADD_TOTALS, [JSON.stringify(taken)]);
      await client.query(FORGET_TOTALS, [tenant_id, sandbox]);
    }
    await client.query('commit');
  });
  return totals.reduce((sum, { n }) => sum + n, 0);
}

/**
 * Hands the oldest calls in PostgreSQL over to ClickHouse: what readers were told to read there is dropped here, and then the cut moves on, up to what is
 * copied, anchored and older than CLICKHOUSE_HOT_DAYS. Only after the floor of every space was raised. @returns names of what was dropped
 */
export async function handOver(now: Date): Promise<string[]> {
  if (!hasClickHouse()) return [];
  const { rows } = await sql().query<{ store: string; copied: string; cut: string; cut_at: Date | null; deleted_at: Date | null }>(
    'select store, copied::text as copied, cut::text as cut, cut_at, deleted_at from request_log_history',
  );
  const [state] = rows;
  if (!state) return [];
  const cut = BigInt(state.cut);
  const dropped = state.cut_at && now.getTime() - state.cut_at.getTime() >= SETTLED_MS ? await dropUpTo(cut) : [];
  if (cut > 0n && (!state.deleted_at || now.getTime() - state.deleted_at.getTime() >= DAY)) await deleteBelowFloors(state.store, now);
  const oldest = smallest(BigInt(state.copied), idAt(now.getTime() - env.CLICKHOUSE_HOT_DAYS * DAY));
  const next = smallest(oldest, await anchoredUpTo(oldest, now));
  if (next > cut) await moveCut(state.store, next, now);
  return dropped;
}

/** The lowest ID of a time (migration request_log_ids). */
export const idAt = (ms: number): bigint => (BigInt(ms) * 1000n) << 11n;
const smallest = (...ids: bigint[]): bigint => ids.reduce((a, b) => (a < b ? a : b));

/** An anchor is made of rows in PostgreSQL: workspaces that were passed over get theirs now. @returns the highest ID below which all rows are anchored */
async function anchoredUpTo(limit: bigint, now: Date): Promise<bigint> {
  for (const { tenant_id } of await unanchored(limit)) await anchorTenant(tenant_id, now);
  const [first] = await unanchored(limit);
  return first ? BigInt(first.id) - 1n : limit;
}

/** The first row of each workspace that has no anchor, up to an ID; the lowest first. */
async function unanchored(limit: bigint): Promise<{ tenant_id: string; id: string }[]> {
  const first = (space: string) =>
    `(select r.id from request_logs r where r.tenant_id = t.id and ${space} and r.id > a.to_id and r.id <= $1 order by r.id limit 1)`;
  const { rows } = await sql().query<{ tenant_id: string; id: string }>(
    `select t.id as tenant_id, min(f.id)::text as id from tenants t
      cross join lateral (select coalesce(max(to_id), 0) as to_id from request_log_anchors where tenant_id = t.id) a
      cross join lateral (${['r.sandbox = false', 'r.sandbox = true', 'r.sandbox is null'].map(first).join(' union all ')}) f
      group by 1 order by min(f.id)`,
    [String(limit)],
  );
  return rows;
}

/** Waits for prunings that have looked at the cut, and they for this. */
async function moveCut(store: string, cut: bigint, now: Date): Promise<void> {
  const [row] = await clickHouseRows<{ ms: number; n: number }>(
    `select toUnixTimestamp64Milli(max(ts)) as ms, count() as n from ${store} where id <= {cut:UInt64}`,
    { cut: String(cut) },
  );
  if (!row || row.n === 0) return;
  await sql().query('update request_log_history set cut = $1, cut_until = greatest(cut_until, $2), cut_at = $3 where cut < $1', [
    String(cut),
    new Date(row.ms),
    now,
  ]);
  log.info({ until: new Date(row.ms) }, 'older calls are read from ClickHouse');
}

/** Whole days; of the partition that takes what has none, row by row. */
async function dropUpTo(cut: bigint): Promise<string[]> {
  const { rows } = await sql().query<{ name: string }>(
    "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'request_logs'::regclass and c.relname ~ '^request_logs_[0-9]{8}$'",
  );
  const dropped: string[] = [];
  for (const { name } of rows) if (await dropDay(name, cut)) dropped.push(name);
  for (let gone = 1; gone > 0; ) {
    const { rowCount } = await sql().query(
      'delete from request_logs_default where ctid = any(array(select ctid from request_logs_default where id <= $1 limit 5000))',
      [String(cut)],
    );
    gone = rowCount ?? 0;
  }
  return dropped;
}

const dropDay = (name: string, cut: bigint): Promise<boolean> =>
  withPooledClient(sql(), async (client) => {
    await client.query('begin');
    const gone = (await isBelow(client, name, cut)) && (await dropNow(client, name, cut));
    await client.query(gone ? 'commit' : 'rollback');
    return gone;
  });

/** An empty day is kept: it may be one to come. */
const isBelow = async (client: PoolClient, name: string, cut: bigint): Promise<boolean> => {
  const { rows } = await client.query<{ below: boolean }>(
    `select exists (select from ${name}) and not exists (select from ${name} where id > $1) and to_date(right($2, 8), 'YYYYMMDD') < (now() at time zone 'UTC')::date as below`,
    [String(cut), name],
  );
  return rows[0]?.below === true;
};

/** A call may still be filed under that day: it waits for the lock, or it is there when this looks again. */
async function dropNow(client: PoolClient, name: string, cut: bigint): Promise<boolean> {
  try {
    await client.query("set local lock_timeout = '3s'");
    await client.query('lock table only request_logs in access exclusive mode');
    if (!(await isBelow(client, name, cut))) return false;
    await client.query(`drop table ${name}`);
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== '55P03' && code !== '40P01') throw error;
    log.warn({ err: error }, `cannot drop ${name} now; the next run tries again`);
    return false;
  }
}

/** Once a day: what no reader sees any more. One mutation for many spaces. */
async function deleteBelowFloors(store: string, now: Date): Promise<void> {
  const { rows } = await sql().query<{ space: string; ms: string }>(
    "select tenant_id::text || case when sandbox then ':test' else ':live' end as space, floor(extract(epoch from kept_from) * 1000)::text as ms from request_log_floors",
  );
  const space = `concat(toString(tenant_id), if(test, ':test', ':live'))`;
  for (let i = 0; i < rows.length; i += 2_000) {
    const some = rows.slice(i, i + 2_000);
    await clickHouseRun(
      `alter table ${store} delete where has({spaces:Array(String)}, ${space})
        and toUnixTimestamp64Milli(ts) < arrayElement({floors:Array(Int64)}, indexOf({spaces:Array(String)}, ${space}))`,
      { spaces: some.map((one) => one.space), floors: some.map(({ ms }) => Number(ms)) },
    );
  }
  await sql().query('update request_log_history set deleted_at = $1', [now]);
}
