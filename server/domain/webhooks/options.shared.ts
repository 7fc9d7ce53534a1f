/** What a webhook may be set to, as schemas and pages name it (interface rule 60 §2.1). */
export const METHODS = ['POST', 'PUT', 'PATCH', 'GET'] as const;
export const AUTH_TYPES = ['none', 'basic', 'bearer', 'hmac', 'header'] as const;
export type AuthType = (typeof AUTH_TYPES)[number];
export const HMAC_FORMATS = ['legacy', 'stripe', 'github', 'slack', 'aws-sns', 'custom', 'standard-webhooks'] as const;
export type HmacFormat = (typeof HMAC_FORMATS)[number];
export const DISABLED_REASONS = ['manual', 'failing', 'gone'] as const;
export const ERROR_CODES = [
  'timeout',
  'dns_error',
  'connect_error',
  'tls_error',
  'http_status',
  'blocked_address',
  'signing_key_unavailable',
  'secret_unresolved',
  'response_too_large',
  'internal_error',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The header that carries the signature of a format; a custom one is the webhook's own (interface rule 60 §4). */
export const SIGNATURE_HEADERS: Readonly<Record<Exclude<HmacFormat, 'custom'>, string>> = {
  legacy: 'X-Webhook-Signature',
  github: 'X-Hub-Signature-256',
  stripe: 'Stripe-Signature',
  slack: 'X-Slack-Signature',
  'aws-sns': 'x-amz-sns-signature',
  'standard-webhooks': 'webhook-signature',
};

/** Formats that carry the signatures of both secrets while one is replaced. */
export const OVERLAPPING: ReadonlySet<HmacFormat> = new Set<HmacFormat>(['stripe', 'standard-webhooks']);

/** The channel of the delivery engine that webhooks are destinations of. */
export const CHANNEL = 'webhook';

/** The families of events, by the first part of their type, in the order in which a person looks for them. */
export const groupOf = (type: string): string => type.slice(0, type.indexOf('.'));

/** A label for people: `request.client_error` is "Request client error". */
export function labelOf(type: string): string {
  const words = type.replaceAll(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
