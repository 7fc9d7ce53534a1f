import type { PoolClient } from 'pg';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { sql } from '#server/platform/db.ts';
import { LATENCY_BUCKETS } from './buckets.ts';
import { HISTOGRAMS, LATE_MINUTES, OF_CALLERS, OF_ROUTES, ROLLUPS, type Rollup } from './rollups.ts';

// Minutes that are over, added up by the quarter of an hour by a job and not by the writer of the log: figures of a day read a fifteenth of the rows. A call
// that is written late, and retention in the midst of a quarter, leave a mark: until the quarter is added up again its minutes are read. So the figures
// are those of the minutes at every moment, whatever the job has done or not done yet.

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
/** Minutes after its end at which a quarter is added up. */
const SETTLED_MINUTES = 20;
/** Marks that are worked off in one transaction. */
const MARKS = 5_000;

/** Adds up the quarters that ended so many minutes ago, and the marked ones again, each in a transaction of its own. @returns quarters of the deployment, and marked ones of spaces */
export async function foldQuarters(settledMinutes = SETTLED_MINUTES): Promise<{ folded: number; again: number }> {
  const client = await sql().connect();
  let broken = true;
  try {
    let [folded, again] = [0, 0];
    while (await inTurn(client, (client, until) => foldNext(client, until, settledMinutes))) folded++;
    for (let done = MARKS; done === MARKS; again += done) done = await inTurn(client, foldMarked);
    broken = false;
    return { folded, again };
  } finally {
    client.release(broken);
  }
}

/** One after the other, and none while retention removes what it adds up. */
async function inTurn<T>(client: PoolClient, work: (client: PoolClient, until: Date) => Promise<T>): Promise<T> {
  await client.query('begin');
  const { rows } = await client.query<{ until: Date }>('select until from folded_quarters for update');
  const result = await work(client, rows[0]?.until ?? new Date(0));
  await client.query('commit');
  return result;
}
/** For retention: no quarter is added up from minutes that are being removed. */
export const WITHOUT_FOLDING = 'select from folded_quarters for share';

/**
 * The next quarter, unless somebody may still write to it without a mark: a transaction that wrote calls before they were late, and has not ended. What is
 * written later finds its calls late, by the database's clock.
 */
async function foldNext(client: PoolClient, until: Date, settledMinutes: number): Promise<boolean> {
  const end = new Date(until.getTime() + QUARTER);
  const { rows } = await client.query<{ due: boolean }>(
    `select $1::timestamptz <= now() - $2 * interval '1 minute' and not exists (
      select from pg_locks l join pg_stat_activity a using (pid) where l.database = (select oid from pg_database where datname = current_database()) and l.relation = 'request_logs'::regclass and l.mode = 'RowExclusiveLock'
        and a.xact_start < $1::timestamptz + interval '${LATE_MINUTES} minutes') as due`,
    [end, settledMinutes],
  );
  if (!rows[0]?.due) return false;
  for (const rollup of ROLLUPS)
    await client.query(
      folding(
        rollup,
        `tenants t cross join (values (false), (true)) as space(sandbox) cross join (values ($1::timestamptz)) as one(quarter)`,
        't.id',
      ),
      [until],
    );
  await client.query('update folded_quarters set until = $1', [end]);
  return true;
}

/** Marks of quarters that are not added up yet go too: their turn comes. @returns marks worked off */
async function foldMarked(client: PoolClient, until: Date): Promise<number> {
  const { rows } = await client.query<{ tenant_id: string; sandbox: boolean; quarter: Date }>(
    'delete from late_quarters where id in (select id from late_quarters order by id limit $1) returning tenant_id, sandbox, quarter',
    [MARKS],
  );
  const marked = rows.filter(({ quarter }) => quarter < until);
  const values = [marked.map((m) => m.tenant_id), marked.map((m) => m.sandbox), marked.map((m) => m.quarter)];
  const listed = 'select distinct * from unnest($1::uuid[], $2::boolean[], $3::timestamptz[]) as m(tenant_id, sandbox, quarter)';
  if (marked.length > 0)
    for (const rollup of ROLLUPS) {
      await client.query(`delete from ${rollup.quarters} where (tenant_id, sandbox, quarter) in (${listed})`, values);
      await client.query(folding(rollup, `(${listed}) space`, 'space.tenant_id'), values);
    }
  return rows.length;
}

