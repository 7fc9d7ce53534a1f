import type { Channel } from '#server/domain/deliveries/service.ts';
import { db } from '#server/platform/db.ts';
import { noticeOfEvent } from './event-notices.ts';
import { writeNotices } from './writing.ts';

/** The name of the channel in `event_subscriptions`. */
export const INBOX_CHANNEL = 'inbox';

/** How events reach the inboxes of a workspace. An event that is delivered again changes nothing: a notification has the event's ID. */
export const inboxChannel = (): Channel => ({
  async deliver({ tenant_id, sandbox, event }) {
    const notice = noticeOfEvent({ ...event, tenant_id, sandbox });
    if (notice) await writeNotices(db(), [notice], new Date());
    return { result: 'delivered' };
  },
});
