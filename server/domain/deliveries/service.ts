import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';

export type { Attempt, Channel, Channels, Ended, Outcome } from './channel.ts';
export { DISPATCH_POINTS } from './dispatch.ts';
export { startDeliveries } from './engine.ts';
export { type HttpDelivery, httpChannel, outcomeOfFault, outcomeOfResponse } from './http-channel.ts';
export { type EventFacts, type EventFilter, passes } from './matching.ts';

/**
 * Delivers the event of a finished delivery again, as a new delivery, in the caller's transaction. @returns its ID and that of the event; null if there is
 * no such delivery, it hasn't finished, or its event has expired
 */
export async function redeliver(tx: Tx, ctx: Ctx, deliveryId: string): Promise<{ delivery_id: string; event_id: string } | null> {
  const old = await tx.deliveries.findFirst({
    where: { ...own(ctx), id: deliveryId, finished_at: { not: null }, event: { expires_at: { gt: ctx.now } } },
  });
  if (!old) return null;
  const { channel, destination_id, event_id, max_attempts } = old;
  const id = newId();
  await tx.deliveries.create({ data: { ...own(ctx), id, channel, destination_id, event_id, max_attempts, trigger: 'redelivery' } });
  return { delivery_id: id, event_id };
}

type Window = { channel: string; destination_id: string; since: Date; until: Date };

/** Delivers again what a destination failed to take within a window, each event once and the oldest first, in the caller's transaction. @returns deliveries queued */
export const recover = (tx: Tx, ctx: Ctx, { channel, destination_id, since, until }: Window): Promise<number> => tx.$executeRaw`
  insert into deliveries (id, tenant_id, sandbox, event_id, channel, destination_id, max_attempts, trigger, next_attempt_at)
  select gen_random_uuid(), d.tenant_id, d.sandbox, d.event_id, d.channel, d.destination_id, max(d.max_attempts), 'recover', min(e.occurred_at)
  from (select * from deliveries where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and channel = ${channel} and destination_id = ${destination_id}::uuid
    and state = 'exhausted' and finished_at between ${since} and ${until}) d join events e on e.id = d.event_id and e.expires_at > ${ctx.now}
  where not exists (select from deliveries later where later.event_id = d.event_id and later.destination_id = d.destination_id
      and later.created_at > d.created_at and later.state in ('pending', 'in_flight', 'succeeded'))
  group by d.tenant_id, d.sandbox, d.event_id, d.channel, d.destination_id`;

/** Nothing more is delivered to these destinations, which were turned off. */
export const stopDeliveries = (tx: Tx, ctx: Ctx, destinationIds: readonly string[]) =>
  tx.event_subscriptions.updateMany({ where: { ...own(ctx), destination_id: { in: [...destinationIds] } }, data: { enabled: false } });
