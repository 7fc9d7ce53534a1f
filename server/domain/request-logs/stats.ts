import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { LATENCY_BUCKETS, NO_ROUTE, percentile } from './buckets.ts';
import { countriesOf, placesFor } from './countries.ts';
import type { LogStatsQuery } from './figures.schema.ts';
import { byRoutesOf, type LogFilters, matching, REAL } from './filters.ts';
import { tellOfPast } from './history/past.ts';
import { callsOf, inPartsOf, type Reading, readingOf } from './read-plan.ts';
import { spanStart } from './span.shared.ts';
import { type StatusBar, type StatusRoute, statusBars, statusRoutes } from './stats-of-status.ts';

const DAY = 24 * 3_600_000;
const LONGEST = 366 * DAY;
/** Bars of the histogram grow with the range, so that it never has many more than two hundred. */
const STEPS = [60, 300, 900, 3600, 6 * 3600, 24 * 3600];

/** What a bar adds up. */
const COUNTS = ['total', 'c2xx', 'c3xx', 'c4xx', 'c5xx', 'other', 'errors', 'rate_limited', 'bytes_in', 'bytes_out', 'trials'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

/**
 * Figures of the space, or of one API key or client of it, from the rollups, never from the rows, but for the error codes of the newest
 * failures and the countries of the newest calls (interface rule 13 §8), and what is asked of a single status code. Percentiles are true to a bucket of their histogram, about 35 % wide.
 */
export async function logStats(ctx: Ctx, query: z.output<typeof LogStatsQuery>) {
  const to = query.to ? new Date(query.to) : ctx.now;
  const from = query.from ? new Date(query.from) : spanStart(to.getTime(), DAY);
  const range = to.getTime() - from.getTime();
  if (range <= 0 || range > LONGEST) throw invalid('from', 'must be before to, by at most 366 days');
  const step = STEPS.find((s) => range / 1000 / s <= 200) ?? 24 * 3600;
  const caller = callerOf(query);
  const asked = Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
    and ${query.route_id ? Prisma.sql`route_id = ${query.route_id}::uuid` : Prisma.sql`true`} and ${query.environment ? Prisma.sql`environment = ${query.environment}` : Prisma.sql`true`}
    and ${caller ? Prisma.sql`caller_id = ${caller}::uuid` : Prisma.sql`true`} and ${query.status_class ? Prisma.sql`status_class = ${query.status_class}` : Prisma.sql`true`}`;
  const known = await placesFor(ctx);
  await tellOfPast(ctx, from, query.status === undefined ? 'Error codes and countries' : 'Figures of one status code');
  return read(ctx, async (tx) => {
    const filters = await byRoutesOf(tx, ctx, query);
    const rows = { ...filters, from: from.toISOString(), to: to.toISOString() };
    const source: Source = {
      of: caller ? 'callers' : 'routes',
      reading: await readingOf(tx, ctx, from, to),
      where: 'route_ids' in filters ? Prisma.sql`${asked} and route_id = any(${filters.route_ids}::uuid[])` : asked,
    };
    const exact = query.status !== undefined;
    const bars = exact ? (await statusBars(tx, ctx, rows, step)).map((bar) => barOf(query.status, bar)) : await barsOf(tx, source, step);
    const routes = exact ? await statusRoutes(tx, ctx, rows) : (await busiestRoutes(tx, source)).map(withQuantiles);
    const all = routes.find((row) => row.is_all);
    const totals = bars.reduce((sum, bar) => addUp(sum, bar), none);
    return {
      from,
      to,
      step_seconds: step,
      series: bars.filter((bar) => bar.total > 0),
      totals,
      latency: all?.latency ?? NO_QUANTILES,
      upstream_latency: all?.upstream ?? NO_QUANTILES,
      top_routes: await named(
        tx,
        ctx,
        routes.filter((row) => !row.is_all),
      ),
      error_codes: await errorCodes(tx, ctx, from, to, filters),
      countries: known && (await countriesOf(tx, ctx, known, { ...filters, from, to }, totals.total)),
    };
  });
}

const none = Object.fromEntries(COUNTS.map((name) => [name, 0])) as Counts;
const addUp = (a: Counts, b: Counts) => Object.fromEntries(COUNTS.map((name) => [name, a[name] + b[name]])) as Counts;

/** Whose calls, which of them, and what they are read from. */
type Source = { of: 'routes' | 'callers'; where: Prisma.Sql; reading: Reading };

/** @throws Refusal validation_error: a call is counted by its key and by its client, not by both together */
function callerOf({ client_id, api_key_id }: z.output<typeof LogStatsQuery>): string | undefined {
  if (client_id && api_key_id) throw invalid('client_id', 'must not be combined with api_key_id');
  return client_id ?? api_key_id;
}

/** The bars of the chart, those with trials alone among them. As one value: its rows would cost the client more than the database. */
async function barsOf(tx: Tx, { of, where, reading }: Source, step: number): Promise<(Counts & { at: Date })[]> {
  const sums = ['count', 'errors', 'rate_limited', 'bytes_in', 'bytes_out', ...(of === 'routes' ? ['trials'] : [])];
  const calls = callsOf(of, inPartsOf(step * 1_000, reading), Prisma.raw(['status_class', ...sums].join(', ')), where);
  const [row] = await tx.$queryRaw<{ parts: [at: string, status_class: number, ...sums: number[]][] | null }[]>`
    select json_agg(json_build_array(at, status_class, ${Prisma.raw(sums.join(', '))}) order by at) as parts
    from (select date_bin(make_interval(secs => ${step}), c.at, 'epoch') as at, status_class, ${Prisma.raw(sums.map((name) => `sum(${name}) as ${name}`).join(', '))}
      from ${calls} c group by 1, 2) b`;
  const bars = new Map<string, Counts & { at: Date }>();
  for (const [at, status_class, total = 0, errors = 0, rate_limited = 0, bytes_in = 0, bytes_out = 0, trials = 0] of row?.parts ?? []) {
    const bar = bars.get(at) ?? { at: new Date(at), ...none };
    const part = barOf(status_class * 100, { at: bar.at, count: total, errors, rate_limited, bytes_in, bytes_out, trials });
    bars.set(at, { ...bar, ...addUp(bar, part) });
  }
  return [...bars.values()];
}

/** Calls of one status as a bar. */
const barOf = (status = 0, { at, count, ...sums }: StatusBar): Counts & { at: Date } => ({
  at,
  ...none,
  ...sums,
  total: count,
  [CLASSES[Math.floor(status / 100)] ?? 'other']: count,
});
const CLASSES: Partial<Record<number, keyof Counts>> = { 2: 'c2xx', 3: 'c3xx', 4: 'c4xx', 5: 'c5xx' };

type RouteSums = {
  is_all: boolean;
  route_id: string | null;
  count: number;
  errors: number;
  latency: number[];
  upstream: number[];
} & Longest;
type Longest = { latency_max: number | null; upstream_max: number | null };

/** Histograms are added up bucket by bucket: one column each is a third of the time that taking the arrays apart takes. */
const buckets = (column: string, of: (bucket: string) => string) =>
  Array.from({ length: LATENCY_BUCKETS }, (_, i) => of(`${column}_${i + 1}`)).join(', ');
const SUMS = Prisma.raw(
  ['latency', 'upstream'].map((column) => buckets(column, (name) => `sum(${name.replace(/_(\d+)$/, '[$1]')}) as ${name}`)).join(', '),
);
const EACH = Prisma.raw(
  ['latency', 'upstream'].map((column) => `array[${buckets(column, (name) => `coalesce(${name}, 0)`)}]::float8[] as ${column}`).join(', '),
);
const ALL = Prisma.raw(
  ['latency', 'upstream']
    .map((column) => `array[${buckets(column, (name) => `coalesce(sum(${name}), 0)`)}]::float8[] as ${column}`)
    .join(', '),
);

/** The ten routes with the most calls, and all routes together. */
const busiestRoutes = (tx: Tx, { of, where, reading }: Source): Promise<RouteSums[]> =>
  tx.$queryRaw<RouteSums[]>`
    with r as materialized (select route_id, sum(count) as count, sum(errors) as errors, max(latency_max) as latency_max, max(upstream_max) as upstream_max, ${SUMS}
      from ${callsOf(of, reading, Prisma.sql`route_id, count, errors, latency, upstream, latency_max, upstream_max`, where)} c group by 1)
    (select false as is_all, route_id, count::float8 as count, errors::float8 as errors, latency_max, upstream_max, ${EACH} from r where r.count > 0 order by r.count desc, route_id limit 10)
    union all (select true, null, 0, 0, max(latency_max), max(upstream_max), ${ALL} from r)`;

const NO_QUANTILES = { p50: null, p95: null, p99: null };

const withQuantiles = ({ is_all, route_id, count, errors, latency, upstream, latency_max, upstream_max }: RouteSums): StatusRoute => ({
  is_all,
  route_id,
  count,
  errors,
  latency: quantiles(latency, latency_max),
  upstream: quantiles(upstream, upstream_max),
});

const quantiles = (counts: readonly number[], longest: number | null) => ({
  p50: percentile(counts, 0.5, longest ?? undefined),
  p95: percentile(counts, 0.95, longest ?? undefined),
  p99: percentile(counts, 0.99, longest ?? undefined),
});

/** Routes as they are called today; one that is gone has no name. */
async function named(tx: Tx, ctx: Ctx, rows: readonly StatusRoute[]) {
  const ids = rows.flatMap(({ route_id }) => route_id ?? []);
  const names = new Map(
    (await tx.routes.findMany({ where: { ...own(ctx), id: { in: ids } }, select: { id: true, name: true } })).map((r) => [r.id, r.name]),
  );
  return rows.map(({ route_id, count, errors, latency }) => ({
    route_id: route_id === NO_ROUTE ? null : route_id,
    name: names.get(route_id ?? '') ?? null,
    count,
    errors,
    p95: latency.p95,
  }));
}

/** Of the newest ten thousand failed calls: rollups do not tell codes apart. */
const errorCodes = (tx: Tx, ctx: Ctx, from: Date, to: Date, filters: LogFilters) =>
  tx.$queryRaw<
    { error: string; count: number }[]
  >`select error, count(*)::int as count from (select error from request_logs where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
      and ts >= ${from} and ts < ${to} and error is not null and ${REAL} and ${matching({ ...filters, from: undefined, to: undefined })}
      order by ts desc limit 10000) e group by error order by 2 desc, 1 limit 20`;
