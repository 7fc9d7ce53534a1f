import assert from 'node:assert/strict';
import test from 'node:test';
import { Octokit } from '@octokit/rest';
import OpenAI from 'openai';
import Stripe from 'stripe';
import { createWrapToken } from '#server/domain/wrap/tokens.ts';
import { callApi, makeWrapped, startApi, startTlsUpstream } from '#server/gateway/ephemeral/ephemeral.fixture.ts';
import { served } from '#server/gateway/gateway.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ConnectionError } from './error.ts';
import { wrapFetch, wrapped } from './wrap.ts';

// The SDKs of three providers, unmodified: what arrives at the provider has the real key, which this side of the gateway never held.

await testDatabase();
const running = await startApi();
const base_url = `http://127.0.0.1:${running.api}/v1`;
const upstream = await startTlsUpstream(['api.stripe.com', 'api.openai.com', 'api.github.com'], (req, res) => {
  const body = req.url?.startsWith('/v1/chat')
    ? {
        id: 'c',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
      }
    : req.url?.startsWith('/v1/customers')
      ? { id: 'cus_1', object: 'customer' }
      : { login: 'octocat', id: 1 };
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
const KEYS = { STRIPE: 'the-real-stripe-key', OPENAI: 'the-real-openai-key', GITHUB: 'the-real-github-key' };
const HOSTS = { STRIPE: 'api.stripe.com', OPENAI: 'api.openai.com', GITHUB: 'api.github.com' };
const w = await workspace();
const { text: key } = await w.key();
for (const name of ['STRIPE', 'OPENAI', 'GITHUB'] as const) await makeWrapped(w, name, KEYS[name], [HOSTS[name]]);
await served(running, w);
const last = () => upstream.seen.at(-1)!;
const address = async (secret: keyof typeof KEYS) => {
  const { token, host } = await createWrapToken({ ...(await w.key()).as, now: new Date() }, { secret });
  return `http://127.0.0.1:${running.api}/wg/${token}/${host}`;
};
const transport = (secret: string) => wrapFetch({ base_url, credential: key, secret });

test('stripe works through the transport and through a base URL', async () => {
  const stripe = new Stripe('unused', { httpClient: Stripe.createFetchHttpClient(transport('STRIPE')), maxNetworkRetries: 0 });
  const created = await stripe.customers.create({ name: 'Ada' }, { idempotencyKey: 'once' });
  assert.equal(created.id, 'cus_1');
  assert.deepEqual(
    [last().headers.host, last().url, last().body, last().headers.authorization, last().headers['idempotency-key']],
    ['api.stripe.com', '/v1/customers', 'name=Ada', `Bearer ${KEYS.STRIPE}`, 'once'],
  );
  const { fetch, ...at } = wrapped.stripe(await address('STRIPE'));
  const other = new Stripe('unused', { ...at, httpClient: Stripe.createFetchHttpClient(fetch), maxNetworkRetries: 0 });
  assert.equal((await other.customers.retrieve('cus_1')).id, 'cus_1');
  assert.deepEqual([last().url, last().headers.authorization], ['/v1/customers/cus_1', `Bearer ${KEYS.STRIPE}`]);
});

test('openai works through the transport and through a base URL', async () => {
  const ask = async (client: OpenAI) =>
    (await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })).choices[0]?.message.content;
  assert.equal(await ask(new OpenAI({ apiKey: 'unused', maxRetries: 0, fetch: transport('OPENAI') })), 'hello');
  assert.deepEqual([last().url, last().headers.authorization], ['/v1/chat/completions', `Bearer ${KEYS.OPENAI}`]);
  assert.equal(await ask(new OpenAI({ ...wrapped.openai(await address('OPENAI')), maxRetries: 0 })), 'hello');
  assert.deepEqual([last().url, last().headers.authorization], ['/v1/chat/completions', `Bearer ${KEYS.OPENAI}`]);
});

test('octokit works through the transport and through a base URL', async () => {
  const user = async (client: Octokit) => (await client.rest.users.getByUsername({ username: 'octocat' })).data.login;
  assert.equal(await user(new Octokit({ request: { fetch: transport('GITHUB') } })), 'octocat');
  assert.deepEqual([last().url, last().headers.authorization], ['/users/octocat', `Bearer ${KEYS.GITHUB}`]);
  assert.equal(await user(new Octokit(wrapped.octokit(await address('GITHUB')))), 'octocat');
  assert.equal(last().headers.authorization, `Bearer ${KEYS.GITHUB}`);
});

