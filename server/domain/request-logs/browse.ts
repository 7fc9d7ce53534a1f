import type { z } from 'zod';
import type { Capability } from '#server/kernel/capabilities.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { clampPage } from '#server/kernel/page.ts';
import type { Places } from '#server/platform/geoip.ts';
import { type BrowseLogs, type LogDetail, LogView } from './browse.schema.ts';
import { placesFor, withPlace } from './countries.ts';
import { byRoutesOf } from './filters.ts';
import { browseAll, countUpToOfAll } from './history/pages.ts';
import { type Past, withAllOfPast, withPast } from './history/past.ts';
import { pastCall } from './history/reading.ts';
import { payloadMeta } from './payloads/store.ts';
import { spanStart } from './span.shared.ts';
import { firstSuccessDay, type LogFields, rowOf } from './store.ts';

/** Beyond this a total is "more than": counting it would cost more than it tells. Pages end there, too; `before` leads on. */
const COUNTED = 10_000;
const DAY = 24 * 3_600_000;

/** The dashboard's table: the last 24 hours unless asked otherwise (interface rule 13 §8). */
export async function browseLogs(ctx: Ctx, { page, per_page, sort, order, before, ...asked }: z.output<typeof BrowseLogs>) {
  const from = asked.from ?? spanStart(asked.to ? Date.parse(asked.to) : ctx.now.getTime(), DAY).toISOString();
  const { page: effective, per_page: limit, skip } = clampPage({ page, per_page }, COUNTED);
  const known = await placesFor(ctx);
  const answer = (past: Past | null) =>
    read(ctx, async (tx) => {
      const place = before === undefined ? { offset: skip } : { before: placeOf(before) };
      const filters = await byRoutesOf(tx, ctx, { ...asked, from });
      const rows = await browseAll(tx, ctx, past, filters, { sort, order, limit: limit + 1, ...place });
      const shown = rows.slice(0, limit);
      // The last page says how many there are.
      const isLast = before === undefined && rows.length <= limit && (rows.length > 0 || skip === 0);
      const total = isLast ? skip + rows.length : await countUpToOfAll(tx, ctx, past, filters, COUNTED);
      const last = shown.at(-1);
      const next = last && rows.length > limit ? `${sort === 'ts' ? last.ts.getTime() : (last.latency_ms ?? 0)}-${last.id}` : null;
      return {
        logs: shown.map((row) => withPlace(row, known)),
        page: effective,
        per_page: limit,
        total: Math.min(total, COUNTED),
        total_is_capped: total > COUNTED,
        next,
        first_success_day: await firstSuccessDay(tx, ctx),
      };
    });
  return withPast(ctx, from, answer);
}

/** A row as the table and the live view have it. */
export const asView = (row: LogFields, known: Places | null): z.output<typeof LogView> => LogView.parse(withPlace(row, known));

function placeOf(before: string): { value: number; id: bigint } {
  const [value = '', id = ''] = before.split('-');
  return { value: Number(value), id: BigInt(id) };
}

/** Everything the inspector shows of one call, at once and without a watermark. */
export async function inspectLog(ctx: Ctx, { request_id }: { request_id: string }) {
  const known = await placesFor(ctx);
  return read(ctx, async (tx) => {
    const found = (await wholeRow(tx, ctx, request_id)) ?? (await callInPast(ctx, request_id));
    if (!found) throw notFound();
    const { row, more } = found;
    const { payload_flags, ...shown } = more;
    return {
      log: { ...withPlace(row, known), ...shown, trace: more.trace as Trace },
      ...(await surroundings(tx, ctx, { ...row, ...more })),
      payload: null,
      payload_withheld: true as const,
      payload_meta: await payloadMeta(tx, ctx, { ...row, payload_flags }),
    };
  });
}

/** What PostgreSQL has of a call. */
async function wholeRow(tx: Tx, ctx: Ctx, request_id: string) {
  const row = await rowOf(tx, ctx, request_id, ctx.now);
  if (!row) return undefined;
  const more = await tx.request_logs.findFirst({
    where: { tenant_id: ctx.tenant_id, request_id: row.request_id, ts: row.ts },
    select: {
      oauth_client_id: true,
      user_id: true,
      secrets_used: true,
      warnings: true,
      injected: true,
      error_detail: true,
      node_id: true,
      trace: true,
      payload_flags: true,
    },
  });
  return more ? { row, more } : undefined;
}

const callInPast = (ctx: Ctx, request_id: string) =>
  withAllOfPast(ctx, undefined, async (past) => {
    const row = past && (await pastCall(past, request_id));
    return row ? { row, more: row } : undefined;
  });

type Trace = z.input<typeof LogDetail>['log']['trace'];

/** Who and what took part, as they are today, and what was done to the route around that time: each as far as the caller may see it elsewhere. */
async function surroundings(tx: Tx, ctx: Ctx, row: LogFields & { oauth_client_id: string | null; user_id: string | null }) {
  const may = (capability: Capability) => ctx.actor.capabilities.has(capability);
  const api_key =
    row.api_key_id &&
    may('api_key:list') &&
    (await tx.api_keys.findFirst({
      where: { ...own(ctx), id: row.api_key_id },
      select: { id: true, name: true, key_id: true, active: true },
    }));
  const oauth_client =
    row.oauth_client_id &&
    may('oauth_client:list') &&
    (await tx.oauth_clients.findFirst({
      where: { ...own(ctx), client_id: row.oauth_client_id },
      select: { id: true, name: true, active: true },
    }));
  const member =
    row.oauth_client_id &&
    row.user_id &&
    may('member:list') &&
    (await tx.memberships.findFirst({
      where: { tenant_id: ctx.tenant_id, user_id: row.user_id },
      select: { user: { select: { full_name: true, email: true } } },
    }));
  const client =
    row.matched_client_id &&
    may('client:read') &&
    (await tx.clients.findFirst({
      where: { ...own(ctx), id: row.matched_client_id },
      select: { id: true, name: true, type: true, enabled: true },
    }));
  const route =
    row.route_id &&
    (await tx.routes.findFirst({ where: { ...own(ctx), id: row.route_id }, select: { id: true, name: true, slug: true, enabled: true } }));
  const related =
    row.route_id && may('audit_log:list')
      ? await tx.audit_logs.findMany({
          where: {
            ...own(ctx),
            resource_id: row.route_id,
            created_at: { gte: new Date(row.ts.getTime() - DAY), lte: new Date(row.ts.getTime() + DAY) },
          },
          orderBy: [{ created_at: 'desc' }, { seq: 'desc' }],
          take: 20,
          select: { id: true, action: true, resource_type: true, actor_label: true, created_at: true },
        })
      : [];
  const person = member ? member.user.full_name || member.user.email : null;
  return { api_key: api_key || null, oauth_client: oauth_client || null, person, client: client || null, route: route || null, related };
}
