/** The event types that are raised today, with what they mean (spec 60 §3). A family that raises another adds it here. */
export const EVENT_TYPES = {
  'audit.event': 'An audit entry was written.',
  'secret.expiring': 'A value of a secret expires in 30, 7 or 1 days.',
  'secret.expired': 'A value of a secret has expired.',
  'secret.rotated': 'A secret got a new value.',
  'usage.threshold_reached': "80, 90 or 100% of the month's calls are used.",
  'vault.token.expiring': 'The card behind a vault token expires in 60 or 30 days.',
} as const;

export type EventType = keyof typeof EVENT_TYPES;
