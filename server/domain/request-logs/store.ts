import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type LogFilters, matching, UUID } from './filters.ts';

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
): Promise<(FeedRow & { place: bigint })[]> {
  const until = await horizon(tx);
  const spaces = ctx.sandbox ? [Prisma.sql`sandbox = true`] : [Prisma.sql`sandbox = false`, Prisma.sql`sandbox is null`];
  const settled = Prisma.sql`r.id <= ${until} and ts <= ${place.watermark} as settled, r.id as place`;
  const parts = spaces.map(
    (
      space,
    ) => Prisma.sql`(select ${FIELDS}, ${settled} from request_logs r where tenant_id = ${ctx.tenant_id}::uuid and ${space} and r.id > ${place.after}
      and ${matching(filters)} order by r.id limit ${place.limit})`,
  );
  return tx.$queryRaw<
    (FeedRow & { place: bigint })[]
  >`select * from (${Prisma.join(parts, ' union all ')}) k order by place limit ${place.limit}`;
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
  // Rows are passed over by their keys.
  if (filters.route_ids === undefined)
    return offset > 0 ? keys(Prisma.sql`select id, ts ${passing} ${page}`) : tx.$queryRaw<LogFields[]>`select ${FIELDS} ${passing} ${page}`;
  // The newest of each route from its index, and the newest of those: a quiet collection beside busy routes is not searched for among their calls.
  return keys(Prisma.sql`select r.id, r.ts from unnest(${filters.route_ids}::uuid[]) as one(route)
    cross join lateral (select id, ts ${passing} and route_id = one.route ${ordered} limit ${offset + limit}) r ${page}`);
}

/** The first day on record with a successful call; days outlive rows. Null if the space never had one. */
export async function firstSuccessDay(tx: Tx, ctx: Ctx): Promise<string | null> {
  const [row] = await tx.$queryRaw<{ day: string | null }[]>`select min(day)::text as day from call_days
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = 'route' and calls > errors`;
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
