import { EVENT_LIFE_MS, sealPayload } from '#server/domain/events/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { ALERT_CHANNEL } from './kinds.shared.ts';
import { type AlertMessage, MESSAGE_EVENT } from './message.ts';
import { type QuietHours, quietUntil } from './quiet.shared.ts';

type Place = { tenant_id: string; sandbox: boolean; now: Date };
const ATTEMPTS = 5;

/**
 * Queues a message for channels, in the caller's transaction: it is sent if that commits, and not otherwise, always under the same ID. Channels in their quiet
 * hours get it at their end, and no reminder at all; unless the incident is critical and they except those.
 * @returns the message's ID and the channels it goes to
 */
export async function queueMessage(
  tx: Tx,
  { tenant_id, sandbox, now }: Place,
  message: AlertMessage,
  channelIds: readonly string[],
): Promise<{ id: string; channel_ids: string[] }> {
  const id = newId();
  const channels = await tx.alert_channels.findMany({
    where: { tenant_id, sandbox, enabled: true, id: { in: [...channelIds] } },
    select: { id: true, quiet_hours: true },
  });
  const due = channels
    .map((channel) => ({ id: channel.id, at: leavesAt(channel.quiet_hours as QuietHours | null, message, now) }))
    .filter(({ at }) => message.kind !== 'reminder' || at.getTime() === now.getTime());
  if (due.length === 0) return { id, channel_ids: [] };
  const sealed = await sealPayload({ id, tenant_id, sandbox }, message);
  await tx.events.create({
    data: {
      ...{ id, tenant_id, sandbox, type: MESSAGE_EVENT, source_id: message.incident_id, occurred_at: now, dispatch_at: null },
      ...{ expires_at: new Date(now.getTime() + EVENT_LIFE_MS), ...sealed },
    },
  });
  await tx.deliveries.createMany({
    data: due.map(({ id: destination_id, at }) => ({
      ...{ id: newId(), tenant_id, sandbox, event_id: id, channel: ALERT_CHANNEL, destination_id },
      ...{ max_attempts: ATTEMPTS, next_attempt_at: at, created_at: now },
    })),
  });
  return { id, channel_ids: due.map((channel) => channel.id) };
}

const leavesAt = (hours: QuietHours | null, { severity }: AlertMessage, now: Date): Date =>
  hours?.except_critical && severity === 'critical' ? now : quietUntil(hours, now);
