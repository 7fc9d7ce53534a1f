import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { NO_ROUTE } from './buckets.ts';
import { type LogFilters, matching, REAL } from './filters.ts';

// Figures of one status code. Rollups know classes of codes only, so these are counted from the rows, as the list beside them is.

type Quantiles = { p50: number | null; p95: number | null; p99: number | null };
export type StatusBar = {
  at: Date;
  count: number;
  errors: number;
  rate_limited: number;
  bytes_in: number;
  bytes_out: number;
  trials: number;
};
export type StatusRoute = {
  is_all: boolean;
  route_id: string | null;
  count: number;
  errors: number;
  latency: Quantiles;
  upstream: Quantiles;
};

const rowsOf = (ctx: Ctx, filters: LogFilters) =>
  Prisma.sql`request_logs where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${matching(filters)}`;
const ROUTE = Prisma.raw(`coalesce(route_id, '${NO_ROUTE}'::uuid)`);
const FAILED = Prisma.sql`error is not null or status_code >= 500`;

/** The bars of the chart, `step` seconds each. */
export const statusBars = (tx: Tx, ctx: Ctx, filters: LogFilters, step: number): Promise<StatusBar[]> =>
  tx.$queryRaw<StatusBar[]>`
    select date_bin(make_interval(secs => ${step}), ts, 'epoch') as at, count(*) filter (where ${REAL})::float8 as count,
      count(*) filter (where ${REAL} and (${FAILED}))::float8 as errors, count(*) filter (where ${REAL} and rate_limited)::float8 as rate_limited,
      coalesce(sum(request_bytes) filter (where ${REAL}), 0)::float8 as bytes_in, coalesce(sum(response_bytes) filter (where ${REAL}), 0)::float8 as bytes_out,
      count(*) filter (where not (${REAL}))::float8 as trials
    from ${rowsOf(ctx, filters)} group by 1 order by 1`;

/** The ten routes with the most calls, and all routes together. */
export async function statusRoutes(tx: Tx, ctx: Ctx, filters: LogFilters): Promise<StatusRoute[]> {
  const exact = (column: Prisma.Sql) => Prisma.sql`percentile_disc(array[0.5, 0.95, 0.99]) within group (order by ${column})`;
  const rows = await tx.$queryRaw<
    (Omit<StatusRoute, 'latency' | 'upstream'> & { latency: (number | null)[] | null; upstream: (number | null)[] | null })[]
  >`select grouping(${ROUTE}) = 1 as is_all, (${ROUTE})::text as route_id, count(*)::float8 as count, (count(*) filter (where ${FAILED}))::float8 as errors,
      ${exact(Prisma.sql`latency_ms`)} as latency, ${exact(Prisma.sql`upstream_ms`)} as upstream
    from ${rowsOf(ctx, filters)} and ${REAL} group by grouping sets ((${ROUTE}), ()) order by 1 desc, 3 desc, 2 limit 11`;
  return rows.map((row) => ({ ...row, latency: quantilesOf(row.latency), upstream: quantilesOf(row.upstream) }));
}

const quantilesOf = (values: (number | null)[] | null): Quantiles => ({
  p50: values?.[0] ?? null,
  p95: values?.[1] ?? null,
  p99: values?.[2] ?? null,
});
