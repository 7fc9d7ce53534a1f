import type { PoolClient } from 'pg';
import { SANDBOX_LOG_DAYS, type Windows, windowEnd } from '#server/domain/retention/service.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { KEPT_DAYS } from './days.ts';
import { WITHOUT_DOWNSAMPLING } from './downsampling.ts';
import { handOver, raiseFloor } from './history/retention.ts';
import { prunePayloads } from './payloads/store.ts';
import { ROLLUPS } from './rollups.ts';
import { ADD_TOTALS, FORGET_TOTALS, takenFrom } from './totals.ts';

const BATCH = 5_000;
const MINUTE = 60_000;

/**
 * Removes calls beyond each workspace's window, with the rollups of the same minutes (interface rule 13 §7), and when that worked for all of them, hands
 * calls over to ClickHouse. @returns rows removed
 */
export async function pruneRequestLogs(windows: readonly Windows[], now: Date): Promise<number> {
  let removed = 0;
  let failed = 0;
  for (const { tenant_id, log_days } of windows) {
    try {
      const [live, test] = [log_days === null ? null : windowEnd(now, log_days), windowEnd(now, SANDBOX_LOG_DAYS)];
      // Payloads first: none outlives its call.
      await prunePayloads(tenant_id, false, live, now);
      await prunePayloads(tenant_id, true, test, now);
      if (live !== null) removed += await pruneSpace(tenant_id, false, live);
      removed += await pruneSpace(tenant_id, true, test);
    } catch (error) {
      failed++;
      log.error({ err: error, tenant_id }, 'cannot remove old request logs; the next run tries again');
    }
  }
  if (failed === 0) await handOver(now);
  await sql().query("delete from call_days where day < ($1::timestamptz at time zone 'UTC')::date - $2::int", [now, KEPT_DAYS]);
  return removed;
}

/**
 * Whole minutes, a few thousand rows at a time, rows and rollups in one transaction: at every moment the sum of the rollups,
 * and that of the totals, is the count of the rows.
 */
export async function pruneSpace(tenantId: string, sandbox: boolean, before: Date): Promise<number> {
  const client = await sql().connect();
  let removed = 0;
  let broken = true;
  try {
    for (let until: Date | null = before; until !== null; ) {
      await client.query('begin');
      await client.query(WITHOUT_DOWNSAMPLING);
      const batch = await batchEnd(client, tenantId, sandbox, before);
      until = batch ?? before;
      const own = sandbox ? 'sandbox = true' : '(sandbox = false or sandbox is null)';
      // The cut stays where it is until this is committed: rows up to it are ClickHouse's to take off the totals (history/retention.ts).
      const { rows: cuts } = await client.query<{ cut: string }>('select cut::text as cut from request_log_history for share');
      const { rows } = await client.query<{ gone: number; taken: object[] | null }>(
        `with gone as (delete from request_logs where tenant_id = $1 and ${own} and ts < $2 returning id, tenant_id, sandbox, route_id, environment, error, status_code, method)
          select (select count(*)::int from gone where id > $3) as gone, (select json_agg(t) from (${takenFrom('(select * from gone where id > $3) g')}) t) as taken`,
        [tenantId, until, cuts[0]?.cut ?? 0],
      );
      const { gone = 0, taken = null } = rows[0] ?? {};
      if (taken) {
        await client.query(ADD_TOTALS, [JSON.stringify(taken)]);
        await client.query(FORGET_TOTALS, [tenantId, sandbox]);
      }
      await forgetMinutes(client, tenantId, sandbox, until);
      await client.query('commit');
      removed += gone;
      if (batch === null) until = null;
    }
    broken = false;
  } finally {
    client.release(broken);
  }
  return removed + (await raiseFloor(tenantId, sandbox, before));
}

/** Of the six hours that are cut one quarter is marked: what is left of them is read piece by piece until it is added up again. */
async function forgetMinutes(client: PoolClient, tenantId: string, sandbox: boolean, until: Date): Promise<void> {
  for (const { minutes, quarters, blocks } of ROLLUPS)
    for (const [table, begins] of [
      [minutes, 'minute'],
      [quarters, 'quarter'],
      [blocks, 'block'],
    ])
      await client.query(`delete from ${table} where tenant_id = $1 and sandbox = $2 and ${begins} < $3`, [tenantId, sandbox, until]);
  await client.query(
    `insert into late_quarters (tenant_id, sandbox, quarter)
      select $1, $2, date_bin('15 minutes', $3::timestamptz, 'epoch') from date_bin('6 hours', $3::timestamptz, 'epoch') as cut where cut < $3
        and exists (select from request_rollups where tenant_id = $1 and sandbox = $2 and minute >= $3 and minute < cut + interval '6 hours')`,
    [tenantId, sandbox, until],
  );
}

