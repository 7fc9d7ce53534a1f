import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { LATENCY_BUCKETS, NO_ROUTE, percentile } from '../buckets.ts';
import { byRoutesOf } from '../filters.ts';
import { callsOf, inPartsOf, type Reading, readingOf } from '../read-plan.ts';
import type { Asked, Figures, Group, Span } from './span.ts';
import type { Dimension, Metric } from './words.shared.ts';

/** Which table, which rows of it, and which parts of the span. */
type Source = { of: 'routes' | 'callers'; where: Prisma.Sql; reading: Reading };
/** What a metric is made of; the histogram and the longest duration only where one is asked for. */
type Sums = {
  first: string;
  second: string;
  count: number;
  errors: number;
  rate_limited: number;
  bytes: number;
  clients: number;
} & Latencies;
type Latencies = { histogram: number[] | null; longest: number | null; sum: number };

/** The figures of a span from the minutes, quarters of an hour and six hours that add up to it: the busiest `most` groups. */
export async function figuresOfRollups(tx: Tx, ctx: Ctx, asked: Asked, span: Span, most: number): Promise<Figures> {
  const source = await sourceOf(tx, ctx, asked, span);
  const known = await tx.$queryRaw<
    Sums[]
  >`select * from (${sumsBy(asked, source, Prisma.empty)}) s where count > 0 order by count desc, first, second`;
  const shown = known.slice(0, most);
  const groups = new Map(
    shown.map((all): [string, Group] => [
      keyOf(all),
      {
        values: asked.group_by.map((name, i) => told(name, i === 0 ? all.first : all.second)),
        total: figureOf(asked.metric, all),
        points: new Map(),
      },
    ]),
  );
  const parts = { ...source, reading: inPartsOf(span.step, source.reading) };
  const bars = await tx.$queryRaw<(Sums & { at: number })[]>`
    select s.* from (${sumsBy(asked, parts, Prisma.sql`, extract(epoch from date_bin(make_interval(secs => ${span.step / 1_000}), c.at, 'epoch'))::float8 * 1000 as at`)}) s
    where count > 0 and (first, second) in (select * from unnest(${shown.map(({ first }) => first)}::text[], ${shown.map(({ second }) => second)}::text[]))`;
  for (const bar of bars) groups.get(keyOf(bar))?.points.set(bar.at, figureOf(asked.metric, bar));
  return {
    groups: [...groups.values()],
    left_out: known.length - shown.length,
    total: await totalOfRollups(tx, ctx, asked, span),
    covers_from: span.from,
  };
}

/** The metric of all calls of the span that are asked about. */
export async function totalOfRollups(tx: Tx, ctx: Ctx, asked: Asked, span: Span): Promise<number | null> {
  // Tables of callers know only calls that had one: what is merely told apart by callers is read without them.
  const all = { ...asked, group_by: [] };
  const [sums] = await tx.$queryRaw<Sums[]>`${sumsBy(all, await sourceOf(tx, ctx, all, span), Prisma.empty)}`;
  return figureOf(asked.metric, sums ?? NOTHING);
}

const NOTHING: Sums = {
  first: '',
  second: '',
  count: 0,
  errors: 0,
  rate_limited: 0,
  bytes: 0,
  clients: 0,
  histogram: null,
  longest: null,
  sum: 0,
};
const keyOf = ({ first, second }: Sums) => JSON.stringify([first, second]);
const told = (name: Dimension, value: string) => (value === '' || (name === 'route' && value === NO_ROUTE) ? null : value);

