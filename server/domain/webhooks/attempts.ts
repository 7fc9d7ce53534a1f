import type { z } from 'zod';
import { recover, redeliver } from '#server/domain/deliveries/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { CHANNEL } from './options.shared.ts';
import type { AttemptRef, BrowseAttempts, ListWebhookAttempts, RecoverWebhook } from './schema.ts';
import { entryOf } from './service.ts';
import { lockedWebhook, webhookById } from './store.ts';

/** Everything of an attempt but what is sealed. */
export const LISTED = { value_ct: true, cek_wrapped: true, tmk_version: true } as const;
type Row = Prisma.webhook_attemptsGetPayload<{ omit: typeof LISTED }>;
export type Trigger = 'event' | 'test' | 'redelivery' | 'recover';
export const listed = <R extends Row>(row: R) => ({ ...row, trigger: row.trigger as Trigger, source_ip: null });

/** The attempts of a webhook, newest first. @throws Refusal not_found */
export const listAttempts = (ctx: Ctx, { id, ...query }: z.output<typeof ListWebhookAttempts>) =>
  read(ctx, async (tx) => {
    const webhook = await webhookById(tx, ctx, id);
    return page(tx, ctx, { ...query, webhook_id: webhook.id });
  });

/** The attempts of every webhook of the space, newest first. */
export const browseAttempts = (ctx: Ctx, query: z.output<typeof BrowseAttempts>) =>
  read(ctx, async (tx) => {
    const found = await page(tx, ctx, query);
    const webhooks = await tx.webhooks.findMany({
      where: { ...own(ctx), id: { in: found.rows.map(({ webhook_id }) => webhook_id) } },
      select: { id: true, name: true },
    });
    const names = new Map(webhooks.map(({ id, name }) => [id, name]));
    return { ...found, rows: found.rows.map((row) => ({ ...row, webhook_name: names.get(row.webhook_id) ?? '' })) };
  });

type Query = Omit<z.output<typeof BrowseAttempts>, 'webhook_id'> & { webhook_id?: string | undefined };

async function page(tx: Tx, ctx: Ctx, { webhook_id, event_type, success, from, to, ...asked }: Query) {
  const where: Prisma.webhook_attemptsWhereInput = {
    ...own(ctx),
    ...(webhook_id === undefined ? {} : { webhook_id }),
    ...(event_type === undefined ? {} : { event_type }),
    ...(success === undefined ? {} : { success }),
    ...(from === undefined && to === undefined
      ? {}
      : { executed_at: { ...(from && { gte: new Date(from) }), ...(to && { lte: new Date(to) }) } }),
  };
  const total = await tx.webhook_attempts.count({ where });
  const rows = await pagedRows(
    asked,
    total,
    [{ executed_at: 'desc' }, { id: 'desc' }],
    (window) => tx.webhook_attempts.findMany({ where, ...window, select: { id: true } }),
    (ids) => tx.webhook_attempts.findMany({ where: { ...own(ctx), id: { in: ids } }, omit: LISTED }),
  );
  return pageOf(rows.map(listed), total, asked);
}

/** @throws Refusal not_found */
export async function attemptById(tx: Tx, ctx: Ctx, id: string, webhook_id?: string): Promise<Row> {
  const of = webhook_id === undefined ? {} : { webhook_id };
  const row = isUuid(id)
    ? await tx.webhook_attempts.findFirst({ where: { ...own(ctx), ...of, id: id.toLowerCase() }, omit: LISTED })
    : null;
  if (!row) throw notFound();
  return row;
}

/**
 * Delivers the event of an attempt again, as a new delivery. @throws Refusal not_found; conflict when the webhook is disabled, the delivery is still under
 * way, or the event has expired
 */
export function redeliverAttempt(ctx: Ctx, { id, log_id }: z.output<typeof AttemptRef>) {
  return mutate(ctx, async (tx) => {
    const webhook = await lockedWebhook(tx, ctx, id);
    const { delivery_id } = await attemptById(tx, ctx, log_id, webhook.id);
    requireEnabled(webhook);
    const again = await redeliver(tx, ctx, delivery_id);
    if (!again) {
      const known = await tx.deliveries.findFirst({ where: { ...own(ctx), id: delivery_id, finished_at: null }, select: { id: true } });
      throw new Refusal(
        'conflict',
        known ? 'This delivery is still under way.' : 'The event has expired: events can be delivered again for 14 days.',
      );
    }
    return audited({ ...again, status: 'pending' as const }, entryOf('update', webhook, { operation: 'redeliver', ...again }));
  });
}

const DAY = 24 * 3_600_000;
const REACH_DAYS = 14;

/** Delivers again everything that failed for good within a window, the oldest first. @throws Refusal not_found, validation_error, conflict when it is disabled */
export function recoverWebhook(ctx: Ctx, { id, ...input }: z.output<typeof RecoverWebhook>) {
  return mutate(ctx, async (tx) => {
    const webhook = await lockedWebhook(tx, ctx, id);
    const since = new Date(input.since);
    const until = input.until === undefined ? ctx.now : new Date(input.until);
    if (since.getTime() < ctx.now.getTime() - REACH_DAYS * DAY) throw invalid('since', `must be within the last ${REACH_DAYS} days`);
    if (since > until) throw invalid('until', 'must not be before since');
    requireEnabled(webhook);
    const queued = await recover(tx, ctx, { channel: CHANNEL, destination_id: webhook.id, since, until });
    return audited(
      { queued },
      entryOf('update', webhook, { operation: 'recover', since: input.since, until: until.toISOString(), queued }),
    );
  });
}

function requireEnabled({ enabled }: { enabled: boolean }): void {
  if (!enabled) throw new Refusal('conflict', 'The webhook is disabled. Enable it first.');
}
