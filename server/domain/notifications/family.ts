import { family } from '#server/kernel/family.ts';
import { endInbox, pruneNotifications } from './inbox.ts';
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
    prune_notifications: { cron: '35 3 * * *', run: ({ now }) => pruneNotifications(now) },
  },
});
