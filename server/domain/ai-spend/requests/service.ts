import type { z } from 'zod';
import { isObject, numberAt } from '#server/ai/json.ts';
import { noUsage, type Usage } from '#server/ai/usage/usage.ts';
import { type CursorScope, decodeCursor, encodeCursor } from '#server/crypto/cursor.ts';
import { cursorKeys } from '#server/crypto/derive.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { Feed } from '#server/kernel/operation.ts';
import { type Places, places } from '#server/platform/geoip.ts';
import { rootKeys } from '#server/platform/keys.ts';
import type { ListAiRequests } from './schema.ts';

type Row = Prisma.ai_request_logsGetPayload<object>;
type ShownRow = Awaited<ReturnType<typeof withNames>>[number];

/** Calls of the AI planes, newest first. A null cursor says that there are no older ones (interface rule 50 §11.5). */
export async function listRequests(
  ctx: Ctx,
  { cursor, limit, from, to, model, ...filters }: z.output<typeof ListAiRequests>,
): Promise<Feed<ShownRow>> {
  const scope = scopeOf(ctx, { ...filters, model, from, to });
  const after = cursor === undefined ? undefined : positionOf(scope, cursor);
  const known = await places();
  return read(ctx, async (tx) => {
    const rows = await tx.ai_request_logs.findMany({
      where: {
        ...own(ctx),
        ...filters,
        ...(model === undefined ? {} : { final_model: model }),
        ...(from === undefined && to === undefined
          ? {}
          : { ts: { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lt: to }) } }),
        ...(after === undefined
          ? {}
          : { OR: [{ ts: { lt: after.ts } }, { ts: after.ts, id: { lt: after.id } }], AND: { ts: { lte: after.ts } } }),
      },
      orderBy: [{ ts: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const shown = await withNames(tx, ctx, page, known);
    return {
      rows: shown,
      meta: {
        next_cursor: rows.length > limit && last ? cursorOf(scope, last) : null,
        limit,
        delivery: 'at_least_once',
        dedupe_on: 'request_id',
        watermark_seconds: 0,
      },
    };
  });
}

/** One call, whatever plane and agent it was made to. @throws Refusal not_found */
export async function getRequest(ctx: Ctx, { request_id }: { request_id: string }) {
  const known = await places();
  return read(ctx, async (tx) => {
    const row = isUuid(request_id)
      ? await tx.ai_request_logs.findFirst({ where: { ...own(ctx), request_id }, orderBy: { id: 'desc' } })
      : null;
    const [shown] = row ? await withNames(tx, ctx, [row], known) : [];
    if (!shown) throw notFound();
    return shown;
  });
}

async function withNames(tx: Tx, ctx: Ctx, rows: readonly Row[], known: Places | null) {
  const ids = (of: (row: Row) => string | null) => [...new Set(rows.flatMap((row) => of(row) ?? []))];
  const named = async (find: Promise<{ id: string; name: string }[]>) => new Map((await find).map(({ id, name }) => [id, name]));
  const select = { id: true, name: true } as const;
  const agents = await named(tx.ai_agents.findMany({ where: { ...own(ctx), id: { in: ids((row) => row.agent_id) } }, select }));
  const gateways = await named(tx.ai_gateways.findMany({ where: { ...own(ctx), id: { in: ids((row) => row.gateway_id) } }, select }));
  const tokens = await tx.ai_tokens.findMany({
    where: { ...own(ctx), id: { in: ids((row) => row.token_id) } },
    select: { id: true, prefix: true },
  });
  const prefixes = new Map(tokens.map(({ id, prefix }) => [id, prefix]));
  // Who called is for those who may read it in the request log too.
  const identity = ctx.actor.capabilities.has('log:read_identity');
  return rows.map((row) =>
    shownRow(row, {
      agent_name: (row.agent_id && agents.get(row.agent_id)) || null,
      gateway_name: (row.gateway_id && gateways.get(row.gateway_id)) || null,
      token_prefix: (row.token_id && prefixes.get(row.token_id)) || null,
      country: identity ? (known?.of(row.ip).country ?? null) : null,
      ...(identity ? {} : { ip: null, user_agent: null }),
    }),
  );
}

const shownRow = <Extra extends object>({ cost_nano, ...row }: Row, extra: Extra) => ({
  ...row,
  plane: row.plane as 'ai' | 'mcp',
  status: row.status as 'ok',
  tags: row.tags as Record<string, string>,
  pii: row.pii as Record<string, number>,
  usage: storedUsage(row.usage),
  input_tokens: Number(row.input_tokens),
  output_tokens: Number(row.output_tokens),
  request_bytes: row.request_bytes === null ? null : Number(row.request_bytes),
  response_bytes: row.response_bytes === null ? null : Number(row.response_bytes),
  cost_usd: cost_nano === null ? null : Number(cost_nano) / 1e9,
  ...extra,
});

/** The usage of a row, whoever wrote it: a count that it lacks, or that is no number, is 0. */
function storedUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const counts = Object.keys(noUsage).map((name) => [name, finiteAt(value, name)]);
  return { ...(Object.fromEntries(counts) as Usage), source: value.source === 'provider' ? 'provider' : 'estimated' };
}

const finiteAt = (value: object, name: string): number => {
  const number = numberAt(value, name);
  return number !== undefined && Number.isFinite(number) ? number : 0;
};

const keys = () => cursorKeys(rootKeys());
const scopeOf = (ctx: Ctx, filters: CursorScope['filters']): CursorScope => ({
  feed: 'ai_requests',
  tenant_id: ctx.tenant_id,
  space: spaceOf(ctx.sandbox),
  filters,
});

// A position is the instant of a call and its ID as one number.
const cursorOf = (scope: CursorScope, { ts, id }: Row): string =>
  encodeCursor(keys()[0], scope, (BigInt(ts.getTime()) << 128n) | BigInt(`0x${id.replaceAll('-', '')}`));

function positionOf(scope: CursorScope, cursor: string): { ts: Date; id: string } {
  const position = decodeCursor(keys(), scope, cursor);
  if (position === undefined) throw invalid('cursor', 'is not a valid cursor for this list and these filters. Start again without it');
  const hex = (position & ((1n << 128n) - 1n)).toString(16).padStart(32, '0');
  return { ts: new Date(Number(position >> 128n)), id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') };
}
