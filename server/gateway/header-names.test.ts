import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { askAgent, completion, makeAgent, makeToken, PROMPT } from './ai/ai.fixture.ts';
import { callApi, startApi, startTlsUpstream } from './ephemeral/ephemeral.fixture.ts';
import { ask, makeRoute, served, startUpstream } from './gateway.fixture.ts';

// Names of an upstream's headers reach the caller as they were written: some clients compare them letter by letter, although they must not (RFC 9110 §5.1).

await testDatabase({ TRUSTED_PROXIES: '127.0.0.1/32' });
const running = await startApi();
const w = await workspace();
const { text: key } = await w.key();
const HOST = 'api.spelled.example';
const WRITTEN = ['X-Custom-HEADER', 'etag', 'SOAPAction', 'WWW-Authenticate', 'x-lower', 'X_Under', 'Retry-after', 'X-Custom-header'];
const fields = WRITTEN.flatMap((name, i) => [name, `v${i}`]);
const text = JSON.stringify(completion());
const lines = [...fields, 'content-TYPE', 'application/json', 'Content-length', String(text.length)];
const upstream = await startUpstream((_, res) => void res.writeHead(200, lines).end(text));
await startTlsUpstream([HOST], (_, res) => void res.writeHead(200, lines).end(text));
await makeRoute(w, 'plain', upstream.url);
const agent = await makeAgent(w, upstream);
const { text: token } = await makeToken(w, agent);
await served(running, w);

const names = (raw: readonly string[]) => raw.filter((_, i) => i % 2 === 0);
const written = (raw: readonly string[]) => names(raw).filter((name) => WRITTEN.includes(name));

test('a route and the ephemeral proxy repeat every name as it was written, in its order, and end with ours', async () => {
  const route = await ask(running.port, w.tenant.slug, '/plain', { key });
  const proxied = await callApi(running.api, '/v1/proxy', { key, headers: { 'x-svc-proxy-url': `https://${HOST}/x` } });
  for (const { raw, status } of [route, proxied]) {
    assert.equal(status, 200);
    assert.deepEqual(written(raw), WRITTEN);
    assert.ok(names(raw).includes('content-TYPE') && names(raw).includes('Content-length'), String(names(raw)));
    assert.ok(names(raw).includes('X-Svc-Request-Id') && names(raw).includes('X-RateLimit-Tenant-Limit'));
  }
});

test('an agent’s answer repeats the names of those that pass', async () => {
  const answer = await askAgent(running, w, agent.agent, token, PROMPT);
  assert.equal(answer.status, 200, answer.body);
  assert.deepEqual(
    written(answer.raw),
    WRITTEN.filter((name) => name !== 'WWW-Authenticate'),
  );
});

test('a caller of HTTP/2 gets them in lower case, as HTTP/2 demands', async () => {
  const session = connect(`http://127.0.0.1:${running.port}`);
  const stream = session.request({ ':path': '/plain', ':authority': `${w.tenant.slug}.localhost:${running.port}`, 'x-svc-key': key });
  const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once('response', (head) => resolve(head)));
  stream.resume();
  session.close();
  assert.deepEqual([headers[':status'], headers['x-custom-header'], headers.soapaction], [200, 'v0, v7', 'v2']);
});
