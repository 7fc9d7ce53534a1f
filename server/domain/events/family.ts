import { family } from '#server/kernel/family.ts';
import { pruneEvents } from './service.ts';

export const events = family({
  name: 'events',
  tables: [
    { name: 'events', reset: 'stay' },
    { name: 'event_subscriptions', reset: 'delete' },
  ],
  jobs: {
    prune_events: { cron: '55 * * * *', run: ({ now }) => pruneEvents(now) },
  },
});
