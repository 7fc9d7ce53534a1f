import type { EventType } from '#server/domain/events/catalogue.shared.ts';
import { eventData } from '#server/domain/events/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';

type Place = { tenant_id: string; sandbox: boolean };

/** Subscribes to types of a space, as a webhook would. @returns what was raised since, the oldest first */
export async function watchEvents({ tenant_id, sandbox }: Place, ...event_types: EventType[]) {
  const at = { tenant_id, sandbox };
  await db().event_subscriptions.create({ data: { ...at, id: newId(), channel: 'test', destination_id: newId(), event_types } });
  return async () => {
    const rows = await db().events.findMany({
      where: { ...at, type: { in: event_types } },
      orderBy: [{ occurred_at: 'asc' }, { id: 'asc' }],
    });
    return Promise.all(rows.map(async (row) => ({ type: row.type, about: row.source_id, data: await eventData(row) })));
  };
}
