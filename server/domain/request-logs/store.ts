import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { GLANCES } from '#server/kernel/listing.ts';

/** What every reader of a row may get; ids are decimal text, since they outgrow a JSON number. */
export type LogFields = {
  id: string;
  request_id: string;
  tenant_id: string;
  route_id: string | null;
  matched_client_id: string | null;
  identification_method: string | null;
  method: string | null;
  status_code: number | null;
  src_ip: string | null;
  environment: string | null;
  sandbox: boolean | null;
  ts: Date;
  path: string | null;
  latency_ms: number | null;
  upstream_host: string | null;
  error: string | null;
  rate_limited: boolean | null;
  proxy_mode: string | null;
  client_origin: string;
  origin: string | null;
  upstream_status: number | null;
  upstream_ms: number | null;
  attempts: number | null;
  request_bytes: number | null;
  response_bytes: number | null;
  slug: string | null;
  route_name: string | null;
  client_name: string | null;
  user_agent: string | null;
  signature_valid: boolean | null;
  api_key_id: string | null;
};

const FIELDS = Prisma.sql`id::text as id, request_id, tenant_id, route_id, matched_client_id, identification_method, method, status_code, src_ip, environment, sandbox, ts,
  path, latency_ms, upstream_host, error, rate_limited, proxy_mode, client_origin, origin, upstream_status, upstream_ms, attempts,
  request_bytes::float8 as request_bytes, response_bytes::float8 as response_bytes, slug, route_name, client_name, user_agent, signature_valid, api_key_id`;