async function sourceOf(tx: Tx, ctx: Ctx, asked: Asked, { from, to }: Span): Promise<Source> {
  const byRoutes = await byRoutesOf(tx, ctx, asked);
  const caller = asked.client_id ?? asked.api_key_id;
  const kind =
    asked.group_by.find((name) => name === 'client' || name === 'api_key') ?? (asked.metric === 'unique_clients' ? 'client' : undefined);
  const keys = Prisma.sql`(select id from api_keys where tenant_id = ${ctx.tenant_id}::uuid)`;
  const conditions = [
    Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`,
    asked.route_id && Prisma.sql`route_id = ${asked.route_id}::uuid`,
    'route_ids' in byRoutes && byRoutes.route_ids && Prisma.sql`route_id = any(${byRoutes.route_ids}::uuid[])`,
    asked.environment && Prisma.sql`environment = ${asked.environment}`,
    asked.status_class && Prisma.sql`status_class = ${asked.status_class}`,
    asked.method && Prisma.sql`method = ${asked.method.toUpperCase()}`,
    asked.origin && Prisma.sql`origin = ${asked.origin}`,
    asked.plane && Prisma.sql`plane = ${asked.plane}`,
    asked.error && Prisma.sql`error = ${asked.error}`,
    caller && Prisma.sql`caller_id = ${caller}::uuid`,
    // A caller is a key or a client, and a key that was deleted keeps its row.
    kind === 'api_key' && Prisma.sql`caller_id in ${keys}`,
    kind === 'client' && Prisma.sql`caller_id not in ${keys}`,
  ].filter((one) => typeof one === 'object');
  return {
    of: caller || kind ? 'callers' : 'routes',
    where: Prisma.join(conditions, ' and '),
    reading: await readingOf(tx, ctx, from, to),
  };
}

const COLUMNS: Record<Dimension, string> = {
  route: 'route_id',
  environment: 'environment',
  client: 'caller_id',
  api_key: 'caller_id',
  status_class: 'status_class',
  method: 'method',
  origin: 'origin',
  plane: 'plane',
  error: 'error',
};
const textOf = (name: Dimension | undefined) => Prisma.raw(name ? `c.${COLUMNS[name]}::text` : `''`);

/** Which histogram a metric is read from, and at which share; without one it is the average. */
const DURATIONS: Partial<Record<Metric, { of: 'latency' | 'overhead'; share?: number }>> = {
  latency_avg: { of: 'latency' },
  p50: { of: 'latency', share: 0.5 },
  p95: { of: 'latency', share: 0.95 },
  p99: { of: 'latency', share: 0.99 },
  overhead_avg: { of: 'overhead' },
  overhead_p95: { of: 'overhead', share: 0.95 },
};
/** Bucket by bucket: a third of the time that taking the arrays apart takes. */
const histogramOf = (name: 'latency' | 'overhead') =>
  `array[${Array.from({ length: LATENCY_BUCKETS }, (_, i) => `coalesce(sum(c.${name}[${i + 1}]), 0)`).join(', ')}]::float8[] as histogram,
    max(c.${name}_max) as longest, coalesce(sum(c.${name}_sum), 0)::float8 as sum`;
const NO_HISTOGRAM = 'null::float8[] as histogram, null::int as longest, 0::float8 as sum';

/** What the metric is made of, by the dimensions and by what `at` adds. */
function sumsBy({ metric, group_by: [first, second] }: Asked, { of, where, reading }: Source, at: Prisma.Sql): Prisma.Sql {
  const duration = DURATIONS[metric]?.of;
  const columns = [
    ...new Set([first, second].flatMap((name) => (name ? COLUMNS[name] : []))),
    ...['count', 'errors', 'rate_limited', 'bytes_in', 'bytes_out'],
    ...(duration ? [duration, `${duration}_max`, `${duration}_sum`] : []),
  ];
  const withCaller = of === 'callers' && !columns.includes('caller_id') ? ['caller_id'] : [];
  const calls = callsOf(of, reading, Prisma.raw([...columns, ...withCaller].join(', ')), where);
  const by = [first && '1', second && '2', at === Prisma.empty ? undefined : '11'].filter((one) => one !== undefined);
  return Prisma.sql`select ${textOf(first)} as first, ${textOf(second)} as second, coalesce(sum(c.count), 0)::float8 as count, coalesce(sum(c.errors), 0)::float8 as errors,
      coalesce(sum(c.rate_limited), 0)::float8 as rate_limited, coalesce(sum(c.bytes_in + c.bytes_out), 0)::float8 as bytes,
      ${Prisma.raw(of === 'callers' ? '(count(distinct c.caller_id) filter (where c.count > 0))::float8' : '0::float8')} as clients, ${Prisma.raw(duration ? histogramOf(duration) : NO_HISTOGRAM)}${at}
    from ${calls} c${by.length > 0 ? Prisma.raw(` group by ${by.join(', ')}`) : Prisma.empty}`;
}

function figureOf(metric: Metric, { count, errors, rate_limited, bytes, clients, histogram, longest, sum }: Sums): number | null {
  const duration = DURATIONS[metric];
  if (duration?.share !== undefined) return percentile(histogram ?? [], duration.share, longest ?? undefined);
  if (duration) {
    const measured = (histogram ?? []).reduce((all, n) => all + n, 0);
    return measured > 0 ? sum / measured : null;
  }
  const counts: Partial<Record<Metric, number>> = { requests: count, errors, rate_limited, bytes, unique_clients: clients };
  return metric === 'error_rate' ? (count > 0 ? (errors / count) * 100 : null) : (counts[metric] ?? null);
}
