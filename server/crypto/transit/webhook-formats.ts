import type { WebhookFormat } from '#server/kernel/key-types.ts';
import { assertKeyTypeCan, type Material } from './material.ts';
import { macOf } from './signatures.ts';

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
