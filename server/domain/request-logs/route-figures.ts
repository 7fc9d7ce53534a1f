import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { callsOf, inPartsOf, readingOf } from './read-plan.ts';
import { spanStart } from './span.shared.ts';

const HOURS = 24;
const HOUR = 3_600_000;

/**
 * `calls_by_hour` has 24 figures, the oldest first, a call that lies in a quarter of an hour which lies in two of them perhaps in the first; `errors` are
 * refusals of ours and 5xx, as in every other figure.
 */
export type RouteFigure = { calls: number; errors: number; calls_by_hour: number[] };

/** The last 24 hours of many routes; routes without a call are absent. */
export async function figuresOfRoutes(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<Map<string, RouteFigure>> {
  const from = spanStart(ctx.now.getTime(), HOURS * HOUR);
  const reading = await readingOf(tx, ctx, from, ctx.now);
  const where = Prisma.sql`route_id = any(${ids}::uuid[]) and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
  const rows = await tx.$queryRaw<
    { route_id: string; hour: number; calls: number; errors: number }[]
  >`select route_id, floor(extract(epoch from at - ${from}::timestamptz) / 3600)::int as hour, sum(count)::float8 as calls, sum(errors)::float8 as errors
    from ${callsOf('routes', inPartsOf(HOUR, reading), Prisma.sql`route_id, count, errors`, where)} c group by 1, 2`;
  const figures = new Map<string, RouteFigure>();
  for (const { route_id, hour, calls, errors } of rows) {
    const figure = figures.get(route_id) ?? noCalls();
    figures.set(route_id, figure);
    figure.calls += calls;
    figure.errors += errors;
    const at = Math.min(hour, HOURS - 1);
    figure.calls_by_hour[at] = (figure.calls_by_hour[at] ?? 0) + calls;
  }
  return figures;
}

export const noCalls = (): RouteFigure => ({ calls: 0, errors: 0, calls_by_hour: new Array<number>(HOURS).fill(0) });

/** The keys and clients that called a route most in the last 24 hours, as they are named today; one that is gone has no name. */
export async function callersOfRoute(tx: Tx, ctx: Ctx, routeId: string, most = 5) {
  const from = spanStart(ctx.now.getTime(), HOURS * HOUR);
  const reading = await readingOf(tx, ctx, from, ctx.now);
  const asked = Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and route_id = ${routeId}::uuid`;
  const rows = await tx.$queryRaw<
    { caller_id: string; calls: number }[]
  >`select caller_id, sum(count)::float8 as calls from ${callsOf('callers', reading, Prisma.sql`caller_id, count`, asked)} c group by 1 order by 2 desc, 1 limit ${most}`;
  const where = { ...own(ctx), id: { in: rows.map((row) => row.caller_id) } };
  const select = { id: true, name: true } as const;
  const keys = new Map((await tx.api_keys.findMany({ where, select })).map((key) => [key.id, key.name]));
  const clients = new Map((await tx.clients.findMany({ where, select })).map((client) => [client.id, client.name]));
  return rows.map(({ caller_id, calls }) => ({
    kind: clients.has(caller_id) ? ('client' as const) : ('api_key' as const),
    id: caller_id,
    name: keys.get(caller_id) ?? clients.get(caller_id) ?? null,
    calls,
  }));
}
