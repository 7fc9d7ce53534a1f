import type { z } from 'zod';
import { eventData } from '#server/domain/events/service.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { attemptById, LISTED, listed } from './attempts.ts';
import { envelopeOf } from './envelope.ts';
import type { WebhookRef } from './schema.ts';
import { openText } from './sealing.ts';
import type { Kept } from './sending.ts';

type Input = z.output<typeof WebhookRef>;

/** An attempt with the names of its headers and its siblings, without a value of any header or body. @throws Refusal not_found */
export const inspectAttempt = (ctx: Ctx, { id }: Input) =>
  read(ctx, async (tx) => {
    const kept = await keptOf(tx, ctx, id);
    return { ...(await shown(tx, ctx, id, kept)), payload: null, payload_withheld: true as const };
  });

/** Row 19 of interface rule 32 §2. */
export const revealOfAttempt: Reveal<Input> = {
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'log:read_payload',
  subject: async (ctx, { id }) => {
    const row = await read(ctx, (tx) => attemptById(tx, ctx, id));
    return { resource_type: 'webhook_log', resource_id: row.id, name: row.event_type, details: { webhook_id: row.webhook_id } };
  },
};

/** The attempt with what was sent and what came back. The body that was sent goes with its event, after 14 days. */
export const revealAttempt = (ctx: Ctx, { id }: Input) =>
  read(ctx, async (tx) => {
    const row = await attemptById(tx, ctx, id);
    const kept = await keptOf(tx, ctx, id);
    const body = kept && (await bodyOf(tx, ctx, row.event_id, kept));
    const request = { headers: kept?.request_headers ?? {}, body, truncated: kept?.envelope.bare ?? false };
    return {
      ...(await shown(tx, ctx, id, kept)),
      payload: { request, response: kept?.response ?? null },
      payload_withheld: false as const,
    };
  });

async function shown(tx: Tx, ctx: Ctx, id: string, kept: Kept | null) {
  const row = await attemptById(tx, ctx, id);
  const { name } = await tx.webhooks.findFirstOrThrow({ where: { ...own(ctx), id: row.webhook_id }, select: { name: true } });
  const attempts = await tx.webhook_attempts.findMany({
    where: { ...own(ctx), delivery_id: row.delivery_id },
    orderBy: [{ executed_at: 'asc' }, { id: 'asc' }],
    take: 50,
    omit: LISTED,
  });
  return {
    ...listed(row),
    webhook_name: name,
    request_headers: Object.keys(kept?.request_headers ?? {}),
    response_headers: Object.keys(kept?.response?.headers ?? {}),
    attempts: attempts.map(listed),
  };
}

/** Null when the workspace's key was out of reach as it was written. @throws Refusal not_found, tenant_sealed */
async function keptOf(tx: Tx, ctx: Ctx, id: string): Promise<Kept | null> {
  await attemptById(tx, ctx, id);
  const row = await tx.webhook_attempts.findFirst({
    where: { ...own(ctx), id: id.toLowerCase() },
    select: { id: true, value_ct: true, cek_wrapped: true, tmk_version: true },
  });
  if (!row) throw notFound();
  const { value_ct, cek_wrapped, tmk_version } = row;
  if (!value_ct || !cek_wrapped || tmk_version === null) return null;
  return JSON.parse(await openText(ctx, 'webhook_payload', { id: row.id, value_ct, cek_wrapped, tmk_version }).catch(whenSealed)) as Kept;
}

/** The bytes that were sent, made again from the event with the time of the attempt: nothing else differs between attempts. */
async function bodyOf(tx: Tx, ctx: Ctx, eventId: string, { envelope: { timestamp, bare, ...options } }: Kept): Promise<string | null> {
  const event = await tx.events.findFirst({ where: { ...own(ctx), id: eventId } });
  if (!event) return null;
  const data = await eventData(event).catch(whenSealed);
  return envelopeOf({ id: event.id, type: event.type, occurred_at: event.occurred_at, data }, options, new Date(timestamp), bare);
}
