/** How senders sign, in the order of the form (interface rule 60 §4, and Standard Webhooks, which Svix sends as well). */
export const FORMATS = ['stripe', 'github', 'slack', 'standard-webhooks', 'aws-sns', 'legacy', 'custom'] as const;
export type InboundFormat = (typeof FORMATS)[number];

/** Formats whose signature covers the time of sending: only they have a replay window. */
export const TIMED: ReadonlySet<InboundFormat> = new Set<InboundFormat>(['stripe', 'slack', 'standard-webhooks']);

/**
 * Formats whose deliveries are told apart by an ID or the body, and not by the time: a second try is a duplicate unless the receiver allows them. Senders of
 * the others sign each try anew.
 */
export const REPEATABLE: ReadonlySet<InboundFormat> = new Set<InboundFormat>([
  'github',
  'standard-webhooks',
  'aws-sns',
  'legacy',
  'custom',
]);

/** The longest replay window there is: as long may a signed time be from now, whatever the window is later set to. */
export const MOST_WINDOW_SECONDS = 86_400;

/** What the log says of calls that came this way. */
export const INBOUND_MODE = 'inbound';

/** A verified call carries it to the target; nobody else can set it. */
export const VERIFIED_HEADER = 'X-Svc-Verified';
