import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { type AuthType, CHANNEL, type DISABLED_REASONS, type HmacFormat } from './options.shared.ts';
import type { FiltersOf } from './schema.ts';

/** A row of the table, in which the schema keeps the words. */
export type WebhookRow = Omit<Prisma.webhooksGetPayload<object>, keyof Words> & Words;
type Words = {
  auth_type: AuthType;
  hmac_format: HmacFormat;
  filters: FiltersOf;
  disabled_reason: (typeof DISABLED_REASONS)[number] | null;
};

/** @throws Refusal not_found */
export async function webhookById(tx: Tx, ctx: Ctx, id: string): Promise<WebhookRow> {
  const row = isUuid(id) ? await tx.webhooks.findFirst({ where: { ...own(ctx), id: id.toLowerCase() } }) : null;
  if (!row) throw notFound();
  return row as WebhookRow;
}

/** The same, holding the row until the transaction ends. */
export async function lockedWebhook(tx: Tx, ctx: Ctx, id: string): Promise<WebhookRow> {
  const found = await webhookById(tx, ctx, id);
  await tx.$queryRaw`select 1 from webhooks where id = ${found.id}::uuid for no key update`;
  return webhookById(tx, ctx, found.id);
}

/** Keeps what the delivery engine reads of a webhook in step with it. */
export async function saveSubscription(tx: Tx, ctx: Ctx, row: WebhookRow): Promise<void> {
  const { event_types, enabled } = row;
  const filter = { ...row.filters, ...(row.route_filter.length > 0 ? { routes: row.route_filter } : {}) };
  const data = { event_types, enabled, max_attempts: row.retry_on_failure ? row.max_retries + 1 : 1, filter };
  const at = { channel: CHANNEL, destination_id: row.id };
  await tx.event_subscriptions.upsert({
    where: { channel_destination_id: at },
    create: { ...own(ctx), ...at, ...data, id: row.id },
    update: data,
  });
}

/** Deliveries on their way, and events that were missed because too many were. */
export async function backlogOf(tx: Tx, ctx: Ctx, id: string): Promise<{ pending: number; dropped: bigint }> {
  const at = { ...own(ctx), channel: CHANNEL, destination_id: id };
  const pending = await tx.deliveries.count({ where: { ...at, state: { in: ['pending', 'in_flight'] } } });
  const subscription = await tx.event_subscriptions.findFirst({ where: at, select: { dropped: true } });
  return { pending, dropped: subscription?.dropped ?? 0n };
}

/** A person's id; null for machines. */
export const personOf = ({ actor }: Ctx): string | null => (actor.type === 'member' ? actor.id : null);
