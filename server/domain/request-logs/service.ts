import type { z } from 'zod';
import { type CursorScope, decodeCursor, encodeCursor } from '#server/crypto/cursor.ts';
import { cursorKeys } from '#server/crypto/derive.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { Feed } from '#server/kernel/operation.ts';
import { type Page, pageOf, pageWindow } from '#server/kernel/page.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { placesFor, withPlace } from './countries.ts';
import { rowsAfterInAll } from './history/feed.ts';
import { countOfRouteInAll, routeRowsOfAll } from './history/pages.ts';
import { type Past, withAllOfPast, withPast } from './history/past.ts';
import { isInPast, pastCall } from './history/reading.ts';
import { forReader, mayReadIdentity, redactedMark } from './identity.ts';
import type { FollowLogs, ListRouteLogs } from './schema.ts';
import { isKept, type LogFields, rowOf } from './store.ts';

export { NO_ROUTE, percentile } from './buckets.ts';
export { callersOfRoute, figuresOfRoutes, noCalls } from './route-figures.ts';

/** Seconds the feed trails the clock (interface rule 13 §3). */
export const WATERMARK_SECONDS = 10;
export const watermarkOf = (now: Date): Date => new Date(now.getTime() - WATERMARK_SECONDS * 1000);

export type PublicLog = ReturnType<typeof forReader<LogFields>> & { cursor: string };

/** The feed for shippers: ascending, at least once, and no late commit is passed over (interface rule 13 §3). */
export async function followLogs(ctx: Ctx, { cursor, limit, since, ...asked }: z.output<typeof FollowLogs>): Promise<Feed<PublicLog>> {
  const identity = await mayReadIdentity(ctx);
  if (asked.client_id !== undefined && !identity)
    throw new Refusal('forbidden', 'Filtering by client_id requires the capability log:read_identity.');
  if (cursor !== undefined && since !== undefined) throw invalid('since', 'must not be combined with cursor');
  const { status_code: status, ...rest } = asked;
  const scope = scopeOf(ctx, asked);
  const after = cursor === undefined ? 0n : decodeCursor(keys(), scope, cursor);
  if (after === undefined) throw invalid('cursor', 'is not a valid cursor for this feed and these filters. Start again without it');
  return withAllOfPast(ctx, after, (past) =>
    read(ctx, async (tx) => {
      const found = await rowsAfterInAll(
        tx,
        ctx,
        past,
        { ...rest, status, from: since },
        { after, limit, watermark: watermarkOf(ctx.now) },
      );
      const unsettled = found.findIndex((row) => !row.settled);
      const rows = unsettled === -1 ? found : found.slice(0, unsettled);
      const data = rows.map((row) => ({ ...forReader(row, identity), cursor: encodeCursor(keys()[0], scope, row.id) }));
      const meta = {
        next_cursor: data.length === limit ? (data.at(-1)?.cursor ?? null) : null,
        limit,
        delivery: 'at_least_once',
        dedupe_on: 'request_id',
        watermark_seconds: WATERMARK_SECONDS,
        ...redactedMark(identity),
        ...(cursor !== undefined && !(await isKept(tx, ctx, after)) && !(past && (await isInPast(past, after))) ? { gap: true } : {}),
      };
      return { rows: data, meta };
    }),
  );
}

/** Calls after a place of the feed that nothing older can follow any more, oldest first, with who called: for the workspace's own destinations. */
export async function settledCalls(tx: Tx, ctx: Ctx, { after, limit }: { after: bigint; limit: number }) {
  const place = { after, limit, watermark: watermarkOf(ctx.now) };
  const found = await withAllOfPast(ctx, after, (past) => rowsAfterInAll(tx, ctx, past, {}, place));
  const unsettled = found.findIndex((row) => !row.settled);
  const rows = unsettled === -1 ? found : found.slice(0, unsettled);
  return rows.map(({ settled: _, place, ...row }) => ({ position: place, at: row.ts, data: row }));
}

const keys = () => cursorKeys(rootKeys());
const scopeOf = (ctx: Ctx, filters: CursorScope['filters']): CursorScope => ({
  feed: 'logs',
  tenant_id: ctx.tenant_id,
  space: spaceOf(ctx.sandbox),
  filters,
});

/** One row of the feed; its cursor resumes an unfiltered feed after it. */
export async function getLog(ctx: Ctx, { request_id }: { request_id: string }): Promise<PublicLog & { _redacted?: string[] }> {
  const identity = await mayReadIdentity(ctx);
  const row = await settledCall(ctx, request_id);
  if (!row) throw notFound();
  return publicLog(ctx, row, identity);
}

/** The call of a request that the feed has passed, from whichever store has it. @throws Refusal dependency_unavailable */
export async function settledCall(ctx: Ctx, request_id: string): Promise<LogFields | undefined> {
  const row = await read(ctx, (tx) => rowOf(tx, ctx, request_id, watermarkOf(ctx.now)));
  if (row) return row.settled ? row : undefined;
  return withAllOfPast(ctx, undefined, async (past) => (past ? pastCall(past, request_id) : undefined));
}

/** The call of a request that PostgreSQL has no more, in a list; empty without one, and with a warning while ClickHouse is down. */
export const olderCalls = (ctx: Ctx, request_id: string): Promise<LogFields[]> =>
  withPast(ctx, undefined, async (past) => {
    const row = past && (await pastCall(past, request_id));
    return row ? [row] : [];
  });

/** A single row as the API shows it, with the mark that its identity tier was left out. */
export const publicLog = (ctx: Ctx, row: LogFields, identity: boolean) => ({
  ...forReader(row, identity),
  cursor: encodeCursor(keys()[0], scopeOf(ctx, {}), row.id),
  ...redactedMark(identity),
});

/** The calls of one route, newest first; the route by id or slug (interface rule 13 §4). */
export async function listRouteLogs(
  ctx: Ctx,
  { id, page, per_page, status_code, since, until, ...asked }: z.output<typeof ListRouteLogs>,
): Promise<Page<RouteLogRow>> {
  const identity = await mayReadIdentity(ctx);
  const known = await placesFor(ctx);
  const answer = (past: Past | null) =>
    read(ctx, async (tx) => {
      const route = await tx.routes.findFirst({
        where: { ...own(ctx), ...(isUuid(id) ? { id: id.toLowerCase() } : { slug: id }) },
        select: { id: true },
      });
      if (!route) throw notFound();
      const filters = { route_id: route.id, ...asked, status: status_code, from: since, to: until };
      const total = await countOfRouteInAll(tx, ctx, past, filters);
      const rows = await routeRowsOfAll(tx, ctx, past, filters, pageWindow({ page, per_page, order: 'desc' }, total));
      const data = rows.map((row) => ({
        ...withPlace(row, known),
        src_ip: identity ? row.src_ip : null,
        rate_limited: row.rate_limited ?? false,
      }));
      return pageOf(data, total, { page, per_page });
    });
  return withPast(ctx, since, answer);
}
type RouteLogRow = Omit<LogFields, 'rate_limited'> & {
  rate_limited: boolean;
  source_ip_country: string | null;
  source_ip_city: string | null;
};

export { tailResponse } from './tail-response.ts';
