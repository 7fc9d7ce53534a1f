import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { LATENCY_BUCKETS, NO_ROUTE, percentile } from '../buckets.ts';
import { byRoutesOf } from '../filters.ts';
import { callsOf, inPartsOf, type Reading, readingOf } from '../read-plan.ts';
import type { Asked, Figures, Group, Span } from './span.ts';
import type { Dimension, Metric } from './words.shared.ts';

/** Which table, which rows of it, and which parts of the span. */
type Source = { of: 'routes' | 'callers'; where: Prisma.Sql; reading: Reading };
/** What a metric is made of; the histogram and the longest duration only where a percentile is asked for. */
type Sums = {
  first: string;
  second: string;
  count: number;
  errors: number;
  rate_limited: number;
  bytes: number;
  clients: number;
} & Latencies;
type Latencies = { latency: number[] | null; latency_max: number | null };

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
  latency: null,
  latency_max: null,
};
const keyOf = ({ first, second }: Sums) => JSON.stringify([first, second]);
const told = (name: Dimension, value: string) => (value === '' || (name === 'route' && value === NO_ROUTE) ? null : value);

async function sourceOf(tx: Tx, ctx: Ctx, asked: Asked, { from, to }: Span): Promise<Source> {
  if (asked.client_id && asked.api_key_id) throw invalid('client_id', 'must not be combined with api_key_id');
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

const COLUMNS: Partial<Record<Dimension, string>> = {
  route: 'route_id',
  environment: 'environment',
  client: 'caller_id',
  api_key: 'caller_id',
  status_class: 'status_class',
};
const textOf = (name: Dimension | undefined) => Prisma.raw(name ? `coalesce(c.${COLUMNS[name] ?? ''}::text, '')` : `''`);

const PERCENTILES: Partial<Record<Metric, number>> = { p50: 0.5, p95: 0.95, p99: 0.99 };
const BUCKETS = Array.from({ length: LATENCY_BUCKETS }, (_, i) => i + 1);
/** Bucket by bucket: a third of the time that taking the arrays apart takes. */
const HISTOGRAM = Prisma.raw(
  `array[${BUCKETS.map((i) => `coalesce(sum(c.latency[${i}]), 0)`).join(', ')}]::float8[] as latency, max(c.latency_max) as latency_max`,
);
const NO_HISTOGRAM = Prisma.raw('null::float8[] as latency, null::int as latency_max');

/** What the metric is made of, by the dimensions and by what `at` adds. */
function sumsBy({ metric, group_by: [first, second] }: Asked, { of, where, reading }: Source, at: Prisma.Sql): Prisma.Sql {
  const columns = [
    'route_id',
    'environment',
    'status_class',
    'count',
    'errors',
    'rate_limited',
    'bytes_in',
    'bytes_out',
    'latency',
    'latency_max',
  ];
  const calls = callsOf(of, reading, Prisma.raw([...columns, ...(of === 'callers' ? ['caller_id'] : [])].join(', ')), where);
  const by = [first && '1', second && '2', at === Prisma.empty ? undefined : '10'].filter((one) => one !== undefined);
  return Prisma.sql`select ${textOf(first)} as first, ${textOf(second)} as second, coalesce(sum(c.count), 0)::float8 as count, coalesce(sum(c.errors), 0)::float8 as errors,
      coalesce(sum(c.rate_limited), 0)::float8 as rate_limited, coalesce(sum(c.bytes_in + c.bytes_out), 0)::float8 as bytes,
      ${Prisma.raw(of === 'callers' ? '(count(distinct c.caller_id) filter (where c.count > 0))::float8' : '0::float8')} as clients, ${metric in PERCENTILES ? HISTOGRAM : NO_HISTOGRAM}${at}
    from ${calls} c${by.length > 0 ? Prisma.raw(` group by ${by.join(', ')}`) : Prisma.empty}`;
}

function figureOf(metric: Metric, { count, errors, rate_limited, bytes, clients, latency, latency_max }: Sums): number | null {
  const share = PERCENTILES[metric];
  if (share !== undefined) return percentile(latency ?? [], share, latency_max ?? undefined);
  const counts: Partial<Record<Metric, number>> = { requests: count, errors, rate_limited, bytes, unique_clients: clients };
  return metric === 'error_rate' ? (count > 0 ? (errors / count) * 100 : null) : (counts[metric] ?? null);
}
