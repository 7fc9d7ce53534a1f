import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { askAgent, completion, makeAgent, makeToken, PROMPT, sse } from './ai/ai.fixture.ts';
import { callApi, startApi, startTlsUpstream } from './ephemeral/ephemeral.fixture.ts';
import { served, startUpstream } from './gateway.fixture.ts';
import { makeMcp } from './mcp/mcp.fixture.ts';
import { shareSecret } from './shared-secrets.fixture.ts';

// What the route plane does with answers to calls that carry a secret shared for use only, the other planes do as well, or don't send it.

await testDatabase();
const running = await startApi();
const VALUE = 'sk-use-only-0123456789+/abcdef';
const MARK = '[redacted:secret:ALIAS]';
const encoded = (text: string) => Buffer.from(`key:${text}`).toString('base64');

test('an AI provider that shows the key, as it is or encoded, whole or streamed, in a refusal or in a head, shows a mark', async () => {
  const { recipient } = await shareSecret({ production: VALUE });
  let status = 200;
  const provider = await startUpstream((req, res, body) => {
    const key = String(req.headers.authorization).slice('Bearer '.length);
    const text = `${key} ${encoded(key)}`;
    const head = { 'x-seen': encoded(key), 'content-type': 'application/json' };
    if (status !== 200) return void res.writeHead(status, head).end(JSON.stringify({ error: { message: text } }));
    if (!body.includes('"stream":true')) return void res.writeHead(200, head).end(JSON.stringify(completion(text)));
    res.writeHead(200, { ...head, 'content-type': 'text/event-stream' });
    const delta = sse({
      ...completion(),
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: text }, finish_reason: null }],
    });
    res.write(delta.slice(0, 150));
    setImmediate(() => res.end(delta.slice(150) + sse('[DONE]')));
  });
  const agent = await makeAgent(recipient, provider, {}, {}, { Authorization: 'Bearer {{secret:ALIAS}}' });
  const { text: token } = await makeToken(recipient, agent);
  await served(running, recipient);
  const shows = async (body: object) => {
    const got = await askAgent(running, recipient, agent.agent, token, { ...PROMPT, ...body }, { headers: { 'accept-encoding': 'gzip' } });
    const all = JSON.stringify([got.raw, got.body]);
    assert.equal(provider.seen.at(-1)?.headers.authorization, `Bearer ${VALUE}`);
    assert.equal(provider.seen.at(-1)?.headers['accept-encoding'], 'identity');
    for (const form of [VALUE, encoded(VALUE), Buffer.from(VALUE).toString('base64').slice(4, -4)]) assert.ok(!all.includes(form), all);
    return got;
  };
  assert.ok((await shows({})).body.includes(MARK));
  const streamed = await shows({ stream: true });
  assert.ok(streamed.body.includes(MARK) && streamed.body.includes('[DONE]'), streamed.body);
  status = 400;
  assert.equal((await shows({})).status, 400);
});

test('a call of /v1/proxy with such a secret has its answer scrubbed', async () => {
  const HOST = 'use-only.upstream.example';
  const upstream = await startTlsUpstream([HOST], (req, res) => {
    const key = String(req.headers['x-key']);
    res.writeHead(200, { 'x-seen': encodeURIComponent(key), 'content-type': 'application/json' });
    res.end(JSON.stringify({ key, encoded: encoded(key) }));
  });
  const { recipient } = await shareSecret({ production: VALUE }, { unrestricted: false, allowed_hosts: [HOST] });
  const { text: key } = await recipient.key();
  await served(running, recipient);
  const got = await callApi(running.api, '/v1/proxy', {
    key,
    headers: { 'x-svc-proxy-url': `https://${HOST}/`, 'x-key': '{{secret:ALIAS}}', 'accept-encoding': 'gzip', range: 'bytes=0-3' },
  });
  assert.equal(got.status, 200, got.body);
  const sent = upstream.seen.at(-1)?.headers;
  assert.deepEqual([sent?.['x-key'], sent?.['accept-encoding'], sent?.range], [VALUE, 'identity', undefined]);
  assert.equal(got.headers['x-seen'], MARK);
  assert.ok(got.body.includes(`"key":"${MARK}"`) && !got.body.includes(encoded(VALUE).slice(6)), got.body);
});

test('an MCP server isn’t sent a secret that is shared for use only: an agent would read whatever it says', async () => {
  const upstream = await startUpstream();
  const { recipient, linked } = await shareSecret({ production: VALUE });
  const auth = { headers: { Authorization: `Bearer {{secret_id:${linked.id}}}` } };
  const { client } = await makeMcp(running, recipient, upstream.url, { auth });
  const { rpc } = await client.modern('tools/call', { name: 'echo', arguments: {} });
  assert.equal(rpc.error?.data.code, 'credential_unavailable', JSON.stringify(rpc));
  assert.equal(upstream.seen.length, 0);
});
