import assert from 'node:assert/strict';
import test from 'node:test';
import Stripe from 'stripe';
import { type DeliveryFormat, signDelivery, webhookMaterial } from './webhook-formats.ts';

// The vectors of interface rule 60 §4.
const KEY = 'whsec_b3VyLXRlc3Qtc2lnbmluZy1zZWNyZXQtMDAwMDAwMDE';
const OLD = 'whsec_b2xkLXNlY3JldC1iZWluZy1yb3RhdGVkLW91dC0wMDAx';
const BODY = Buffer.from(
  '{"id":"0198c2f4-7d10-7c3e-9b1a-2f6f0a1b2c3d","event":"request.completed","timestamp":"2026-10-01T12:00:00.000Z","occurred_at":"2026-10-01T11:59:59.874Z","webhook_id":"6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f506","webhook_name":"orders","sandbox":false,"data":{"route_id":"2c9a1f00-1111-4222-8333-944455566677","route_name":"orders-api","environment":"production","request":{"method":"POST","path":"/v1/orders","ip":"203.0.113.9"},"response":{"status":200,"latency_ms":88}}}',
);
const T = 1790856000;
const PLAIN = 'sha256=f0785cacc00dbd645dc8951ebf9d73941b8e5709f1a99beb93e2d8b6be282c1b';
const STRIPE = 't=1790856000,v1=04168ec6482dc83f3503916db6d52dc31e5281a20368be67d6116b50ded08ebf';
const sign = (format: DeliveryFormat, header: string | null = null, previous?: string) =>
  signDelivery(
    { format, header, id: 'evt_1', current: webhookMaterial(KEY), ...(previous ? { previous: webhookMaterial(previous) } : {}) },
    BODY,
    T,
  );

test('every format signs as the vectors say, byte for byte', () => {
  assert.equal(BODY.length, 466);
  assert.deepEqual(sign('legacy'), { 'X-Webhook-Signature': PLAIN });
  assert.deepEqual(sign('github'), { 'X-Hub-Signature-256': PLAIN });
  assert.deepEqual(sign('custom', 'X-Acme-Signature'), { 'X-Acme-Signature': PLAIN });
  assert.deepEqual(sign('stripe'), { 'Stripe-Signature': STRIPE });
  assert.deepEqual(sign('slack'), {
    'X-Slack-Signature': 'v0=c617bc56260801e454a2bfa18c47417183960709c79815e5789b495559c2a467',
    'X-Slack-Request-Timestamp': '1790856000',
  });
  assert.deepEqual(sign('aws-sns'), { 'x-amz-sns-signature': '8HhcrMANvWRdyJUev51zlBuOVwnxqZvrk+LYtr4oLBs=' });
});

test('while a secret is replaced stripe carries both signatures, the new one first, and the others the new one alone', () => {
  assert.deepEqual(sign('stripe', null, OLD), {
    'Stripe-Signature': `${STRIPE},v1=178f02d7a7ca213cc1066db0d3d9862c2e624c3a3491addf9a042d278dff2601`,
  });
  for (const format of ['legacy', 'github', 'slack', 'aws-sns'] as const) assert.deepEqual(sign(format, null, OLD), sign(format));
});

test("the provider's own library accepts the stripe format with either secret, and nothing else", () => {
  const { webhooks } = new Stripe('sk_test_none');
  const header = sign('stripe', null, OLD)['Stripe-Signature'] as string;
  for (const secret of [KEY, OLD]) assert.ok(webhooks.constructEvent(BODY, header, secret, 300, undefined, T * 1_000));
  assert.throws(() => webhooks.constructEvent(BODY, header, `${KEY}x`, 300, undefined, T * 1_000));
  assert.throws(() => webhooks.constructEvent(Buffer.concat([BODY, Buffer.from(' ')]), header, KEY, 300, undefined, T * 1_000));
  assert.throws(() => webhooks.constructEvent(BODY, header, KEY, 300, undefined, (T + 301) * 1_000));
});
