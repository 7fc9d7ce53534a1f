import type { z } from 'zod';
import type { State } from '#components/ui/badge.tsx';
import type { AuthType, HmacFormat } from '#server/domain/webhooks/options.shared.ts';
import type { BrowsedAttempt, Webhook, WebhookAttempt, WebhookDetail, WebhookUsage } from '#server/domain/webhooks/schema.ts';

export type WebhookRow = z.output<typeof Webhook>;
export type Detail = z.output<typeof WebhookDetail>;
export type Usage = z.output<typeof WebhookUsage>;
export type Attempt = z.output<typeof WebhookAttempt>;
export type Log = z.output<typeof BrowsedAttempt>;

/** What a webhook is up to, in a word. */
export function stateOf(
  webhook: { enabled: boolean },
  health: Pick<Usage, 'failing_since' | 'disabled_reason'> | undefined,
): { state: State; label: string } {
  if (!webhook.enabled) {
    const reason = health?.disabled_reason;
    return reason === 'failing' || reason === 'gone'
      ? { state: 'blocked', label: `Disabled: ${reason}` }
      : { state: 'off', label: 'Paused' };
  }
  return health?.failing_since ? { state: 'failing', label: 'Failing' } : { state: 'ok', label: 'Active' };
}

export const hostOf = (url: string): string => URL.parse(url)?.host ?? url;

export const AUTH: Record<AuthType, string> = {
  none: 'None',
  basic: 'Basic',
  bearer: 'Bearer token',
  header: 'Header',
  hmac: 'Own signing secret',
};

/** Each format in a line: which header, and what of the request it signs. */
export const FORMATS: Record<HmacFormat, { label: string; about: string }> = {
  legacy: { label: 'Standard', about: 'X-Webhook-Signature: sha256= and the HMAC of the body' },
  stripe: { label: 'Stripe', about: 'Stripe-Signature with a signed time; carries both secrets during a rotation' },
  github: { label: 'GitHub', about: 'X-Hub-Signature-256: sha256= and the HMAC of the body' },
  slack: { label: 'Slack', about: 'X-Slack-Signature with a signed time' },
  'aws-sns': { label: 'AWS SNS', about: 'x-amz-sns-signature: the HMAC of the body in base64' },
  'standard-webhooks': {
    label: 'Standard Webhooks',
    about: 'webhook-signature with a signed time and ID, as Svix; carries both secrets during a rotation',
  },
  custom: { label: 'Custom header', about: 'The standard signature in a header of your choice' },
};

/** What went wrong, in plain words. */
export function problemOf({ error_code, response_status }: { error_code: string | null; response_status?: number | null }): string {
  switch (error_code) {
    case 'timeout':
      return 'The receiver did not answer in time.';
    case 'dns_error':
      return 'The host name of the receiver could not be resolved.';
    case 'connect_error':
      return 'The receiver could not be reached.';
    case 'tls_error':
      return 'The TLS connection to the receiver failed.';
    case 'blocked_address':
      return 'The URL leads to an address that webhooks must not reach.';
    case 'signing_key_unavailable':
      return 'The key that signs could not be used.';
    case 'secret_unresolved':
      return 'A secret that the request names could not be sent.';
    case 'http_status':
      return response_status ? `The receiver answered with status ${response_status}.` : 'The receiver answered with an error status.';
    default:
      return 'The delivery failed.';
  }
}