/** Writes the quarters of `spaces`, which has a `quarter` each. */
function folding({ minutes, quarters, by, counts }: Rollup, spaces: string, tenant: string): string {
  const others = Object.keys(by).filter((name) => !['tenant_id', 'sandbox', 'minute'].includes(name));
  const sums = [
    ...counts.map((name) => `sum(${name}) as ${name}`),
    ...HISTOGRAMS.map(
      (name) =>
        `array[${Array.from({ length: LATENCY_BUCKETS }, (_, i) => `coalesce(sum(${name}[${i + 1}]), 0)`).join(', ')}]::int[] as ${name}`,
    ),
  ];
  return `insert into ${quarters} (tenant_id, sandbox, quarter, ${[...others, ...counts, ...HISTOGRAMS].join(', ')})
    select ${tenant}, space.sandbox, quarter, r.* from ${spaces} cross join lateral (select ${[...others, ...sums].join(', ')} from ${minutes} m
      where m.tenant_id = ${tenant} and m.sandbox = space.sandbox and m.minute >= quarter and m.minute < quarter + interval '15 minutes'
      group by ${others.join(', ')}) r`;
}

/** Which minutes and which quarters a span is read from; `minutes` are spans of their own. */
export type Reading = { quarters: { from: Date; end: Date; without: Date[] }; minutes: { from: Date; end: Date }[] };

/** From the minute that `from` lies in to the minute that `to` lies in; a minute that begins at `to` does not count. */
export async function readingOf(tx: Tx, ctx: Ctx, from: Date, to: Date): Promise<Reading> {
  const [known] = await tx.$queryRaw<
    { until: Date; late: Date[] | null }[]
  >`select until, (select array_agg(distinct quarter) from late_quarters
      where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and quarter > ${new Date(from.getTime() - QUARTER)} and quarter < ${to}) as late
    from folded_quarters`;
  const first = Math.floor(from.getTime() / MINUTE) * MINUTE;
  const last = Math.ceil(to.getTime() / MINUTE) * MINUTE;
  const begin = Math.ceil(first / QUARTER) * QUARTER;
  const end = Math.floor(Math.min(last, known?.until.getTime() ?? 0) / QUARTER) * QUARTER;
  if (begin >= end) return { quarters: { from, end: from, without: [] }, minutes: [{ from: new Date(first), end: new Date(last) }] };
  const without = (known?.late ?? []).filter((late) => late.getTime() >= begin && late.getTime() < end);
  const minutes = [[first, begin], ...without.map((late) => [late.getTime(), late.getTime() + QUARTER]), [end, last]];
  return {
    quarters: { from: new Date(begin), end: new Date(end), without },
    minutes: minutes.flatMap(([from = 0, end = 0]) => (from < end ? [{ from: new Date(from), end: new Date(end) }] : [])),
  };
}

/** The whole span by the minute, for bars that are narrower than a quarter. */
export const byMinutes = ({ quarters, minutes }: Reading): Reading => {
  const ends = minutes.flatMap(({ from, end }) => [from.getTime(), end.getTime()]);
  const all = [quarters.from.getTime(), quarters.end.getTime(), ...ends];
  return {
    quarters: { ...quarters, end: quarters.from },
    minutes: [{ from: new Date(Math.min(...all)), end: new Date(Math.max(...all)) }],
  };
};

/** Calls of a span, added up by routes or by callers: a table expression of `columns` and of `minute`, in which a part of the calls begins. */
export function callsOf(of: 'routes' | 'callers', reading: Reading, columns: Prisma.Sql, where: Prisma.Sql): Prisma.Sql {
  const { minutes, quarters } = of === 'routes' ? OF_ROUTES : OF_CALLERS;
  const starts = reading.minutes.map(({ from }) => from.toISOString());
  const ends = reading.minutes.map(({ end }) => end.toISOString());
  const { from, end, without } = reading.quarters;
  return Prisma.sql`(select r.* from unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) as part(begins, ends)
      cross join lateral (select minute, ${columns} from ${Prisma.raw(minutes)} where ${where} and minute >= part.begins and minute < part.ends) r
    union all select quarter as minute, ${columns} from ${Prisma.raw(quarters)} where ${where} and quarter >= ${from} and quarter < ${end}
      and quarter <> all(${without.map((late) => late.toISOString())}::timestamptz[]))`;
}
