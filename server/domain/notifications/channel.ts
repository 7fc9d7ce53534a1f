import type { Channel } from '#server/domain/deliveries/service.ts';
import { db } from '#server/platform/db.ts';
import { noticeOfEvent } from './event-notices.ts';
import { type Notice, writeNotices } from './writing.ts';

/** The name of the channel in `event_subscriptions`. */
export const INBOX_CHANNEL = 'inbox';

/** Whoever an email channel of the alert mails hears nothing a second time. */
async function withAlertMails(notice: Notice): Promise<Notice> {
  if (notice.resource?.type !== 'alert' || notice.mailed) return notice;
  const rows = await db().$queryRaw<{ address: string }[]>`
    select lower(unnest(c.recipients)) as address from alerts a join alert_channels c on c.id = any(a.channel_ids) and c.tenant_id = a.tenant_id
    where a.id = ${notice.resource.id}::uuid and a.tenant_id = ${notice.tenant_id}::uuid and c.kind = 'email' and c.enabled`;
  return { ...notice, mailed: rows.map(({ address }) => address) };
}

/** How events reach the inboxes of a workspace. An event that is delivered again changes nothing: a notification has the event's ID. */
export const inboxChannel = (): Channel => ({
  async deliver({ tenant_id, sandbox, event }) {
    const notice = noticeOfEvent({ ...event, tenant_id, sandbox });
    if (notice) await writeNotices(db(), [await withAlertMails(notice)], new Date());
    return { result: 'delivered' };
  },
});
