/** What people are told about, with where they hear of it unless they choose otherwise (interface rule 70 §8). */
export const NOTIFICATION_KINDS = ['security', 'operations', 'expiry', 'team', 'billing', 'product'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const DIGESTS = ['instant', 'hourly', 'daily'] as const;
export type Digest = (typeof DIGESTS)[number];

/** Where something stands: in a space, or in the workspace itself. */
export const PLACES = ['live', 'test', 'workspace'] as const;
export type Place = (typeof PLACES)[number];

export type Channels = { in_app: boolean; email: boolean };

export const DEFAULT_CHANNELS: Record<NotificationKind, Channels> = {
  security: { in_app: true, email: true },
  operations: { in_app: true, email: true },
  expiry: { in_app: true, email: true },
  team: { in_app: true, email: true },
  billing: { in_app: true, email: true },
  product: { in_app: true, email: false },
};

/** Kinds that a person of this role can't turn off. */
export const lockedKinds = (role: string): NotificationKind[] => (role === 'owner' ? ['security'] : []);

/** Resources that can be followed or muted, as their audit entries name them. */
export const FOLLOWABLE = [
  'route',
  'secret',
  'webhook',
  'workflow',
  'agent',
  'alert',
  'pki_root',
  'ai_agent',
  'vault',
  'migration',
] as const;

/** A notification is kept this long. */
export const KEPT_DAYS = 90;
/** Resources that one person can follow or mute in a workspace. */
export const MOST_RESOURCES = 200;
