import { family } from '#server/kernel/family.ts';

export const events = family({
  name: 'events',
  tables: [
    { name: 'events', reset: 'stay' },
    { name: 'event_subscriptions', reset: 'delete' },
  ],
});
