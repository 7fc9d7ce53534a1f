import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { Places } from '#server/platform/places.ts';
import type { CallPlace, LogFilters } from './filters.ts';

/** Calls whose addresses are looked up at once: 0.2 s with forty thousand addresses among them, whatever the span holds. */
export const SOUGHT = 100_000;

/** Without a database there is nothing to filter by, and a list of nothing would say that nobody called from there. */
export const noCountries = () => invalid('country', 'is only available if the operator has set GEOIP_DB_PATH and you can see IP addresses');

type Asked = LogFilters & { country?: string | undefined };
type Stretch = { before?: CallPlace | undefined; most: number };

/**
 * A filter by country as one by addresses. What is kept of a call is its address and the country it has is today's, so no index knows it: the addresses of
 * the newest calls of the span, at most `most`, are looked up, and the filter ends where they end. `ended` is that place, null when they were all; what
 * is older is sought from there, with it as `before`.
 * @throws Refusal validation_error where no country is known to this reader
 */
export async function byAddressesOf(tx: Tx, ctx: Ctx, known: Places | null, { country, ...filters }: Asked, { before, most }: Stretch) {
  if (country === undefined) return { filters, ended: null };
  if (!known) throw noCountries();
  const { from, to, route_id } = filters;
  const conditions = [
    Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`,
    ...(from === undefined ? [] : [Prisma.sql`ts >= ${new Date(from)}`]),
    ...(to === undefined ? [] : [Prisma.sql`ts <= ${new Date(to)}`]),
    ...(route_id === undefined ? [] : [Prisma.sql`route_id = ${route_id}::uuid`]),
    ...(before === undefined ? [] : [Prisma.sql`(ts, id) < (${before.ts}, ${before.id})`]),
  ];
  const calls = Prisma.sql`from request_logs where ${Prisma.join(conditions, ' and ')}`;
  const [ended = null] = await tx.$queryRaw<CallPlace[]>`select ts, id ${calls} order by ts desc, id desc offset ${most - 1} limit 1`;
  const down_to = ended ? Prisma.sql`and (ts, id) >= (${ended.ts}, ${ended.id})` : Prisma.empty;
  // One row: forty thousand of them would take longer to bring than to find.
  const [found] = await tx.$queryRaw<{ addresses: string[] | null }[]>`select array_agg(src_ip) as addresses
    from (select src_ip ${calls} ${down_to} and src_ip is not null group by src_ip) a`;
  const any = found?.addresses?.filter((address) => known.of(address).country === country) ?? [];
  return { filters: { ...filters, addresses: { any, down_to: ended } }, ended };
}
