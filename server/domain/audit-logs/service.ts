import type { z } from 'zod';
import { decodeCursor, encodeCursor } from '#server/crypto/cursor.ts';
import { cursorKeys } from '#server/crypto/derive.ts';
import { countOf, limitOf } from '#server/domain/plans/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { Feed } from '#server/kernel/operation.ts';
import { type Page, pageOf, pageWindow } from '#server/kernel/page.ts';
import { places } from '#server/platform/geoip.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { countInTime, countMatching } from './counts.ts';
import { type Entry, entryMaker, locatedBy, viewMaker, viewsOf } from './details.ts';
import { fromGeneral, rowsOf } from './entries.ts';
import type { AuditFilters } from './filters.ts';
import type { AuditEvents, AuditFacetsQuery, BrowseAuditLogs, ListAuditLogs } from './schema.ts';
import { facetsOf, keysOf } from './store.ts';

export { acceptChain, openChain } from './baseline.ts';
export { actorsOfBothSpaces, type EntryPlace, entriesOfBothSpaces, type LocatedView, pageOfBothSpaces } from './both-spaces.ts';
export { OPERATOR_CHAIN } from './chain-ids.ts';
export { appendAllCritical, appendCritical } from './critical.ts';
export { verifyAllChains } from './failures.ts';
export { detailsWithheld } from './may-read-details.ts';
export { provenEntry } from './proven.ts';

/** Seconds the event feed trails, so that ordinary transactions have ended. */
const WATERMARK_SECONDS = 30;
/** Facets are counted over this many entries: enough for a filter panel, bounded whatever the store holds. */
const FACET_ENTRIES = 5_000;

/** One page of both stores, newest first (interface rule 61 §4). */
export function listAuditLogs(ctx: Ctx, { page, per_page, chain, ...filters }: z.output<typeof ListAuditLogs>): Promise<Page<Entry>> {
  return read(ctx, async (tx) => {
    const asked = { ...filters, store: chain };
    const total = await totalOf(tx, ctx, asked);
    const { take, skip, backwards } = pageWindow({ page, per_page, order: 'desc' }, total);
    const keys = await keysOf(tx, ctx, asked, { order: backwards ? 'oldest' : 'newest', limit: take, offset: skip });
    const entry = await entryMaker(tx, ctx);
    return pageOf((await rowsOf(tx, ctx, backwards ? keys.reverse() : keys)).map(entry), total, { page, per_page });
  });
}

/** Unfiltered totals come from the counters that triggers keep; only a filter makes PostgreSQL count. */
async function totalOf(tx: Tx, ctx: Ctx, { store, from, to, ...filters }: AuditFilters): Promise<number> {
  if (Object.values(filters).some((v) => v !== undefined)) return countMatching(tx, ctx, { ...filters, from, to, store });
  if (from !== undefined || to !== undefined) return countInTime(tx, ctx, { from, to, store });
  const general = store === 'critical' ? 0 : await countOf(tx, ctx, 'audit_logs');
  return store === 'general' ? general : general + (await countOf(tx, ctx, 'audit_log_critical'));
}

/** The cursor feed of both stores, oldest first; at least once, and no late commit is passed over (interface rule 61 §4.1). */
export async function auditEvents(ctx: Ctx, { cursor, limit, ...filters }: z.output<typeof AuditEvents>): Promise<Feed<Entry>> {
  const scope = { feed: 'audit-events', tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), filters };
  const keys = cursorKeys(rootKeys());
  const after = cursor === undefined ? 0n : decodeCursor(keys, scope, cursor);
  if (after === undefined) throw invalid('cursor', 'is not a valid cursor for this feed and these filters. Start again without it');
  return read(ctx, async (tx) => {
    const watermark = new Date(ctx.now.getTime() - WATERMARK_SECONDS * 1000);
    const found = await keysOf(tx, ctx, filters, { order: 'feed', after, limit, watermark });
    const unsettled = found.findIndex((k) => !k.settled);
    const shown = unsettled === -1 ? found : found.slice(0, unsettled);
    const entry = await entryMaker(tx, ctx);
    const last = shown.at(-1);
    const meta = {
      next_cursor: last && shown.length === limit ? encodeCursor(keys[0], scope, last.seq) : null,
      limit,
      delivery: 'at_least_once',
      dedupe_on: 'id',
      watermark_seconds: WATERMARK_SECONDS,
      ...(cursor !== undefined && (await isPruned(tx, ctx, after)) ? { gap: true } : {}),
    };
    return { rows: (await rowsOf(tx, ctx, shown)).map(entry), meta };
  });
}

