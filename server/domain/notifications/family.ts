import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { endInbox, pruneNotifications } from './inbox.ts';
import { tellNews } from './news.ts';
import * as operations from './operations.ts';

export const notifications = family({
  name: 'notifications',
  namespace: 'notifications',
  router: 'notifications',
  operations,
  tables: [
    { name: 'notifications', reset: 'stay' },
    { name: 'notification_settings', reset: 'stay' },
  ],
  membershipEnds: endInbox,
  jobs: {
    tell_news: { cron: '20 6 * * *', atStart: true, run: ({ now }) => tellNews(db(), now) },
    prune_notifications: { cron: '35 3 * * *', run: ({ now }) => pruneNotifications(now) },
  },
});
