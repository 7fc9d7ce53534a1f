import assert from 'node:assert/strict';
import test from 'node:test';
import { Webhooks as GitHubWebhooks } from '@octokit/webhooks';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { type DeliveryFormat, signDelivery, webhookMaterial } from './webhook-formats.ts';
import { verifyWebhook } from './webhook-verify.ts';

const NOW = new Date('2026-10-01T12:00:00.000Z');
const T = NOW.getTime() / 1_000;
const BODY = '{"id":"evt_1","text":"ünïcode \\u0000 and 😀"}';
const SECRET = 'whsec_b3VyLXRlc3Qtc2lnbmluZy1zZWNyZXQtMDAwMDAwMDE';
const STANDARD = 'whsec_b3VyLXRlc3Qtc2lnbmluZy1zZWNyZXQtMDAwMDAwMDE=';

const verdict = (
  format: DeliveryFormat,
  headers: Record<string, string>,
  {
    body = BODY,
    secret = SECRET,
    header = null,
    at = NOW,
    window = 300,
  }: Partial<{
    body: string | Uint8Array;
    secret: string;
    header: string | null;
    at: Date;
    window: number | null;
  }> = {},
) => verifyWebhook({ format, header, secret, window }, { headers: new Headers(headers), body: Buffer.from(body) }, at).verdict;
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);

test("what the providers' own libraries sign is verified, and a changed byte, another secret or a cut body is not", async () => {
  const stripe = new Stripe('sk_test_none').webhooks.generateTestHeaderString({ payload: BODY, secret: SECRET, timestamp: T });
  const svix = new SvixWebhook(STANDARD).sign('msg_1', NOW, BODY);
  const standard = new StandardWebhook(STANDARD).sign('msg_1', NOW, BODY);
  const named = (family: string, signature: string) => ({
    [`${family}-id`]: 'msg_1',
    [`${family}-timestamp`]: String(T),
    [`${family}-signature`]: signature,
  });
  const signed: [DeliveryFormat, Record<string, string>, string][] = [
    ['stripe', { 'Stripe-Signature': stripe }, SECRET],
    ['github', { 'X-Hub-Signature-256': await new GitHubWebhooks({ secret: SECRET }).sign(BODY) }, SECRET],
    ['standard-webhooks', named('svix', svix), STANDARD],
    ['standard-webhooks', named('webhook', standard), STANDARD],
    ['standard-webhooks', named('webhook', `v1a,AAAA ${standard}`), STANDARD],
  ];
  for (const [format, headers, secret] of signed) {
    assert.equal(verdict(format, headers, { secret }), 'verified', format);
    assert.equal(verdict(format, headers, { secret, body: `${BODY} ` }), 'invalid_signature', format);
    assert.equal(verdict(format, headers, { secret, body: BODY.slice(0, -1) }), 'invalid_signature', format);
    assert.equal(verdict(format, headers, { secret: `${secret.slice(0, -4)}AAAA` }), 'invalid_signature', format);
  }
});

test('what our own deliveries carry is verified in each of their formats', () => {
  for (const format of ['legacy', 'stripe', 'github', 'slack', 'aws-sns', 'custom', 'standard-webhooks'] as const) {
    const header = format === 'custom' ? 'X-Acme-Signature' : null;
    const headers = signDelivery({ format, header, id: 'evt_1', current: webhookMaterial(SECRET, format) }, Buffer.from(BODY), T);
    assert.equal(verdict(format, headers, { header }), 'verified', format);
    assert.equal(verdict(format, headers, { header, secret: 'another secret' }), 'invalid_signature', format);
  }
});

test('while a sender replaces its secret either signature of stripe will do', () => {
  const old = webhookMaterial(SECRET);
  const headers = signDelivery(
    { format: 'stripe', header: null, id: 'evt_1', current: webhookMaterial('new'), previous: old },
    Buffer.from(BODY),
    T,
  );
  for (const secret of [SECRET, 'new']) assert.equal(verdict('stripe', headers, { secret }), 'verified');
});

test('a signed timestamp outside of the window is told from a forged one, on either side of now', () => {
  const sign = (format: 'stripe' | 'slack') =>
    signDelivery({ format, header: null, id: 'evt_1', current: webhookMaterial(SECRET) }, Buffer.from(BODY), T);
  for (const format of ['stripe', 'slack'] as const) {
    for (const seconds of [300, -300]) assert.equal(verdict(format, sign(format), { at: later(seconds) }), 'verified', format);
    for (const seconds of [301, -301]) {
      assert.equal(verdict(format, sign(format), { at: later(seconds) }), 'replay_window_exceeded', format);
      assert.equal(verdict(format, sign(format), { at: later(seconds), secret: 'x' }), 'invalid_signature', format);
    }
    assert.equal(verdict(format, sign(format), { at: later(86_400), window: null }), 'verified', format);
  }
});

test('headers that say nothing verifiable are failures, never passes', () => {
  const hex = 'a'.repeat(64);
  const cases: [DeliveryFormat, Record<string, string>][] = [
    ['stripe', {}],
    ['stripe', { 'stripe-signature': '' }],
    ['stripe', { 'stripe-signature': `t=,v1=${hex}` }],
    ['stripe', { 'stripe-signature': `t=NaN,v1=${hex}` }],
    ['stripe', { 'stripe-signature': `t=1e9,v1=${hex}` }],
    ['stripe', { 'stripe-signature': `t=${T},t=${T},v1=${hex}` }],
    ['stripe', { 'stripe-signature': `t=${T}` }],
    ['stripe', { 'stripe-signature': `t=${T},v0=${hex}` }],
    ['slack', { 'x-slack-signature': `v0=${hex}` }],
    ['slack', { 'x-slack-signature': `v1=${hex}`, 'x-slack-request-timestamp': String(T) }],
    ['github', { 'x-hub-signature-256': 'sha256=' }],
    ['github', { 'x-hub-signature-256': `sha1=${hex}` }],
    ['github', { 'x-hub-signature-256': `sha256=${hex}00` }],
    ['legacy', { 'x-webhook-signature': 'é'.repeat(64).replaceAll('é', 'g') }],
    ['aws-sns', { 'x-amz-sns-signature': '!!!' }],
    ['aws-sns', { 'x-amz-sns-signature': 'AAAA' }],
    ['custom', { 'x-webhook-signature': `sha256=${hex}` }],
    ['standard-webhooks', { 'webhook-signature': 'v1,AAAA' }],
    ['standard-webhooks', { 'webhook-id': 'a', 'webhook-timestamp': String(T), 'webhook-signature': 'AAAA' }],
  ];
  for (const [format, headers] of cases)
    assert.equal(verdict(format, headers), 'invalid_signature', `${format} ${JSON.stringify(headers)}`);
});

test('the plain formats take the value with and without its prefix, in either case', () => {
  const headers = signDelivery({ format: 'github', header: null, id: 'evt_1', current: webhookMaterial(SECRET) }, Buffer.from(BODY), T);
  const value = headers['X-Hub-Signature-256'] as string;
  for (const given of [value, value.slice(7), value.slice(7).toUpperCase()])
    assert.equal(verdict('github', { 'x-hub-signature-256': given }), 'verified');
});
