import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { type Places, places } from '#server/platform/geoip.ts';
import { REAL } from '../filters.ts';
import { mayReadIdentity } from '../identity.ts';
import { spanStart } from '../span.shared.ts';
import type { LiveCalls, LiveQuery } from './schema.ts';
import { addressOfUpstream } from './upstream-address.ts';

const MINUTE = 60_000;
const MINUTES = 15;
const SHOWN_MS = 10 * MINUTE;
const MOST_CALLS = 40;

type Answer = z.input<typeof LiveCalls>;
type Row = Omit<Answer['calls'][number], 'from' | 'to'> & { src_ip: string | null; upstream_host: string | null };

/**
 * What goes through the gateway at this moment, for a page that asks every few seconds (interface rule 70 §6). Places are told when they are asked for, at
 * city level, to readers who may see who called.
 */
export async function liveCalls(ctx: Ctx, asked: z.output<typeof LiveQuery>): Promise<Answer> {
  const allowed = asked.places && (await mayReadIdentity(ctx));
  const known = allowed ? await places() : null;
  const { rows, ...figures } = await read(ctx, async (tx) => ({ rows: await newest(tx, ctx), ...(await minutesOf(tx, ctx)) }));
  return {
    ...figures,
    calls: rows.map(({ src_ip, upstream_host, ...row }) => ({
      ...row,
      from: known && spotIn(known, src_ip),
      // What never reached an upstream has its end where it began.
      to: known && upstream_host ? spotIn(known, addressOfUpstream(upstream_host)) : null,
    })),
    places: !asked.places ? 'hidden' : !allowed ? 'not_allowed' : known ? 'shown' : 'unavailable',
  };
}

const newest = (tx: Tx, ctx: Ctx) =>
  tx.$queryRaw<
    Row[]
  >`select request_id, ts as at, method, route_id, route_name, status_code, latency_ms, error, src_ip, upstream_host from request_logs
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ts > ${new Date(ctx.now.getTime() - SHOWN_MS)} and ${REAL}
    order by ts desc, id desc limit ${MOST_CALLS}`;

/** Minutes of the last quarter of an hour are in no coarser table yet. */
async function minutesOf(tx: Tx, ctx: Ctx) {
  const from = spanStart(ctx.now.getTime(), MINUTES * MINUTE);
  const own = Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and minute >= ${from} and minute <= ${ctx.now}`;
  const rows = await tx.$queryRaw<{ at: Date; calls: number; errors: number }[]>`
    select minute as at, sum(count)::float8 as calls, sum(errors)::float8 as errors from request_rollups where ${own} group by 1`;
  const [routes] = await tx.$queryRaw<{ n: number }[]>`select count(distinct route_id)::int as n from request_rollups
    where ${own} and count > 0 and route_id <> '00000000-0000-0000-0000-000000000000'`;
  const byMinute = new Map(rows.map((row) => [row.at.getTime(), row]));
  const minutes = Array.from({ length: MINUTES }, (_, i) => new Date(from.getTime() + i * MINUTE));
  return {
    minutes: minutes.map((at) => ({ calls: 0, errors: 0, ...byMinute.get(at.getTime()), at })),
    active_routes: routes?.n ?? 0,
  };
}

function spotIn(known: Places, ip: string | null | undefined) {
  const spot = ip ? known.spotOf(ip) : null;
  const round = (degrees: number) => Math.round(degrees * 10) / 10;
  return spot && ip ? { lat: round(spot.lat), lon: round(spot.lon), ...known.of(ip) } : null;
}
