import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { emptyBuckets, percentile } from './buckets.ts';
import { type LogStatsQuery, NO_ROUTE } from './schema.ts';
import { spanStart } from './span/schema.ts';
import { matching, REAL } from './store.ts';

const DAY = 24 * 3_600_000;
const LONGEST = 366 * DAY;
/** Bars of the histogram grow with the range, so that it never has many more than two hundred. */
const STEPS = [60, 300, 900, 3600, 6 * 3600, 24 * 3600];

type Counts = { total: number; c2xx: number; c3xx: number; c4xx: number; c5xx: number; other: number };
const COUNTS = Prisma.sql`sum(count)::float8 as total, coalesce(sum(count) filter (where status_class = 2), 0)::float8 as c2xx,
  coalesce(sum(count) filter (where status_class = 3), 0)::float8 as c3xx, coalesce(sum(count) filter (where status_class = 4), 0)::float8 as c4xx,
  coalesce(sum(count) filter (where status_class = 5), 0)::float8 as c5xx, coalesce(sum(count) filter (where status_class not between 2 and 5), 0)::float8 as other`;

/**
 * Figures of the space, or of one API key or client of it, from the minute rollups, never from the rows, but for the error codes of the newest
 * failures (interface rule 13 §8).
 */
export async function logStats(ctx: Ctx, query: z.output<typeof LogStatsQuery>) {
  const to = query.to ? new Date(query.to) : ctx.now;
  const from = query.from ? new Date(query.from) : spanStart(to.getTime(), DAY);
  const range = to.getTime() - from.getTime();
  if (range <= 0 || range > LONGEST) throw invalid('from', 'must lie before to, by 366 days at most');
  const step = STEPS.find((s) => range / 1000 / s <= 200) ?? 24 * 3600;
  const caller = callerOf(query);
  const rollups = caller ? Prisma.sql`caller_rollups` : Prisma.sql`request_rollups`;
  // Rollups are whole minutes: the minute that `from` lies in counts.
  const where = Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and minute >= date_trunc('minute', ${from}::timestamptz) and minute < ${to}
    and ${query.route_id ? Prisma.sql`route_id = ${query.route_id}::uuid` : Prisma.sql`true`} and ${query.environment ? Prisma.sql`environment = ${query.environment}` : Prisma.sql`true`}
    and ${caller ? Prisma.sql`caller_id = ${caller}::uuid` : Prisma.sql`true`}`;
  const source = { rollups, where };
  return read(ctx, async (tx) => {
    const series = await tx.$queryRaw<
      ({ at: Date; errors: number } & Counts)[]
    >`select to_timestamp(floor(extract(epoch from minute) / ${step}::int) * ${step}::int) as at, ${COUNTS}, sum(errors)::float8 as errors from ${rollups} where ${where} group by 1 having sum(count) > 0 order by 1`;
    const [totals] = await tx.$queryRaw<
      (Counts & Record<'errors' | 'rate_limited' | 'bytes_in' | 'bytes_out' | 'trials', number>)[]
    >`select ${COUNTS},
      coalesce(sum(errors), 0)::float8 as errors, coalesce(sum(rate_limited), 0)::float8 as rate_limited, coalesce(sum(bytes_in), 0)::float8 as bytes_in, coalesce(sum(bytes_out), 0)::float8 as bytes_out,
      ${caller ? Prisma.sql`0::float8` : Prisma.sql`coalesce(sum(trials), 0)::float8`} as trials
      from ${rollups} where ${where}`;
    return {
      from,
      to,
      step_seconds: step,
      series,
      totals: { ...none, ...totals, total: totals?.total ?? 0 },
      latency: quantiles(await histogram(tx, source, Prisma.sql`latency`)),
      upstream_latency: quantiles(await histogram(tx, source, Prisma.sql`upstream`)),
      top_routes: await topRoutes(tx, ctx, source),
      error_codes: await errorCodes(tx, ctx, from, to, query),
    };
  });
}

const none = { total: 0, c2xx: 0, c3xx: 0, c4xx: 0, c5xx: 0, other: 0, errors: 0, rate_limited: 0, bytes_in: 0, bytes_out: 0, trials: 0 };

/** A table of rollups and what is asked of it. */
type Source = { rollups: Prisma.Sql; where: Prisma.Sql };

/** @throws Refusal validation_error: a call is counted by its key and by its client, not by both together */
function callerOf({ client_id, api_key_id }: z.output<typeof LogStatsQuery>): string | undefined {
  if (client_id && api_key_id) throw invalid('client_id', 'cannot be combined with api_key_id');
  return client_id ?? api_key_id;
}

async function histogram(tx: Tx, { rollups, where }: Source, column: Prisma.Sql): Promise<number[]> {
  const rows = await tx.$queryRaw<
    { bucket: number; n: number }[]
  >`select b.i::int - 1 as bucket, sum(b.n)::float8 as n from ${rollups}, unnest(${column}) with ordinality as b(n, i) where ${where} and b.n > 0 group by 1`;
  const counts = emptyBuckets();
  for (const { bucket, n } of rows) if (bucket < counts.length) counts[bucket] = n;
  return counts;
}

const quantiles = (counts: readonly number[]) => ({
  p50: percentile(counts, 0.5),
  p95: percentile(counts, 0.95),
  p99: percentile(counts, 0.99),
});

async function topRoutes(tx: Tx, ctx: Ctx, { rollups, where }: Source) {
  const rows = await tx.$queryRaw<
    { route_id: string; count: number; errors: number }[]
  >`select route_id, sum(count)::float8 as count, sum(errors)::float8 as errors from ${rollups} where ${where} group by 1 having sum(count) > 0 order by 2 desc, 1 limit 10`;
  const names = await tx.routes.findMany({
    where: { ...own(ctx), id: { in: rows.map((r) => r.route_id) } },
    select: { id: true, name: true },
  });
  const top = [];
  for (const { route_id, count, errors } of rows) {
    const p95 = percentile(
      await histogram(tx, { rollups, where: Prisma.sql`${where} and route_id = ${route_id}::uuid` }, Prisma.sql`latency`),
      0.95,
    );
    const known = route_id === NO_ROUTE ? null : route_id;
    top.push({ route_id: known, name: names.find((n) => n.id === route_id)?.name ?? null, count, errors, p95 });
  }
  return top;
}

/** Of the newest ten thousand failed calls: rollups do not tell codes apart. */
const errorCodes = (tx: Tx, ctx: Ctx, from: Date, to: Date, query: z.output<typeof LogStatsQuery>) =>
  tx.$queryRaw<
    { error: string; count: number }[]
  >`select error, count(*)::int as count from (select error from request_logs where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
      and ts >= ${from} and ts < ${to} and error is not null and ${REAL} and ${matching({ ...query, from: undefined, to: undefined })}
      order by ts desc limit 10000) e group by error order by 2 desc, 1 limit 20`;