export type LogFilters = {
  from?: string | undefined;
  to?: string | undefined;
  status?: number | undefined;
  status_class?: number | undefined;
  method?: string | undefined;
  route_id?: string | undefined;
  /** Any of these; see `inCollection`. */
  route_ids?: readonly string[] | undefined;
  client_id?: string | undefined;
  api_key_id?: string | undefined;
  environment?: string | undefined;
  proxy_mode?: string | undefined;
  client_origin?: string | undefined;
  origin?: string | undefined;
  error?: string | undefined;
  outcome?: 'ok' | 'failed' | 'refused' | undefined;
  rate_limited?: boolean | undefined;
  min_latency_ms?: number | undefined;
  src_ip?: string | undefined;
  q?: string | undefined;
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A refused call failed as well; here each has one word, its narrowest. A call whose upstream broke off or that was given up was not refused. */
export const OUTCOME = Prisma.sql`case when error is null then case when status_code >= 500 then 'failed' else 'ok' end
  when error like 'upstream\\_%' or error = 'client_closed' then 'failed' else 'refused' end`;
/** The same for filtering, where `failed` takes the refused in, written so that the indexes of failures serve it. */
const ENDED = {
  ok: Prisma.sql`(error is null and coalesce(status_code, 0) < 500)`,
  failed: Prisma.sql`(error is not null or status_code >= 500)`,
  refused: Prisma.sql`(error is not null and ${OUTCOME} = 'refused')`,
};

/** Calls of the Test tab are in the log, marked, and in no figure. */
export const REAL = Prisma.sql`proxy_mode is distinct from 'test'`;

/** The filters as a condition over request_logs; the caller adds workspace and space. */
export function matching(f: LogFilters): Prisma.Sql {
  const conditions = [
    f.from === undefined ? null : Prisma.sql`ts >= ${new Date(f.from)}`,
    f.to === undefined ? null : Prisma.sql`ts <= ${new Date(f.to)}`,
    f.status === undefined ? null : Prisma.sql`status_code = ${f.status}`,
    f.status_class === undefined ? null : Prisma.sql`status_code between ${f.status_class * 100} and ${f.status_class * 100 + 99}`,
    f.method === undefined ? null : Prisma.sql`method = ${f.method.toUpperCase()}`,
    f.route_id === undefined ? null : Prisma.sql`route_id = ${f.route_id}::uuid`,
    f.route_ids === undefined ? null : Prisma.sql`route_id = any(${f.route_ids}::uuid[])`,
    f.client_id === undefined ? null : Prisma.sql`matched_client_id = ${f.client_id}::uuid`,
    f.api_key_id === undefined ? null : Prisma.sql`api_key_id = ${f.api_key_id}::uuid`,
    f.environment === undefined ? null : Prisma.sql`environment = ${f.environment}`,
    f.proxy_mode === undefined ? null : Prisma.sql`proxy_mode = ${f.proxy_mode}`,
    f.client_origin === undefined ? null : Prisma.sql`client_origin = ${f.client_origin}`,
    f.origin === undefined ? null : Prisma.sql`origin = ${f.origin}`,
    f.error === undefined ? null : Prisma.sql`error = ${f.error}`,
    f.outcome === undefined ? null : ENDED[f.outcome],
    f.rate_limited === undefined ? null : Prisma.sql`rate_limited = ${f.rate_limited}`,
    f.min_latency_ms === undefined ? null : Prisma.sql`latency_ms >= ${f.min_latency_ms}`,
    // The cast stands behind a test of the text, because a column of text may hold anything and one bad value would fail the whole list.
    f.src_ip === undefined
      ? null
      : Prisma.sql`case when src_ip ~ '^[0-9a-fA-F:.]+$' then src_ip::inet <<= ${f.src_ip}::inet else false end`,
    f.q === undefined ? null : UUID.test(f.q) ? Prisma.sql`request_id = ${f.q}::uuid` : Prisma.sql`strpos(lower(path), lower(${f.q})) > 0`,
  ].filter((c) => c !== null);
  return conditions.length === 0 ? Prisma.sql`true` : Prisma.join(conditions, ' and ');
}

/** A filter by collection as one by its routes of this moment: rows know their route, and a route that moved takes its calls along. */
export async function inCollection<F extends { collection_id?: string | undefined }>(tx: Tx, ctx: Ctx, { collection_id, ...filters }: F) {
  if (collection_id === undefined) return filters;
  const routes = await tx.routes.findMany({ where: { ...own(ctx), collection_id }, select: { id: true } });
  return { ...filters, route_ids: routes.map(({ id }) => id) };
}

/** A feed row knows whether it may be passed: no smaller id can still be committed, and it is older than the watermark. */
export type FeedRow = LogFields & { settled: boolean };

/** The highest id below which no open transaction can bring a row. Ask it first, and for rows in a later statement. */
export async function horizon(tx: Tx): Promise<bigint> {
  const [row] = await tx.$queryRaw<{ id: bigint }[]>`select feed_horizon('request_logs') as id`;
  return row?.id ?? 0n;
}

/** Rows after an id, in order of id. Rows without a space are older than the partition and count as Live. */
export async function rowsAfter(
  tx: Tx,
  ctx: Ctx,
  filters: LogFilters,
  place: { after: bigint; limit: number; watermark: Date },
): Promise<FeedRow[]> {
  const until = await horizon(tx);
  const spaces = ctx.sandbox ? [Prisma.sql`sandbox = true`] : [Prisma.sql`sandbox = false`, Prisma.sql`sandbox is null`];
  const settled = Prisma.sql`r.id <= ${until} and ts <= ${place.watermark} as settled, r.id as place`;
  const parts = spaces.map(
    (
      space,
    ) => Prisma.sql`(select ${FIELDS}, ${settled} from request_logs r where tenant_id = ${ctx.tenant_id}::uuid and ${space} and r.id > ${place.after}
      and ${matching(filters)} order by r.id limit ${place.limit})`,
  );
  return tx.$queryRaw<FeedRow[]>`select * from (${Prisma.join(parts, ' union all ')}) k order by place limit ${place.limit}`;
}

/** The row of a request in this space, or undefined. */
export async function rowOf(tx: Tx, ctx: Ctx, requestId: string, watermark: Date): Promise<FeedRow | undefined> {
  if (!UUID.test(requestId)) return undefined;
  const until = await horizon(tx);
  const [row] = await tx.$queryRaw<FeedRow[]>`select ${FIELDS}, r.id <= ${until} and ts <= ${watermark} as settled
    from request_logs r where tenant_id = ${ctx.tenant_id}::uuid and request_id = ${requestId}::uuid and coalesce(sandbox, false) = ${ctx.sandbox} order by ts desc limit 1`;
  return row;
}

export const isKept = async (tx: Tx, ctx: Ctx, id: bigint): Promise<boolean> =>
  (
    await tx.$queryRaw<
      unknown[]
    >`select 1 from request_logs where tenant_id = ${ctx.tenant_id}::uuid and coalesce(sandbox, false) = ${ctx.sandbox} and id = ${id} limit 1`
  ).length > 0;

export type LogPlace = {
  sort: 'ts' | 'latency_ms';
  order: 'asc' | 'desc';
  limit: number;
  offset?: number;
  before?: { value: number; id: bigint } | undefined;
};

/** A page of the space by time or latency. Calls without a latency are at the slow end of nothing: they count as 0. */
export function browseRows(
  tx: Tx,
  ctx: Ctx,
  filters: LogFilters,
  { sort, order, limit, offset = 0, before }: LogPlace,
): Promise<LogFields[]> {
  const column = sort === 'ts' ? Prisma.sql`ts` : Prisma.sql`coalesce(latency_ms, 0)`;
  const direction = order === 'asc' ? Prisma.sql`asc` : Prisma.sql`desc`;
  const value = before && (sort === 'ts' ? Prisma.sql`${new Date(before.value)}` : Prisma.sql`${before.value}`);
  const beyond =
    before && value
      ? Prisma.sql`(${column}, r.id) ${order === 'asc' ? Prisma.sql`>` : Prisma.sql`<`} (${value}, ${before.id})`
      : Prisma.sql`true`;
  const ordered = Prisma.sql`order by ${column} ${direction}, r.id ${direction}`;
  const passing = Prisma.sql`from request_logs r where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${matching(filters)} and ${beyond}`;
  const page = Prisma.sql`${ordered} offset ${offset} limit ${limit}`;
  const keys = (k: Prisma.Sql) =>
    tx.$queryRaw<
      LogFields[]
    >`with k as (${k}) select ${FIELDS} from request_logs r where (r.id, r.ts) in (select id, ts from k) ${ordered}`;
  // No index has this order: keys are sorted, and not whole rows.
  if (sort !== 'ts') return keys(Prisma.sql`select id, ts ${passing} ${page}`);
  if (filters.route_ids === undefined) return tx.$queryRaw<LogFields[]>`select ${FIELDS} ${passing} ${page}`;
  // The newest of each route from its index, and the newest of those: a quiet collection beside busy routes is not searched for among their calls.
  return keys(Prisma.sql`select r.id, r.ts from unnest(${filters.route_ids}::uuid[]) as one(route)
    cross join lateral (select id, ts ${passing} and route_id = one.route ${ordered} limit ${offset + limit}) r ${page}`);
}

/** How many rows pass, counted up to `most` + 1. */
export async function countUpTo(tx: Tx, ctx: Ctx, filters: LogFilters, most: number): Promise<number> {
  const [row] = await tx.$queryRaw<
    { n: number }[]
  >`select count(*)::int as n from (select 1 from request_logs where tenant_id = ${ctx.tenant_id}::uuid
    and sandbox = ${ctx.sandbox} and ${matching(filters)} limit ${most + 1}) c`;
  return row?.n ?? 0;
}

/** The first day of a call that is still counted: days outlive rows. Null for a space that was never called. */
export async function firstDay(tx: Tx, ctx: Ctx): Promise<string | null> {
  const [row] = await tx.$queryRaw<{ day: string | null }[]>`select min(day)::text as day from call_days
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = 'route'`;
  return row?.day ?? null;
}

/** A page of one route, newest first, found from the oldest end when that is nearer; keys first: a deep page reads an index and not the rows it skips. */
export function routeRows(
  tx: Tx,
  ctx: Ctx,
  filters: LogFilters,
  page: { take: number; skip: number; backwards: boolean },
): Promise<LogFields[]> {
  const order = page.backwards ? Prisma.sql`ts, id` : Prisma.sql`ts desc, id desc`;
  return tx.$queryRaw<
    LogFields[]
  >`with k as (select id, ts from request_logs where tenant_id = ${ctx.tenant_id}::uuid and coalesce(sandbox, false) = ${ctx.sandbox}
      and ${matching(filters)} order by ${order} offset ${page.skip} limit ${page.take})
    select ${FIELDS} from request_logs r where (r.id, r.ts) in (select id, ts from k) order by ts desc, r.id desc`;
}

/** What a route's list can be narrowed by. */
export type RouteLogFilters = Pick<LogFilters, 'environment' | 'status' | 'method' | 'from' | 'to'> & { route_id: string };

/**
 * How many calls of a route pass. Whatever the filter it is a sum of kept totals, which is the true count: the writer adds a row and its total in one
 * transaction, and retention removes them so. Only a filter within a stretch of time is counted row by row.
 */
export async function countOfRoute(tx: Tx, ctx: Ctx, filters: RouteLogFilters): Promise<number> {
  const { route_id, from, to, ...others } = filters;
  const unfiltered = Object.values(others).every((value) => value === undefined);
  if (from === undefined && to === undefined) return keptCount(tx, ctx, filters);
  return unfiltered ? countInTime(tx, ctx, { route_id, from, to }) : countRows(tx, ctx, filters);
}

async function keptCount(tx: Tx, ctx: Ctx, { route_id, environment, status, method }: RouteLogFilters): Promise<number> {
  const conditions = [
    Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and route_id = ${route_id}::uuid`,
    ...(environment === undefined ? [] : [Prisma.sql`environment in (${environment}, '')`]),
    ...(status === undefined ? [] : [Prisma.sql`status_code = ${status}`]),
    ...(method === undefined ? [] : [Prisma.sql`method = ${method.toUpperCase()}`]),
  ];
  const [row] = await tx.$queryRaw<
    { n: number; unnamed: number }[]
  >`select coalesce(sum(n), 0)::float8 as n, coalesce(sum(n) filter (where environment = ''), 0)::float8 as unnamed
    from route_log_totals where ${Prisma.join(conditions, ' and ')}`;
  if (!row) return 0;
  if (environment === undefined || row.unnamed === 0) return row.n;
  // Calls of an environment that the route did not have then are counted under no name.
  return row.n - row.unnamed + (await countRows(tx, ctx, { route_id, environment, status, method, error: 'environment_not_configured' }));
}

async function countRows(tx: Tx, ctx: Ctx, filters: LogFilters): Promise<number> {
  const [row] = await tx.$queryRaw<
    { n: number }[]
  >`select count(*)::float8 as n from request_logs where tenant_id = ${ctx.tenant_id}::uuid and coalesce(sandbox, false) = ${ctx.sandbox} and ${matching(filters)}`;
  return row?.n ?? 0;
}

/** Calls of a route in a stretch of time: counted, or all less those outside, whichever turns out to be few. */
async function countInTime(tx: Tx, ctx: Ctx, { route_id, from, to }: RouteLogFilters): Promise<number> {
  const calls = (condition: Prisma.Sql, most: Prisma.Sql) =>
    Prisma.sql`(select count(*) from (select from request_logs where route_id = ${route_id}::uuid and tenant_id = ${ctx.tenant_id}::uuid
      and coalesce(sandbox, false) = ${ctx.sandbox} and ${condition} ${most}) c)`;
  const outside = (most: Prisma.Sql) =>
    Prisma.join(
      [
        Prisma.sql`0`,
        ...(from ? [calls(Prisma.sql`ts < ${new Date(from)}`, most)] : []),
        ...(to ? [calls(Prisma.sql`ts > ${new Date(to)}`, most)] : []),
      ],
      ' + ',
    );
  const all = Prisma.sql`coalesce((select sum(n) from route_log_totals where route_id = ${route_id}::uuid and tenant_id = ${ctx.tenant_id}::uuid
    and sandbox = ${ctx.sandbox}), 0)::float8`;
  for (const most of GLANCES) {
    const up = Prisma.sql`limit ${most}`;
    const [row] = await tx.$queryRaw<
      { inside: number; outside: number; all: number }[]
    >`select ${calls(matching({ from, to }), up)}::float8 as inside, (${outside(up)})::float8 as outside, ${all} as all`;
    if (row && row.inside < most) return row.inside;
    if (row && row.outside < most) return row.all - row.outside;
  }
  const [row] = await tx.$queryRaw<{ n: number }[]>`select ${all} - (${outside(Prisma.empty)})::float8 as n`;
  return row?.n ?? 0;
}

/** The newest id of the space, 0 without rows. */
export async function newestId(tx: Tx, ctx: Ctx): Promise<bigint> {
  const [row] = await tx.$queryRaw<
    { id: bigint }[]
  >`select id from request_logs where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} order by id desc limit 1`;
  return row?.id ?? 0n;
}

/** Ids above one, newest first. */
export async function idsAfter(tx: Tx, ctx: Ctx, after: bigint, most: number): Promise<bigint[]> {
  const rows = await tx.$queryRaw<
    { id: bigint }[]
  >`select id from request_logs where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and id > ${after} order by id desc limit ${most}`;
  return rows.map((row) => row.id);
}

/** Rows by id, newest first. */
export const rowsByIds = (tx: Tx, ctx: Ctx, ids: bigint[]): Promise<LogFields[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : tx.$queryRaw<
        LogFields[]
      >`select ${FIELDS} from request_logs r where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and r.id = any(${ids}) order by r.id desc`;
