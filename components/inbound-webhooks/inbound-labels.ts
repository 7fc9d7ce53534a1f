import type { z } from 'zod';
import type { State } from '#components/ui/badge.tsx';
import type { InboundFormat } from '#server/domain/inbound-webhooks/formats.shared.ts';
import type { InboundWebhook } from '#server/domain/inbound-webhooks/schema.ts';

export type InboundRow = z.output<typeof InboundWebhook>;

/** How each sender signs, and where it shows the secret. */
export const FORMAT_LABELS: Record<InboundFormat, { label: string; secret: string }> = {
  stripe: { label: 'Stripe', secret: 'The signing secret of the endpoint, whsec_…, under Developers, Webhooks.' },
  github: { label: 'GitHub', secret: 'The secret of the repository’s or app’s webhook. You choose it there.' },
  slack: { label: 'Slack', secret: 'The signing secret of the app, under Basic Information.' },
  'standard-webhooks': { label: 'Standard Webhooks, Svix', secret: 'The endpoint’s signing secret, whsec_….' },
  'aws-sns': { label: 'HMAC, base64', secret: 'The secret that the sender signs x-amz-sns-signature with.' },
  legacy: { label: 'Sallyport', secret: 'The secret_key of the webhook that sends here.' },
  custom: { label: 'Another header', secret: 'The secret that the sender computes HMAC-SHA256 over the body with.' },
};

const ERRORS: Record<string, string> = {
  invalid_signature: 'The signature was missing or wrong. Check the secret.',
  replay_window_exceeded: 'The signed time was outside of the replay window. Check the sender’s clock.',
  duplicate_delivery: 'The call was taken before, and was not forwarded again.',
  delivery_in_progress: 'The same call was being forwarded.',
  target_timeout: 'The target did not answer in time.',
  target_unreachable: 'The target could not be reached.',
  target_tls_error: 'The TLS connection to the target failed.',
  target_not_allowed: 'The target has an address that can’t be called.',
  target_response_too_large: 'The answer of the target was too large.',
  target_route_forbidden:
    'Whoever set the route, or turned this on, may no longer call the route. Have somebody who may call it turn this off and on again.',
  target_route_not_found: 'The route is off or was deleted.',
};

/** What was wrong with the last call, in words. */
export function errorText(code: string): string {
  const status = /^target_status_(\d{3})$/.exec(code)?.[1];
  if (status) return `The target answered with status ${status}.`;
  return ERRORS[code] ?? `The route refused the call (${code.replace(/^target_/, '')}).`;
}

export function stateOf({ enabled, last_error, verified_count, refused_count }: InboundRow): { state: State; label: string } {
  if (!enabled) return { state: 'off', label: 'Off' };
  if (last_error !== null) return { state: 'failing', label: 'Last call failed' };
  return verified_count + refused_count === 0 ? { state: 'pending', label: 'Waiting for a call' } : { state: 'ok', label: 'Receiving' };
}

/** Where verified calls go, in a few words. */
export function targetText({ forward_url, forward_route_id }: InboundRow): string {
  if (forward_route_id !== null) return 'A route';
  return forward_url === null ? 'Nowhere: answered with 200' : new URL(forward_url).host;
}