/** The minute after which the first few thousand rows end; null when the rest is one batch. A minute is never cut, however full. */
async function batchEnd(client: PoolClient, tenantId: string, sandbox: boolean, before: Date): Promise<Date | null> {
  const nth = async (offset: number) =>
    (
      await client.query<{ ts: Date }>(
        'select ts from request_logs where tenant_id = $1 and sandbox = $2 and ts < $3 order by ts, id offset $4 limit 1',
        [tenantId, sandbox, before, offset],
      )
    ).rows[0]?.ts;
  const last = await nth(BATCH);
  if (!last) return null;
  const first = await nth(0);
  const minute = (at: Date) => Math.floor(at.getTime() / MINUTE) * MINUTE;
  return new Date(Math.max(minute(last), minute(first ?? last) + MINUTE));
}

/** Days whose partition is made before they begin. */
const DAYS_AHEAD = 3;
const DAY = 24 * 3_600_000;

/**
 * Makes the daily partitions to come and drops those beyond the longest window of all workspaces. A table of its own is attached, because that locks
 * the log for a moment only; when even that moment is not to be had in three seconds, the next hour tries again.
 * @returns names of what was made and dropped
 */
export async function maintainPartitions(windows: readonly Windows[], now: Date): Promise<{ made: string[]; dropped: string[] }> {
  const made: string[] = [];
  const dropped: string[] = [];
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const day = dayOf(new Date(now.getTime() + ahead * DAY));
    if (await attach(day)) made.push(nameOf(day));
  }
  const longest = windows.some((w) => w.log_days === null) ? null : Math.max(SANDBOX_LOG_DAYS, ...windows.map((w) => w.log_days ?? 0));
  if (longest === null) return { made, dropped };
  const end = windowEnd(now, longest);
  for (const { name, day } of await partitions())
    if (day.getTime() + DAY <= end.getTime() && (await drop(name, new Date(day.getTime() + DAY)))) dropped.push(name);
  return { made, dropped };
}

const dayOf = (at: Date) => new Date(Math.floor(at.getTime() / DAY) * DAY);
const nameOf = (day: Date) => `request_logs_${day.toISOString().slice(0, 10).replaceAll('-', '')}`;

async function partitions(): Promise<{ name: string; day: Date }[]> {
  const { rows } = await sql().query<{ name: string }>(
    "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'request_logs'::regclass and c.relname ~ '^request_logs_[0-9]{8}$'",
  );
  return rows.map(({ name }) => ({ name, day: new Date(`${name.slice(13, 17)}-${name.slice(17, 19)}-${name.slice(19, 21)}T00:00:00Z`) }));
}

async function attach(day: Date): Promise<boolean> {
  const name = nameOf(day);
  if ((await partitions()).some((p) => p.name === name)) return false;
  const next = new Date(day.getTime() + DAY);
  return quickly(`cannot attach ${name}`, [
    `create table if not exists ${name} (like request_logs including all)`,
    `alter table request_logs attach partition ${name} for values from ('${day.toISOString()}') to ('${next.toISOString()}')`,
  ]);
}

const drop = (name: string, end: Date) =>
  quickly(`cannot drop ${name}`, [
    // What retention left in it goes uncounted: workspaces are pruned before, but one may have failed.
    `insert into route_log_totals as t (tenant_id, sandbox, route_id, environment, status_code, method, n) ${takenFrom(`(select * from ${name} where id > (select cut from request_log_history)) p`)} order by 1, 2, 3, 4, 5, 6
      on conflict (tenant_id, sandbox, route_id, environment, status_code, method) do update set n = t.n + excluded.n`,
    'delete from route_log_totals where n = 0',
    `drop table ${name}`,
    WITHOUT_DOWNSAMPLING,
    // The end of a day is the end of six hours.
    ...ROLLUPS.flatMap(({ minutes, quarters, blocks }) => [
      `delete from ${minutes} where minute < '${end.toISOString()}'`,
      `delete from ${quarters} where quarter < '${end.toISOString()}'`,
      `delete from ${blocks} where block < '${end.toISOString()}'`,
    ]),
  ]);

/** 23514: the default partition holds calls of that day already (the first day of an installation); they stay there and are pruned there. */
async function quickly(problem: string, statements: readonly string[]): Promise<boolean> {
  const client = await sql().connect();
  try {
    await client.query('begin');
    await client.query("set local lock_timeout = '3s'");
    for (const statement of statements) await client.query(statement);
    await client.query('commit');
    return true;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    const { code } = error as { code?: string };
    if (code === '23514') return false;
    if (code !== '55P03' && code !== '40P01') throw error;
    log.warn({ err: error }, `${problem} now; the next run tries again`);
    return false;
  } finally {
    client.release();
  }
}