test('in transit the SDK’s own key passes through; keys and options that can’t be meant are errors', async () => {
  const openai = new OpenAI({ apiKey: 'its-own-key', maxRetries: 0, fetch: wrapFetch({ base_url, credential: key }) });
  await openai.chat.completions.create({ model: 'm', messages: [] });
  assert.equal(last().headers.authorization, 'Bearer its-own-key');
  assert.throws(() => wrapFetch({ base_url, credential: key, secret: '' }), TypeError);
  assert.throws(() => wrapFetch({ base_url, credential: key, secret: undefined as unknown as string }), TypeError);
  const fits = (own: string, sandbox?: boolean) =>
    wrapFetch({ base_url, credential: key, ...(sandbox === undefined ? {} : { sandbox }) })('https://api.stripe.com/v1/customers', {
      headers: { authorization: `Bearer ${own}` },
    });
  await assert.rejects(fits('pk_live_1'), TypeError);
  await assert.rejects(fits('sk_live_12345678', true), TypeError);
  await assert.rejects(fits('sk_test_12345678', false), TypeError);
});

test('endpoints that take raw card numbers go straight to their provider', async () => {
  const asked: string[] = [];
  const direct = wrapFetch({
    base_url,
    credential: key,
    secret: 'STRIPE',
    fetch: async (input) => {
      asked.push(input instanceof Request ? input.url : String(input));
      return new Response('{}');
    },
  });
  await direct('https://api.stripe.com/v1/tokens', { method: 'POST', body: 'card=4' });
  await direct('https://api.stripe.com/v1/customers');
  assert.deepEqual(asked, ['https://api.stripe.com/v1/tokens', `${base_url}/proxy`]);
});

test('headers of the service that an application sets are not sent', async () => {
  await transport('OPENAI')('https://api.openai.com/v1/chat/completions', {
    headers: { 'x-svc-key': 'evil', 'x-svc-agent-id': 'a', 'x-kept': 'yes' },
  });
  assert.equal(last().headers['x-kept'], 'yes');
  assert.equal((await callApi(running.api, '/v1/proxy', {})).status, 401);
});

test('a 401 of the service renews the token once, and a 401 of the provider is handed on', async () => {
  const asked: (string | undefined)[] = [];
  const sent: (string | null)[] = [];
  const answering = (stamp: boolean) =>
    wrapFetch({
      base_url,
      credential: {
        token: async (refused) => {
          asked.push(refused);
          return { text: refused === undefined ? 'old' : 'new' };
        },
      },
      fetch: async (_, init) => {
        const authorization = new Headers(init?.headers).get('authorization');
        sent.push(authorization);
        const isOld = authorization?.endsWith('old');
        return new Response('{}', { status: stamp || isOld ? 401 : 200, headers: stamp ? { 'x-svc-upstream-status': '401' } : {} });
      },
    });
  assert.equal((await answering(false)('https://api.openai.com/v1/models')).status, 200);
  assert.deepEqual([asked, sent.length], [[undefined, 'old'], 2]);
  asked.length = sent.length = 0;
  assert.equal((await answering(true)('https://api.openai.com/v1/models')).status, 401);
  assert.deepEqual([asked, sent.length], [[undefined], 1]);
});

test('a POST is sent again when no connection was made, and never when it may have arrived', async () => {
  let calls = 0;
  const failing = (code: string) =>
    wrapFetch({
      base_url,
      credential: key,
      fetch: async () => {
        calls++;
        if (calls === 1) throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
        return new Response('{}');
      },
    });
  const post = { method: 'POST', body: '{}' };
  assert.equal((await failing('ECONNREFUSED')('https://api.openai.com/v1/x', post)).status, 200);
  assert.equal(calls, 2);
  calls = 0;
  await assert.rejects(failing('ECONNRESET')('https://api.openai.com/v1/x', post), ConnectionError);
  assert.equal(calls, 1);
});
