import { limitOf } from '#server/domain/plans/service.ts';
import { SANDBOX_LOG_DAYS } from '#server/domain/retention/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { sql } from '#server/platform/sql.ts';
import { type BodyWithheld, NO_ROOM, PAYLOAD_DAYS, type PayloadState } from './stored.shared.ts';

const DAY = 24 * 3_600_000;
/** Payloads are written within a second of their call; the gateway gives up on one long before this. */
const ON_ITS_WAY_MS = 60_000;

type Call = { request_id: string; ts: Date; request_bytes: number | null; response_bytes: number | null; payload_flags: number | null };

/** Payloads that old are gone, also before the job has deleted them. */
const goneBefore = (now: Date): Date => new Date(now.getTime() - PAYLOAD_DAYS * DAY);

const META = { side: true, content_type: true, body_bytes: true, truncated: true, body_withheld: true } as const;
const SEALED = { ...META, id: true, tenant_id: true, sandbox: true, value_ct: true, cek_wrapped: true, tmk_version: true } as const;

/** What everybody who may see a call is told of its payloads: whether there are any, of what type and how long. */
export async function payloadMeta(tx: Tx, ctx: Ctx, call: Call) {
  const rows = await tx.log_payloads.findMany({ where: keptWhere(ctx, call.request_id), select: META });
  const of = (side: string) => rows.find((row) => row.side === side);
  const bytesOf = (side: string) => {
    const bytes = of(side)?.body_bytes;
    return bytes === undefined ? undefined : Number(bytes);
  };
  const state = payloadState(call, rows.length > 0, ctx.now);
  return {
    captured: state === 'captured',
    state,
    expires_at: state === 'captured' ? new Date(call.ts.getTime() + (await payloadDays(tx, ctx)) * DAY) : null,
    request_bytes: bytesOf('request') ?? call.request_bytes,
    response_bytes: bytesOf('response') ?? call.response_bytes,
    request_content_type: of('request')?.content_type ?? null,
    response_content_type: of('response')?.content_type ?? null,
    request_body_withheld: (of('request')?.body_withheld ?? null) as BodyWithheld | null,
    response_body_withheld: (of('response')?.body_withheld ?? null) as BodyWithheld | null,
    truncated: rows.some((row) => row.truncated),
  };
}

/** Days a payload of the caller's space is kept: as long as its call, but no longer than 30. */
async function payloadDays(tx: Tx, ctx: Ctx): Promise<number> {
  const calls = ctx.sandbox ? SANDBOX_LOG_DAYS : await limitOf(tx, ctx, 'log_retention_days');
  return Math.min(calls ?? PAYLOAD_DAYS, PAYLOAD_DAYS);
}

function payloadState({ payload_flags, ts }: Call, found: boolean, now: Date): PayloadState {
  if (found) return 'captured';
  if (payload_flags === null) return 'not_captured';
  if (ts < goneBefore(now)) return 'expired';
  if (payload_flags & NO_ROOM) return 'lost';
  return now.getTime() - ts.getTime() < ON_ITS_WAY_MS ? 'pending' : 'lost';
}

/** The sealed sides of a call. */
export const sealedPayloads = (tx: Tx, ctx: Ctx, request_id: string) =>
  tx.log_payloads.findMany({ where: keptWhere(ctx, request_id), select: SEALED });

export type SealedPayload = Awaited<ReturnType<typeof sealedPayloads>>[number];

const keptWhere = (ctx: Ctx, request_id: string) => ({ ...own(ctx), request_id, ts: { gte: goneBefore(ctx.now) } });

const BATCH = 5_000;

/** Deletes the payloads of a space that are older than `before`, or than any may be. @returns rows deleted */
export async function prunePayloads(tenant_id: string, sandbox: boolean, before: Date | null, now: Date): Promise<number> {
  const end = before && before > goneBefore(now) ? before : goneBefore(now);
  for (let deleted = 0; ; ) {
    const { rowCount } = await sql().query(
      `delete from log_payloads where id in (select id from log_payloads where tenant_id = $1 and sandbox = $2 and ts < $3 order by ts limit ${BATCH})`,
      [tenant_id, sandbox, end],
    );
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return deleted;
  }
}
