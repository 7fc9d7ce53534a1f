import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import test, { after } from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../gateway.fixture.ts';

// The whole gateway, spoken to in HTTP/2 as a trusted proxy does.

await testDatabase({ TRUSTED_PROXIES: '127.0.0.1' });
const running = await startGateway();
const { port } = running;
const upstream = await startUpstream();
const w = await workspace();
const { text: key } = await w.key();
await makeSecret(w, 'TOKEN', { production: 'the-token-of-the-upstream' });
await makeRoute(w, 'orders', upstream.url, { inject_headers_json: { Authorization: 'Bearer {{secret:TOKEN}}' } });
await served(running, w);

const session = connect(`http://127.0.0.1:${port}`);
after(() => session.destroy());

type Answer = { status: number; headers: Record<string, string>; body: string };
function call(path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
  const authority = `${w.tenant.slug}.localhost:${port}`;
  const method = body === undefined ? 'GET' : 'POST';
  const stream = session.request({ ':method': method, ':path': path, ':authority': authority, 'x-svc-key': key, ...headers });
  stream.end(body);
  return new Promise((resolve, reject) => {
    let got: Record<string, string> = {};
    let text = '';
    stream.on('response', (head) => {
      got = head as never;
    });
    stream.on('data', (chunk) => {
      text += chunk;
    });
    stream.on('error', reject);
    stream.on('end', () => resolve({ status: Number(got[':status']), headers: got, body: text }));
  });
}

test('a call by HTTP/2 goes upstream with its secret, and its answer has the whole block', async () => {
  const answer = await call('/orders/v1/x?y=1', { cookie: 'a=1', 'x-forwarded-for': '203.0.113.7' }, '{"a":1}');
  assert.equal(answer.status, 200);
  assert.equal(answer.body, '{"ok":true}');
  const seen = upstream.seen.at(-1);
  assert.equal(seen?.url, '/v1/x?y=1');
  assert.equal(seen?.body, '{"a":1}');
  assert.equal(seen?.headers.authorization, 'Bearer the-token-of-the-upstream');
  assert.equal(seen?.headers['x-svc-key'], undefined);
  const plain = await ask(port, w.tenant.slug, '/orders/v1/x', { key });
  const names = (headers: Record<string, string>) =>
    Object.keys(headers)
      .filter((name) => name.startsWith('x-'))
      .sort();
  assert.deepEqual(names(answer.headers), names(plain.headers));
  await running.flush();
  const row = await db().request_logs.findFirstOrThrow({ where: { request_id: answer.headers['x-svc-request-id'] ?? '' } });
  assert.equal(row.src_ip, '203.0.113.7');
});

test('a refusal by HTTP/2 is that of HTTP/1.1', async () => {
  const answer = await call('/orders/v1/x', { 'x-svc-key': 'tk_live_wrong' });
  assert.equal(answer.status, 401);
  assert.equal(answer.headers['x-svc-error'], 'invalid_api_key');
  assert.equal(JSON.parse(answer.body).error.type, 'invalid_api_key');
  assert.equal((await call('/nothing')).status, 404);
  assert.equal((await call('/healthz')).status, 200);
});

test('fifty calls at once share the connection, and each has its own answer', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => call(`/orders/${i}`, {}, `{"n":${i}}`)));
  assert.equal(new Set(answers.map(({ headers }) => headers['x-svc-request-id'])).size, 50);
  assert.ok(answers.every(({ status }) => status === 200));
});
