import { randomUUID } from 'node:crypto';
import type { Sample } from '#server/testing/factories.ts';

const nothing: Sample = async () => ({});

export const samples: Record<string, Sample> = {
  'notifications.list': nothing,
  'notifications.count': nothing,
  'notifications.read': async () => ({ ids: [randomUUID()] }),
  'notifications.preferences': nothing,
  'notifications.update': async () => ({ digest: 'hourly' }),
  'notifications.follow': async () => ({ resource_type: 'secret', resource_id: randomUUID(), mode: 'follow' }),
};

export const peopleOnly = Object.keys(samples);

const PERSONAL = "it is the person's own and changes nothing of the workspace";
export const unaudited = { 'notifications.read': PERSONAL, 'notifications.update': PERSONAL, 'notifications.follow': PERSONAL };

/** What isn't sent stays as it is, and only the person changes it. */
export const unguardedEdits = ['notifications.update'];

export const harmless = {
  // What a person hears of.
  'notifications.follow': ['resource_type', 'resource_id', 'mode'],
  'notifications.update': ['channels', 'digest', 'quiet_hours'],
};
