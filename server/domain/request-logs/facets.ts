import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import type { LogFacets, LogFacetsQuery } from './browse.schema.ts';
import { namesOf } from './days.ts';
import { byRoutesOf, type LogFilters, matching, OUTCOME } from './filters.ts';
import { type Past, withPast } from './history/past.ts';
import { pastSpread } from './history/reading.ts';
import { spanStart } from './span.shared.ts';

const DAY = 24 * 3_600_000;
/** Beyond the newest so many calls a facet tells shares, not totals. */
const COUNTED = 10_000;
/** Values of one facet; what is rarer is found by typing. */
const MOST = 12;

/** What a call is sorted by, and the filters that narrow it. */
const DIMENSIONS = {
  status_class: { sql: Prisma.sql`(status_code / 100)::text || 'xx'`, filters: ['status_class', 'status'] },
  method: { sql: Prisma.sql`method`, filters: ['method'] },
  route_id: { sql: Prisma.sql`route_id::text`, filters: ['route_id'] },
  environment: { sql: Prisma.sql`environment`, filters: ['environment'] },
  client_id: { sql: Prisma.sql`matched_client_id::text`, filters: ['client_id'] },
  api_key_id: { sql: Prisma.sql`api_key_id::text`, filters: ['api_key_id'] },
  error: { sql: Prisma.sql`error`, filters: ['error'] },
  origin: { sql: Prisma.sql`origin`, filters: ['origin'] },
  outcome: { sql: OUTCOME, filters: ['outcome'] },
  proxy_mode: { sql: Prisma.sql`proxy_mode`, filters: ['proxy_mode'] },
} as const satisfies Record<string, { sql: Prisma.Sql; filters: readonly (keyof LogFilters)[] }>;
type Dimension = keyof typeof DIMENSIONS;
const ALL = Object.keys(DIMENSIONS) as Dimension[];

/**
 * How the newest ten thousand calls that pass the filters spread over the values one can filter by: one walk over one index, and one more for each
 * dimension that is filtered already, without that filter, so that its other values stay in sight.
 */
export async function logFacets(ctx: Ctx, query: z.output<typeof LogFacetsQuery>): Promise<z.input<typeof LogFacets>> {
  const from = query.from ?? spanStart(query.to ? Date.parse(query.to) : ctx.now.getTime(), DAY).toISOString();
  const answer = (past: Past | null) =>
    read(ctx, async (tx) => {
      const filters = await byRoutesOf(tx, ctx, { ...query, from });
      const chosen = ALL.filter((dimension) => DIMENSIONS[dimension].filters.some((name) => filters[name] !== undefined));
      const { total, facets } = await spread(tx, ctx, past, filters, ALL);
      for (const dimension of chosen) {
        const others = Object.fromEntries(
          Object.entries(filters).filter(([name]) => !(DIMENSIONS[dimension].filters as readonly string[]).includes(name)),
        );
        facets.set(dimension, (await spread(tx, ctx, past, others, [dimension])).facets.get(dimension) ?? []);
      }
      const of = (dimension: Dimension) => facets.get(dimension) ?? [];
      const named = async (dimension: 'route_id' | 'client_id' | 'api_key_id') => {
        const names = await namesOf(
          tx,
          ctx,
          KINDS[dimension],
          of(dimension).map((one) => one.value),
        );
        return of(dimension).map((one) => ({ ...one, name: names.get(one.value) ?? null }));
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
  return withPast(ctx, from, answer);
}

const KINDS = { route_id: 'route', client_id: 'client', api_key_id: 'api_key' } as const;

type Facet = { value: string; count: number }[];

/** Of the newest calls in PostgreSQL, and if those are fewer, of the newest older ones. */
async function spread(tx: Tx, ctx: Ctx, past: Past | null, filters: LogFilters, dimensions: readonly Dimension[]) {
  const newest = await newestSpread(tx, ctx, past ? { ...filters, above: past.cut } : filters, dimensions);
  let { total } = newest;
  const facets = new Map<Dimension, Map<string, number>>(newest.facets);
  if (past && total < COUNTED)
    for (const { dimension, value, n } of await pastSpread(past, filters, dimensions, COUNTED - total)) {
      if (dimension === '') total += n;
      else facets.set(dimension, (facets.get(dimension) ?? new Map()).set(value, (facets.get(dimension)?.get(value) ?? 0) + n));
    }
  const top = (counts: ReadonlyMap<string, number>): Facet =>
    Array.from(counts, ([value, count]) => ({ value, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, MOST);
  return { total, facets: new Map(Array.from(facets, ([dimension, counts]) => [dimension, top(counts)])) };
}

async function newestSpread(tx: Tx, ctx: Ctx, filters: LogFilters, dimensions: readonly Dimension[]) {
  const list = (of: (dimension: Dimension) => Prisma.Sql) => Prisma.join(dimensions.map(of));
  const name = (dimension: Dimension) => Prisma.raw(dimension);
  const rows = await tx.$queryRaw<({ dimension: number; n: number } & Partial<Record<Dimension, string | null>>)[]>`
    select grouping(${list(name)})::int as dimension, count(*)::int as n, ${list(name)}
    from (select ${list((dimension) => Prisma.sql`${DIMENSIONS[dimension].sql} as ${name(dimension)}`)}
      from request_logs where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${matching(filters)} order by ts desc, id desc limit ${COUNTED}) r
    group by grouping sets (${list((dimension) => Prisma.sql`(${name(dimension)})`)}, ()) order by n desc`;
  // grouping() has a bit for every column a set leaves out, the first column highest.
  const all = (1 << dimensions.length) - 1;
  const facets = new Map<Dimension, Map<string, number>>();
  for (const [at, dimension] of dimensions.entries()) {
    const bits = all & ~(1 << (dimensions.length - 1 - at));
    const values = rows.flatMap((row) => {
      const value = row.dimension === bits ? row[dimension] : null;
      return value === null || value === undefined ? [] : [[value, row.n] as const];
    });
    facets.set(dimension, new Map(values));
  }
  return { total: rows.find((row) => row.dimension === all)?.n ?? 0, facets };
}