/** Entries of both stores after a place of the feed that nothing older can follow any more, oldest first, with what the dashboard shows beside them. */
export async function settledEntries(tx: Tx, ctx: Ctx, { after, limit }: { after: bigint; limit: number }) {
  const watermark = new Date(ctx.now.getTime() - WATERMARK_SECONDS * 1000);
  const found = await keysOf(tx, ctx, {}, { order: 'feed', after, limit, watermark });
  const unsettled = found.findIndex((key) => !key.settled);
  const view = await viewMaker(tx, ctx);
  const rows = await rowsOf(tx, ctx, unsettled === -1 ? found : found.slice(0, unsettled));
  return rows.map((row) => ({ position: row.seq, at: row.created_at, data: view(row) }));
}

/** A cursor stands on an entry; when retention has taken that entry it may have taken later ones too. */
async function isPruned(tx: Tx, ctx: Ctx, seq: bigint): Promise<boolean> {
  const where = { tenant_id: ctx.tenant_id, seq };
  return !(
    (await tx.audit_logs.findFirst({ where, select: { id: true } })) ??
    (await tx.audit_log_critical.findFirst({ where, select: { id: true } }))
  );
}

/** The dashboard's timeline: newest first, by keyset, with everything it filters on. */
export async function browseAuditLogs(ctx: Ctx, { before, limit, ...filters }: z.output<typeof BrowseAuditLogs>) {
  const located = locatedBy(await places());
  return read(ctx, async (tx) => {
    const keys = await keysOf(tx, ctx, filters, {
      order: 'newest',
      limit: limit + 1,
      before: before === undefined ? undefined : placeOf(before),
    });
    const shown = keys.slice(0, limit);
    const last = shown.at(-1);
    return {
      entries: (await viewsOf(tx, ctx, await rowsOf(tx, ctx, shown))).map(located),
      next: last && keys.length > limit ? `${last.at.getTime()}-${last.seq}` : null,
      retention_days: await limitOf(tx, ctx, 'audit_retention_days'),
    };
  });
}

function placeOf(before: string): { at: Date; seq: bigint } {
  const [ms = '', seq = ''] = before.split('-');
  return { at: new Date(Number(ms)), seq: BigInt(seq) };
}

/** One entry with everything else the same request did. Entries of a request carry its time, give or take its duration. */
export async function getAuditLog(ctx: Ctx, { id }: { id: string }) {
  const located = locatedBy(await places());
  return read(ctx, async (tx) => {
    const row = await entryById(tx, ctx, id);
    if (!row) throw notFound();
    const around = (minutes: number) => new Date(row.created_at.getTime() + minutes * 60_000);
    const beside = row.request_id
      ? await tx.audit_logs.findMany({
          where: { ...own(ctx), created_at: { gte: around(-1), lte: around(1) }, request_id: row.request_id, id: { not: row.id } },
          orderBy: [{ created_at: 'asc' }, { seq: 'asc' }],
          take: 50,
        })
      : [];
    const [view, ...same_request] = (await viewsOf(tx, ctx, [row, ...beside.map(fromGeneral)])).map(located);
    // One view for each row, of which there is at least this one.
    return { ...(view as NonNullable<typeof view>), same_request };
  });
}

export async function entryById(tx: Tx, ctx: Ctx, id: string) {
  if (!isUuid(id)) return null;
  const general = await tx.audit_logs.findFirst({ where: { ...own(ctx), id } });
  if (general) return fromGeneral(general);
  const critical = await tx.audit_log_critical.findFirst({ where: { tenant_id: ctx.tenant_id, id }, select: { seq: true } });
  const [row] = critical ? await rowsOf(tx, ctx, [{ seq: critical.seq, store: 'critical' }]) : [];
  return row?.sandbox === ctx.sandbox ? row : null;
}

/** What the filter panel offers, with counts. */
export function auditFacets(ctx: Ctx, filters: z.output<typeof AuditFacetsQuery>) {
  return read(ctx, async (tx) => {
    const facets = await facetsOf(tx, ctx, filters, FACET_ENTRIES);
    const of = (kind: string) => facets.filter((f) => f.kind === kind).map(({ value, label, count }) => ({ value, label, count }));
    return { actions: of('action'), resource_types: of('resource_type'), actors: of('actor'), of_newest: FACET_ENTRIES };
  });
}
export { publicKeyDocument } from './signing.ts';
