import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { type PlanName, planFeature } from '#server/domain/plans/schema.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction, read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { Lease } from '#server/kernel/lease.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { openCredentials } from './credentials.ts';
import { nextBatch } from './feed.ts';
import { streamPaused } from './letters.ts';
import type { StreamRecord } from './records.ts';
import type { StreamSource } from './schema.ts';
import { sendBatch } from './sending.ts';
import { entryOf, type StreamRow } from './service.ts';

/** A stream gives others their turn after this long. */
const TURN_MS = 20_000;
const DAY = 86_400_000;
/** A destination that took nothing for so long is turned off (interface rule 61 §7). */
const GIVE_UP_MS = 7 * DAY;

/**
 * Sends what a stream's destination hasn't taken yet, batch by batch, each at least once: the position moves when a batch has arrived. Failures are noted on the
 * stream; only what is no answer of the destination rejects.
 */
export async function shipStream({ resource_id, tenant_id, sandbox }: Lease, signal: AbortSignal, now = new Date()): Promise<void> {
  if (tenant_id === null) return;
  const ctx = systemContext(db(), { tenant_id, sandbox, now, label: 'log streams' });
  const until = Date.now() + TURN_MS;
  for (let more = true; more && Date.now() < until && !signal.aborted; ) {
    const found = await read(ctx, async (tx) => ({
      stream: await tx.log_streams.findFirst({ where: { id: resource_id, enabled: true } }),
      tenant: await tx.tenants.findUnique({ where: { id: tenant_id }, select: { slug: true, subscription_plan: true, deleted_at: true } }),
    }));
    const { stream, tenant } = found;
    if (!stream || !tenant || tenant.deleted_at) return;
    // Logs wait while the plan has no streams, as long as they are kept.
    if (!sandbox && !planFeature(tenant.subscription_plan as PlanName, 'audit_export')) return;
    const batch = await nextBatch(ctx, stream.source as StreamSource, stream.position);
    if (batch.records.length === 0) return;
    more = (await sendAndNote(ctx, stream, tenant.slug, batch.records, signal)) && batch.more;
  }
}

/** @returns whether the batch arrived */
async function sendAndNote(ctx: Ctx, stream: StreamRow, workspace: string, records: StreamRecord[], signal: AbortSignal): Promise<boolean> {
  const origin = {
    tenant_id: ctx.tenant_id,
    workspace,
    space: ctx.sandbox ? 'test' : 'live',
    source: stream.source as StreamSource,
  } as const;
  const sent = await openCredentials(ctx, stream)
    .then((credentials) => sendBatch(stream, credentials, records, { origin, now: ctx.now, signal }))
    .catch((error: unknown) => {
      if (error instanceof Refusal) return { ok: false as const, status: null, error: error.message };
      throw error;
    });
  if (signal.aborted && !sent.ok) return false; // stopped by us, which says nothing about the destination
  if (!sent.ok) {
    await noteFailure(ctx, stream, sent.error);
    return false;
  }
  await inTransaction(ctx, (tx) =>
    tx.log_streams.updateMany({
      // Another worker may have sent the same batch: the position never goes back.
      where: { id: stream.id, position: stream.position },
      data: {
        position: (records.at(-1) as StreamRecord).position,
        sent_count: { increment: records.length },
        ...{ last_sent_at: ctx.now, failing_since: null, attempts: 0, last_error: sent.warning ?? null },
      },
    }),
  );
  return true;
}

async function noteFailure(ctx: Ctx, stream: StreamRow, error: string): Promise<void> {
  const failing_since = stream.failing_since ?? ctx.now;
  const ends = ctx.now.getTime() - failing_since.getTime() >= GIVE_UP_MS;
  const mails = await inTransaction(ctx, async (tx) => {
    const { count } = await tx.log_streams.updateMany({
      where: { id: stream.id, enabled: true, position: stream.position },
      data: {
        ...{ failing_since, attempts: { increment: 1 }, last_error: error.slice(0, 500) },
        ...(ends ? { enabled: false, paused_reason: 'failing', wakes_at: null } : {}),
      },
    });
    if (!ends || count === 0) return [];
    await writeAudit(tx, ctx, {
      action: 'disable',
      ...entryOf(stream),
      details: { reason: 'failing', failing_since: failing_since.toISOString() },
    });
    const { name, slug } = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
    const url = `${env.PUBLIC_ADMIN_URL}/${slug}/${ctx.sandbox ? 'test' : 'live'}/log-streams`;
    const letter = streamPaused({ workspace: name, stream: stream.name, error, since: failing_since, url });
    return postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'log_stream_paused', letter, now: ctx.now, to: ['owner', 'admin'] });
  });
  for (const id of mails) dispatch(ctx.db, id);
}
