import type { Db } from '#server/kernel/database.ts';
import { readAuditEntries } from './audit-feed.ts';
import { mailDueNotifications } from './mailing.ts';

export { INBOX_CHANNEL, inboxChannel } from './channel.ts';
export { endInbox, pruneNotifications } from './inbox.ts';
export { notificationStream } from './stream.ts';

/** One turn of the worker: notifications of new audit entries, then the mails that are due. @returns whether there may be more entries */
export async function runNotifications(db: Db, now: Date): Promise<boolean> {
  const more = await readAuditEntries(db, now);
  await mailDueNotifications(db, now);
  return more;
}
