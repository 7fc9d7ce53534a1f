import assert from 'node:assert/strict';
import test from 'node:test';
import { freshMaterial, materialOf, run } from './material.fixture.ts';
import { signWebhook } from './webhook-formats.ts';

const key = materialOf('hmac-sha256', run(0, 32));
const payload = Buffer.from('{"id":"evt_1"}');
const time = 1_767_225_600;

test('the published webhook signatures come out in each format', () => {
  const hex = '11c59e1533eddddb4836004e34dadcceb388a3e3476854ae230f3055542ac69f';
  const stripe = 't=1767225600,v1=b1d278ba1b37d4887f1211e5cc93632109dacbb7ababdeb7fce503edd04afeb3';
  const slack = 'v0=9f18dc9a52d1cffa94f8bc3f99465190cc5742d84c8b2c7d0114e68a276d7be0';
  const sns = 'EcWeFTPt3dtINgBONNrczrOIo+NHaFSuIw8wVVQqxp8=';
  const headers = (format: Parameters<typeof signWebhook>[1]) => signWebhook(key, format, payload, time);
  assert.deepEqual(headers('stripe'), { signature_header: stripe, headers: { 'Stripe-Signature': stripe } });
  assert.deepEqual(headers('slack'), {
    signature_header: slack,
    headers: { 'X-Slack-Signature': slack, 'X-Slack-Request-Timestamp': '1767225600' },
  });
  assert.deepEqual(headers('github'), { signature_header: `sha256=${hex}`, headers: { 'X-Hub-Signature-256': `sha256=${hex}` } });
  assert.deepEqual(headers('legacy'), { signature_header: `sha256=${hex}`, headers: { 'X-Webhook-Signature': `sha256=${hex}` } });
  assert.deepEqual(headers('aws-sns'), { signature_header: sns, headers: { 'x-amz-sns-signature': sns } });
});

test('only keys of HMAC-SHA256 sign webhooks', async () => {
  for (const type of ['hmac-sha512', 'aes256-gcm', 'ed25519'] as const) {
    const { material } = await freshMaterial(type);
    assert.throws(() => signWebhook(material, 'stripe', payload, time), { type: 'validation_error' });
  }
});
