import type { PoolClient } from 'pg';
import { sql } from '#server/platform/sql.ts';
import { LATENCY_BUCKETS } from './buckets.ts';
import { BLOCK, HISTOGRAMS, LATE_MINUTES, MAXIMA, QUARTER, ROLLUPS, type Rollup } from './rollups.ts';

// Minutes that are over are added up again, by the quarter of an hour and by six hours, by a job and not by the writer of the log. A call that is written
// late, and retention in the midst of a quarter, leave a mark: until it is worked off the minutes are read (see reading.ts). So figures are those of the
// minutes at every moment, whatever the job has done or not done yet.

/** Minutes after its end at which a quarter is added up. */
const SETTLED_MINUTES = 20;
/** Marks that are worked off in one transaction. */
const MARKS = 5_000;

/** Adds up the quarters that ended so many minutes ago, and the marked ones again, each in a transaction of its own. @returns quarters of the deployment, and marks */
export async function downsampleRollups(settledMinutes = SETTLED_MINUTES): Promise<{ folded: number; again: number }> {
  const client = await sql().connect();
  let broken = true;
  try {
    let [folded, again] = [0, 0];
    while (await inTurn(client, (until) => foldNext(client, until, settledMinutes))) folded++;
    for (let done = MARKS; done === MARKS; again += done) done = await inTurn(client, (until) => foldMarked(client, until));
    broken = false;
    return { folded, again };
  } finally {
    client.release(broken);
  }
}

/** One after the other, and none while retention removes what it adds up. */
async function inTurn<T>(client: PoolClient, work: (until: Date) => Promise<T>): Promise<T> {
  await client.query('begin');
  const { rows } = await client.query<{ until: Date }>('select until from folded_quarters for update');
  const result = await work(rows[0]?.until ?? new Date(0));
  await client.query('commit');
  return result;
}
/** For retention: nothing is added up from minutes that are being removed. */
export const WITHOUT_DOWNSAMPLING = 'select from folded_quarters for share';

/**
 * The next quarter, and the six hours it ends, unless somebody may still write to it without a mark: a transaction that wrote calls before they were late,
 * and has not ended. What is written later finds its calls late, by the database's clock.
 */
async function foldNext(client: PoolClient, quarter: Date, settledMinutes: number): Promise<boolean> {
  const until = new Date(quarter.getTime() + QUARTER);
  const { rows } = await client.query<{ due: boolean }>(
    `select $1::timestamptz <= now() - $2 * interval '1 minute' and not exists (
      select from pg_locks l join pg_stat_activity a using (pid) where l.database = (select oid from pg_database where datname = current_database())
        and l.relation = 'request_logs'::regclass and l.mode = 'RowExclusiveLock' and a.xact_start < $1::timestamptz + interval '${LATE_MINUTES} minutes') as due`,
    [until, settledMinutes],
  );
  if (!rows[0]?.due) return false;
  const inAll =
    '(select t.id as tenant_id, sandbox, $1::timestamptz as at from tenants t cross join (values (false), (true)) as s(sandbox)) cell';
  for (const rollup of ROLLUPS) {
    await client.query(quarters(rollup, inAll), [quarter]);
    if (until.getTime() % BLOCK === 0) await client.query(blocks(rollup, inAll), [new Date(until.getTime() - BLOCK)]);
  }
  await client.query('update folded_quarters set until = $1', [until]);
  return true;
}

/** Marks of quarters that are not added up yet go too: their turn comes. @returns marks worked off */
async function foldMarked(client: PoolClient, until: Date): Promise<number> {
  const { rows } = await client.query<{ tenant_id: string; sandbox: boolean; quarter: Date }>(
    'delete from late_quarters where id in (select id from late_quarters order by id limit $1) returning tenant_id, sandbox, quarter',
    [MARKS],
  );
  const listed = '(select distinct * from unnest($1::uuid[], $2::boolean[], $3::timestamptz[]) as m(tenant_id, sandbox, at)) cell';
  for (const [size, column, fold] of [
    [QUARTER, 'quarter', quarters],
    [BLOCK, 'block', blocks],
  ] as const) {
    const cells = rows
      .map(({ quarter, ...space }) => ({ ...space, at: Math.floor(quarter.getTime() / size) * size }))
      .filter(({ at }) => at + size <= until.getTime());
    if (cells.length === 0) continue;
    const values = [cells.map((c) => c.tenant_id), cells.map((c) => c.sandbox), cells.map((c) => new Date(c.at))];
    for (const rollup of ROLLUPS) {
      const table = size === QUARTER ? rollup.quarters : rollup.blocks;
      await client.query(
        `delete from ${table} where (tenant_id, sandbox, ${column}) in (select tenant_id, sandbox, at from ${listed})`,
        values,
      );
      await client.query(fold(rollup, listed), values);
    }
  }
  return rows.length;
}

/** Statements that write the quarters, and the blocks of six hours, of `cells`: a space and a beginning each. */
const quarters = (rollup: Rollup, cells: string) =>
  adding(rollup, cells, [rollup.minutes, 'minute'], [rollup.quarters, 'quarter'], '15 minutes');
const blocks = (rollup: Rollup, cells: string) => adding(rollup, cells, [rollup.quarters, 'quarter'], [rollup.blocks, 'block'], '6 hours');

function adding(
  { by, counts }: Rollup,
  cells: string,
  [from, fine]: [string, string],
  [into, coarse]: [string, string],
  size: string,
): string {
  const others = Object.keys(by).filter((name) => !['tenant_id', 'sandbox', 'minute'].includes(name));
  const sums = [
    ...counts.map((name) => `sum(${name}) as ${name}`),
    ...HISTOGRAMS.map(
      (name) =>
        `array[${Array.from({ length: LATENCY_BUCKETS }, (_, i) => `coalesce(sum(${name}[${i + 1}]), 0)`).join(', ')}]::int[] as ${name}`,
    ),
    ...MAXIMA.map((name) => `max(${name}) as ${name}`),
  ];
  return `insert into ${into} (tenant_id, sandbox, ${coarse}, ${[...others, ...counts, ...HISTOGRAMS, ...MAXIMA].join(', ')})
    select cell.tenant_id, cell.sandbox, cell.at, r.* from ${cells} cross join lateral (select ${[...others, ...sums].join(', ')} from ${from} f
      where f.tenant_id = cell.tenant_id and f.sandbox = cell.sandbox and f.${fine} >= cell.at and f.${fine} < cell.at + interval '${size}'
      group by ${others.join(', ')}) r`;
}
