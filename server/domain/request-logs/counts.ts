import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { PROBE_LIMITS } from '#server/platform/lists/list.ts';
import { type LogFilters, matching } from './filters.ts';

// How many calls there are, without reading them where that can be helped.

/** How many rows pass, counted up to `most` + 1. */
export async function countUpTo(tx: Tx, ctx: Ctx, filters: LogFilters, most: number): Promise<number> {
  const [row] = await tx.$queryRaw<
    { n: number }[]
  >`select count(*)::int as n from (select 1 from request_logs where tenant_id = ${ctx.tenant_id}::uuid
    and sandbox = ${ctx.sandbox} and ${matching(filters)} limit ${most + 1}) c`;
  return row?.n ?? 0;
}

/** What a route's list can be narrowed by. */
export type RouteLogFilters = Pick<LogFilters, 'environment' | 'status' | 'method' | 'from' | 'to'> & { route_id: string };

/**
 * How many calls of a route pass. Whatever the filter it is a sum of kept totals, which is the true count: the writer adds a row and its total in one
 * transaction, and retention removes them so. Only a filter within a stretch of time is counted row by row.
 */
export async function countOfRoute(tx: Tx, ctx: Ctx, filters: RouteLogFilters): Promise<number> {
  const { route_id, from, to, ...others } = filters;
  const unfiltered = Object.values(others).every((value) => value === undefined);
  if (from === undefined && to === undefined) return keptCount(tx, ctx, filters);
  return unfiltered ? countInTime(tx, ctx, { route_id, from, to }) : countRows(tx, ctx, filters);
}

/** From kept totals alone, unless calls of environments that the route did not have may be among them. */
export async function keptCount(tx: Tx, ctx: Ctx, { route_id, environment, status, method }: RouteLogFilters): Promise<number> {
  const conditions = [
    Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and route_id = ${route_id}::uuid`,
    ...(environment === undefined ? [] : [Prisma.sql`environment in (${environment}, '')`]),
    ...(status === undefined ? [] : [Prisma.sql`status_code = ${status}`]),
    ...(method === undefined ? [] : [Prisma.sql`method = ${method.toUpperCase()}`]),
  ];
  const [row] = await tx.$queryRaw<
    { n: number; unnamed: number }[]
  >`select coalesce(sum(n), 0)::float8 as n, coalesce(sum(n) filter (where environment = ''), 0)::float8 as unnamed
    from route_log_totals where ${Prisma.join(conditions, ' and ')}`;
  if (!row) return 0;
  if (environment === undefined || row.unnamed === 0) return row.n;
  // Calls of an environment that the route did not have then are counted under no name.
  return row.n - row.unnamed + (await countRows(tx, ctx, { route_id, environment, status, method, error: 'environment_not_configured' }));
}

/** Counted row by row. */
export async function countRows(tx: Tx, ctx: Ctx, filters: LogFilters): Promise<number> {
  const [row] = await tx.$queryRaw<
    { n: number }[]
  >`select count(*)::float8 as n from request_logs where tenant_id = ${ctx.tenant_id}::uuid and coalesce(sandbox, false) = ${ctx.sandbox} and ${matching(filters)}`;
  return row?.n ?? 0;
}

/** Calls of a route in a stretch of time: counted, or all less those outside, whichever turns out to be few. */
async function countInTime(tx: Tx, ctx: Ctx, { route_id, from, to }: RouteLogFilters): Promise<number> {
  const calls = (condition: Prisma.Sql, most: Prisma.Sql) =>
    Prisma.sql`(select count(*) from (select from request_logs where route_id = ${route_id}::uuid and tenant_id = ${ctx.tenant_id}::uuid
      and coalesce(sandbox, false) = ${ctx.sandbox} and ${condition} ${most}) c)`;
  const outside = (most: Prisma.Sql) =>
    Prisma.join(
      [
        Prisma.sql`0`,
        ...(from ? [calls(Prisma.sql`ts < ${new Date(from)}`, most)] : []),
        ...(to ? [calls(Prisma.sql`ts > ${new Date(to)}`, most)] : []),
      ],
      ' + ',
    );
  const all = Prisma.sql`coalesce((select sum(n) from route_log_totals where route_id = ${route_id}::uuid and tenant_id = ${ctx.tenant_id}::uuid
    and sandbox = ${ctx.sandbox}), 0)::float8`;
  for (const most of PROBE_LIMITS) {
    const up = Prisma.sql`limit ${most}`;
    const [row] = await tx.$queryRaw<
      { inside: number; outside: number; all: number }[]
    >`select ${calls(matching({ from, to }), up)}::float8 as inside, (${outside(up)})::float8 as outside, ${all} as all`;
    if (row && row.inside < most) return row.inside;
    if (row && row.outside < most) return row.all - row.outside;
  }
  const [row] = await tx.$queryRaw<{ n: number }[]>`select ${all} - (${outside(Prisma.empty)})::float8 as n`;
  return row?.n ?? 0;
}
