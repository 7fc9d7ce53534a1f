import assert from 'node:assert/strict';
import test from 'node:test';
import { Webhooks as GitHubWebhooks } from '@octokit/webhooks';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Received, receiver, webhookTo } from './receiver.fixture.ts';

// What leaves over a real socket, judged by the libraries that receivers of each format use.

await testDatabase();
const w = await workspace();

const stripe = new Stripe('sk_test_none').webhooks;
const JUDGES: Record<string, (got: Received, secret: string) => Promise<unknown>> = {
  stripe: async ({ body, headers }, secret) => stripe.constructEvent(body, String(headers['stripe-signature']), secret),
  github: async ({ body, headers }, secret) => {
    if (!(await new GitHubWebhooks({ secret }).verify(body, String(headers['x-hub-signature-256'])))) throw new Error('refused');
  },
  'standard-webhooks': async ({ body, headers }, secret) => {
    const given = headers as Record<string, string>;
    new StandardWebhook(secret).verify(body, given);
    new SvixWebhook(secret).verify(body, given);
  },
};

/** What a test of the webhook sends, which is signed as every delivery is. */
async function sent(hmac_format: string, rotated = false) {
  const { seen, url } = await receiver();
  const { id, secret_key } = await webhookTo(w.test, url, { hmac_format });
  const { secret_key: next } = rotated ? await made(w.test, 'webhooks.rotate_secret', { id }) : { secret_key: secret_key };
  assert.equal((await made(w.test, 'webhooks.test', { id, event_type: 'request.completed' })).success, true);
  return { got: seen[0] as Received, secret: secret_key as string, next: next as string };
}

for (const [format, judge] of Object.entries(JUDGES)) {
  test(`${format}: the libraries of receivers accept what is sent, and neither another body nor another secret`, async () => {
    const { got, secret } = await sent(format);
    await judge(got, secret);
    await assert.rejects(judge({ ...got, body: `${got.body} ` }, secret));
    await assert.rejects(judge({ ...got, body: got.body.replace('POST', 'PUT') }, secret));
    await assert.rejects(judge(got, `${secret.slice(0, -5)}AAAA=`));
  });
}

for (const format of ['stripe', 'standard-webhooks'] as const) {
  test(`${format}: while the secret is replaced, a receiver with either secret accepts`, async () => {
    const { got, secret, next } = await sent(format, true);
    assert.notEqual(secret, next);
    await JUDGES[format]?.(got, secret);
    await JUDGES[format]?.(got, next);
  });
}

test('github: once the secret is replaced only the new one is accepted', async () => {
  const { got, secret, next } = await sent('github', true);
  await JUDGES.github?.(got, next);
  await assert.rejects(JUDGES.github?.(got, secret) ?? Promise.resolve());
});

test('standard-webhooks: the ID is that of the event and the secret is base64 in either alphabet', async () => {
  const { got, secret } = await sent('standard-webhooks');
  assert.equal(got.headers['webhook-id'], got.envelope.id);
  assert.match(secret, /^whsec_[A-Za-z0-9]{43}=$/);
});

test('a webhook that is switched to standard-webhooks keeps its secret, and libraries that read base64url too accept it', async () => {
  const { seen, url } = await receiver();
  const { id, secret_key } = await webhookTo(w.test, url);
  await made(w.test, 'webhooks.update', { id, hmac_format: 'standard-webhooks' });
  await made(w.test, 'webhooks.test', { id });
  const standard = Buffer.from(secret_key.slice(6), 'base64url').toString('base64');
  new StandardWebhook(`whsec_${standard}`).verify(seen[0]?.body ?? '', seen[0]?.headers as Record<string, string>);
});
