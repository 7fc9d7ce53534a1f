import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type Places, places } from '#server/platform/geoip.ts';
import type { LogStats } from './figures.schema.ts';
import { type LogFilters, matching, REAL } from './filters.ts';
import { mayReadIdentity } from './identity.ts';

/** Calls counted for one answer, newest first: 10 ms of the database, and no more addresses to look up. */
const COUNTED = 10_000;
/** Rows among which those of one caller, environment or collection are sought: 45 ms. */
const READ_TO_FIND = 100_000;

type Countries = NonNullable<z.input<typeof LogStats>['countries']>;

/** Where addresses are, for a reader who may see them; null for others, and where there is no database of countries. */
export const placesFor = async (ctx: Ctx): Promise<Places | null> => ((await mayReadIdentity(ctx)) ? places() : null);

/** A row with where its caller was, as far as that is known today. */
export function withPlace<T extends { src_ip: string | null }>(row: T, known: Places | null) {
  const place = known?.of(row.src_ip);
  return { ...row, source_ip_country: place?.country ?? null, source_ip_city: place?.city ?? null };
}

type Span = Omit<LogFilters, 'from' | 'to'> & { from: Date; to: Date };

/**
 * Where the calls of a stretch of time came from: from rows and not from rollups, since what is kept is the address, and the country it has is today's.
 * So it is of the newest calls, and says of how many. `total` is how many there are.
 */
export async function countriesOf(
  tx: Tx,
  ctx: Ctx,
  known: Places,
  { from, to, route_id, ...sought }: Span,
  total: number,
): Promise<Countries> {
  const most = Object.values(sought).some((value) => value !== undefined) ? READ_TO_FIND : COUNTED;
  const ofRoute = route_id === undefined ? Prisma.sql`true` : Prisma.sql`route_id = ${route_id}::uuid`;
  const rows = await tx.$queryRaw<{ src_ip: string | null; n: number }[]>`
    select src_ip, count(*)::int as n from (
      select src_ip from (
        select src_ip, route_id, environment, matched_client_id, api_key_id, status_code, proxy_mode, ts, id from request_logs
        where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ts >= ${from} and ts < ${to} and ${ofRoute} order by ts desc, id desc limit ${most}) r
      where ${REAL} and ${matching(sought)} order by ts desc, id desc limit ${COUNTED}) c group by src_ip`;
  const calls = byCountry(rows, known);
  const of_newest = calls.reduce((sum, { count }) => sum + count, 0);
  return { calls, of_newest, is_capped: of_newest < total };
}

/** Counts by address as counts by country, most first; a country of null is one that is not known. */
function byCountry(rows: readonly { src_ip: string | null; n: number }[], known: Places): Countries['calls'] {
  const counts = new Map<string | null, number>();
  for (const { src_ip, n } of rows) {
    const { country } = known.of(src_ip);
    counts.set(country, (counts.get(country) ?? 0) + n);
  }
  return Array.from(counts, ([country, count]) => ({ country, count })).sort(
    (a, b) => b.count - a.count || (a.country ?? 'ZZZ').localeCompare(b.country ?? 'ZZZ'),
  );
}
