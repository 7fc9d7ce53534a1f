import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { type LogFacets, type LogFacetsQuery, spanStart } from './schema.ts';
import { matching, OUTCOME } from './store.ts';

const DAY = 24 * 3_600_000;
/** Beyond the newest so many calls a facet tells shares, not totals. */
const COUNTED = 10_000;
/** Values of one facet; what is rarer is found by typing. */
const MOST = 12;

const DIMENSIONS = [
  'status_class',
  'method',
  'route_id',
  'environment',
  'client_id',
  'api_key_id',
  'error',
  'origin',
  'outcome',
  'proxy_mode',
] as const;

/** How the newest ten thousand calls that pass the filters spread over the values one can filter by; one walk over one index. */
export function logFacets(ctx: Ctx, query: z.output<typeof LogFacetsQuery>): Promise<z.input<typeof LogFacets>> {
  const from = query.from ?? spanStart(query.to ? Date.parse(query.to) : ctx.now.getTime(), DAY).toISOString();
  const space = ctx.sandbox ? Prisma.sql`sandbox = true` : Prisma.sql`sandbox = false`;
  return read(ctx, async (tx) => {
    const rows = await tx.$queryRaw<({ dimension: number; n: number } & Record<(typeof DIMENSIONS)[number], string | null>)[]>`
      select grouping(status_class, method, route_id, environment, client_id, api_key_id, error, origin, outcome, proxy_mode)::int as dimension, count(*)::int as n,
        status_class, method, route_id, environment, client_id, api_key_id, error, origin, outcome, proxy_mode
      from (select (status_code / 100)::text || 'xx' as status_class, method, route_id::text, environment, matched_client_id::text as client_id, api_key_id::text, error, origin, ${OUTCOME} as outcome, proxy_mode
        from request_logs where tenant_id = ${ctx.tenant_id}::uuid and ${space} and ${matching({ ...query, from })} order by ts desc, id desc limit ${COUNTED}) r
      group by grouping sets ((status_class), (method), (route_id), (environment), (client_id), (api_key_id), (error), (origin), (outcome), (proxy_mode), ())
      order by n desc`;
    // grouping() has a bit for every column a set leaves out, the first column highest.
    const all = (1 << DIMENSIONS.length) - 1;
    const of = (dimension: (typeof DIMENSIONS)[number]) => {
      const bits = all & ~(1 << (DIMENSIONS.length - 1 - DIMENSIONS.indexOf(dimension)));
      return rows
        .flatMap((row) => (row.dimension === bits && row[dimension] !== null ? [{ value: row[dimension], count: row.n }] : []))
        .slice(0, MOST);
    };
    const total = rows.find((row) => row.dimension === all)?.n ?? 0;
    const named = async (dimension: 'route_id' | 'client_id' | 'api_key_id') => {
      const facet = of(dimension);
      const asked = { where: { ...own(ctx), id: { in: facet.map((one) => one.value) } }, select: { id: true, name: true } };
      const found = await (dimension === 'route_id'
        ? tx.routes.findMany(asked)
        : dimension === 'client_id'
          ? tx.clients.findMany(asked)
          : tx.api_keys.findMany(asked));
      return facet.map((one) => ({ ...one, name: found.find((row) => row.id === one.value)?.name ?? null }));
    };
    return {
      total,
      total_is_capped: total === COUNTED,
      status_class: of('status_class'),
      method: of('method'),
      environment: of('environment'),
      error: of('error'),
      origin: of('origin'),
      outcome: of('outcome'),
      proxy_mode: of('proxy_mode'),
      route_id: await named('route_id'),
      client_id: await named('client_id'),
      api_key_id: await named('api_key_id'),
    };
  });
}
