import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { byRoutesOf, matching, REAL } from '../filters.ts';
import { METHODS, OTHER_METHOD } from '../rollups.ts';
import type { Asked, Figures, Group, Span } from './span.ts';
import { type Dimension, type Metric, MOST_ROWS } from './words.shared.ts';

// What rollups don't know, counted from the newest calls. A busy space has more of them in a day than anybody should wait for, so there is a bound, and the
// answer says since when it holds.

const FAILED = 'error is not null or status_code >= 500';
const quantile = (p: number, of: string) => `percentile_disc(${p}) within group (order by ${of})::float8`;
/** greatest() of a null and a number is the number: a call without an upstream has no overhead. */
const OVERHEAD = 'case when latency_ms is not null and upstream_ms is not null then greatest(latency_ms - upstream_ms, 0) end';
const VALUES: Record<Metric, string> = {
  requests: 'count(*)::float8',
  errors: `(count(*) filter (where ${FAILED}))::float8`,
  error_rate: `(count(*) filter (where ${FAILED}))::float8 / nullif(count(*), 0) * 100`,
  latency_avg: 'avg(latency_ms)::float8',
  p50: quantile(0.5, 'latency_ms'),
  p95: quantile(0.95, 'latency_ms'),
  p99: quantile(0.99, 'latency_ms'),
  overhead_avg: `avg(${OVERHEAD})::float8`,
  overhead_p95: quantile(0.95, OVERHEAD),
  rate_limited: '(count(*) filter (where rate_limited))::float8',
  bytes: 'coalesce(sum(coalesce(request_bytes, 0) + coalesce(response_bytes, 0)), 0)::float8',
  unique_clients: 'count(distinct matched_client_id)::float8',
};
const COLUMNS: Record<Dimension, string> = {
  route: 'route_id',
  environment: 'environment',
  client: 'matched_client_id',
  api_key: 'api_key_id',
  status_class: 'status_code / 100',
  method: `case when method is null or method in (${METHODS.map((name) => `'${name}'`).join(', ')}) then method else '${OTHER_METHOD}' end`,
  origin: 'origin',
  plane: 'proxy_mode',
  error: 'error',
};

type Row = { is_all: boolean; at: number | null; first: string | null; second: string | null; calls: number; value: number | null };

/** The figures of a span from its newest calls, at most `MOST_ROWS`: the busiest `most` groups. */
export async function figuresOfRows(tx: Tx, ctx: Ctx, asked: Asked, { from, to, step }: Span, most: number): Promise<Figures> {
  const filters = await byRoutesOf(tx, ctx, asked);
  const { plane, ...rest } = filters;
  const where = matching({ ...rest, proxy_mode: plane, from: from.toISOString(), to: to.toISOString() });
  const [first, second] = asked.group_by.map((name) => Prisma.raw(`(${COLUMNS[name]})::text`));
  const rows = Prisma.sql`select ts, latency_ms, upstream_ms, status_code, error, rate_limited, request_bytes, response_bytes, matched_client_id,
      ${first ?? Prisma.sql`null::text`} as first, ${second ?? Prisma.sql`null::text`} as second
    from request_logs where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${where} and ${REAL} order by ts desc, id desc limit ${MOST_ROWS}`;
  const value = Prisma.raw(VALUES[asked.metric]);
  const bin = Prisma.sql`extract(epoch from date_bin(make_interval(secs => ${step / 1_000}), ts, 'epoch'))::float8 * 1000`;
  const found = await tx.$queryRaw<(Row & { oldest: Date; all_calls: number })[]>`
    with r as materialized (${rows}), b as (select *, ${bin} as at from r),
      g as (select first, second, count(*)::float8 as calls, ${value} as value from r group by 1, 2 order by 3 desc, 1, 2 limit 1000),
      top as (select first, second from g order by calls desc, first, second limit ${most})
    select s.*, (select min(ts) from r) as oldest, (select count(*)::float8 from r) as all_calls from (
      select true as is_all, null::float8 as at, null as first, null as second, count(*)::float8 as calls, ${value} as value from r
      union all select false, null, first, second, calls, value from g
      union all select false, b.at, b.first, b.second, count(*)::float8, ${value} from b
        join top on b.first is not distinct from top.first and b.second is not distinct from top.second group by 2, 3, 4) s`;
  const all = found.find(({ is_all }) => is_all);
  const totals = found.filter(({ is_all, at }) => !is_all && at === null).sort((a, b) => b.calls - a.calls || compare(a, b));
  const groups = new Map(
    totals
      .slice(0, most)
      .map((row): [string, Group] => [
        keyOf(row),
        { values: [row.first, row.second].slice(0, asked.group_by.length), total: row.value, points: new Map() },
      ]),
  );
  for (const row of found) if (row.at !== null) groups.get(keyOf(row))?.points.set(row.at, row.value);
  const isCapped = (all?.calls ?? 0) >= MOST_ROWS;
  return {
    groups: [...groups.values()],
    left_out: totals.length - groups.size,
    total: all?.value ?? null,
    covers_from: isCapped && found[0] ? found[0].oldest : from,
  };
}

const keyOf = ({ first, second }: Row) => JSON.stringify([first, second]);
const compare = (a: Row, b: Row) => (keyOf(a) < keyOf(b) ? -1 : 1);
