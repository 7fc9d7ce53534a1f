import type { WebhookFormat } from '#server/kernel/key-types.ts';
import { secretKey } from '../secret-key.ts';
import { assertKeyTypeCan, Material } from './material.ts';
import { macOf } from './signatures.ts';
import { standardKey } from './standard-secret.ts';

/** A signed webhook: the value to send, and every header to send with it. */
export type WebhookSignature = { signature_header: string; headers: Record<string, string> };

/** Signs the exact bytes of a body the way the receivers of a format expect it (interface rule 40 §5.5). `timestamp` in seconds; two formats sign it. */
export function signWebhook(material: Material, format: WebhookFormat, payload: Uint8Array, timestamp: number): WebhookSignature {
  assertKeyTypeCan(material.type, 'webhook-sign');
  const mac = (prefix: string, encoding: 'hex' | 'base64' = 'hex') =>
    macOf(material, prefix === '' ? payload : Buffer.concat([Buffer.from(prefix, 'latin1'), payload])).toString(encoding);
  const signed = (header: string, value: string, others: Record<string, string> = {}) => ({
    signature_header: value,
    headers: { [header]: value, ...others },
  });
  switch (format) {
    case 'stripe':
      return signed('Stripe-Signature', `t=${timestamp},v1=${mac(`${timestamp}.`)}`);
    case 'slack':
      return signed('X-Slack-Signature', `v0=${mac(`v0:${timestamp}:`)}`, { 'X-Slack-Request-Timestamp': String(timestamp) });
    case 'github':
      return signed('X-Hub-Signature-256', `sha256=${mac('')}`);
    case 'legacy':
      return signed('X-Webhook-Signature', `sha256=${mac('')}`);
    case 'aws-sns':
      return signed('x-amz-sns-signature', mac('', 'base64'));
  }
}

/**
 * How deliveries are signed; `custom` is the default format in a header of the receiver's choice, `standard-webhooks` the scheme of the specification of
 * that name, which Svix sends as well.
 */
export type DeliveryFormat = WebhookFormat | 'custom' | 'standard-webhooks';

/**
 * The key of a webhook's own secret: the UTF-8 bytes of the whole text, its prefix included (interface rule 60 §2.3); for Standard Webhooks those that its
 * base64 stands for.
 */
export const webhookMaterial = (secret: string, format: DeliveryFormat = 'legacy'): Material =>
  new Material('hmac-sha256', secretKey(format === 'standard-webhooks' ? standardKey(secret) : Buffer.from(secret)));

type DeliverySigning = {
  format: DeliveryFormat;
  header: string | null;
  /** Of the message, which Standard Webhooks signs along. */
  id: string;
  current: Material;
  previous?: Material | undefined;
};

/**
 * The headers that sign one delivery. While a key is being replaced, `stripe` and `standard-webhooks` carry the signatures of both, the new one first; every
 * other format holds one value and is signed with the new key at once (interface rule 60 §4).
 */
export function signDelivery(
  { format, header, id, current, previous }: DeliverySigning,
  body: Uint8Array,
  timestamp: number,
): Record<string, string> {
  if (format === 'custom') return { [header ?? 'X-Webhook-Signature']: signWebhook(current, 'legacy', body, timestamp).signature_header };
  if (format === 'standard-webhooks') {
    const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
    const macs = [current, ...(previous ? [previous] : [])].map((key) => `v1,${macOf(key, signed).toString('base64')}`);
    return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': macs.join(' ') };
  }
  const { signature_header, headers } = signWebhook(current, format, body, timestamp);
  if (format !== 'stripe' || !previous) return headers;
  const old = signWebhook(previous, 'stripe', body, timestamp).signature_header;
  return { ...headers, 'Stripe-Signature': `${signature_header}${old.slice(old.indexOf(','))}` };
}
