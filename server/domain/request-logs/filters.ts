import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

// What calls are narrowed by, as conditions over request_logs.

export type LogFilters = {
  /** Only rows with a higher ID: the others are read from elsewhere (history/past.ts). */
  above?: bigint | undefined;
  from?: string | undefined;
  to?: string | undefined;
  status?: number | undefined;
  status_class?: number | undefined;
  method?: string | undefined;
  route_id?: string | undefined;
  /** Any of these; see `byRoutesOf`. */
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

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

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
    f.above === undefined ? null : Prisma.sql`id > ${f.above}`,
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
export async function byRoutesOf<F extends { collection_id?: string | undefined }>(tx: Tx, ctx: Ctx, { collection_id, ...filters }: F) {
  if (collection_id === undefined) return filters;
  const routes = await tx.routes.findMany({ where: { ...own(ctx), collection_id }, select: { id: true } });
  return { ...filters, route_ids: routes.map(({ id }) => id) };
}
