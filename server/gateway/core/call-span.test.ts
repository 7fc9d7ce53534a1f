import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type SpanFacts, setSpanSink } from '#server/platform/telemetry/spans.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase();
const gateway = await startGateway();
const spans: SpanFacts[] = [];
after(() => setSpanSink(null));

test('a call tells one span: names and numbers, the path without its query, and no header or body', async () => {
  setSpanSink((facts) => spans.push(facts));
  const w = await workspace();
  const upstream = await startUpstream();
  await makeRoute(w, 'traced', upstream.url);
  const { text: key } = await w.key();
  await served(gateway, w);
  const answer = await ask(gateway.port, w.tenant.slug, '/traced/orders/7?customer=eve', {
    method: 'POST',
    key,
    headers: { 'x-custom': 'of-a-header', 'content-type': 'application/json' },
    body: '{"pin":"of-a-body"}',
  });
  assert.equal(answer.status, 200);
  assert.equal(spans.length, 1);
  const [span] = spans as [SpanFacts];
  const requestId = answer.headers['x-svc-request-id'] ?? '';
  assert.deepEqual(span.attributes, {
    'http.request.method': 'POST',
    'url.path': '/orders/7',
    'http.response.status_code': 200,
    'sallyport.route': 'traced',
    'sallyport.plane': 'route',
    'sallyport.request_id': requestId,
    'sallyport.tenant_id': w.tenant.id,
    'sallyport.attempts': 1,
  });
  assert.equal(span.trusted, true);
  assert.deepEqual(span.inner?.attributes, { 'server.address': '127.0.0.1', 'http.response.status_code': 200 });
  const text = JSON.stringify(spans);
  for (const secret of [key, 'eve', 'of-a-header', 'of-a-body']) assert.ok(!text.includes(secret), secret);
  // The upstream was told the IDs of this span, so its own become its children.
  const [, trace, id] = String(upstream.seen[0]?.headers.traceparent).split('-');
  assert.deepEqual(span.ids, { trace, span: id });
});

test('the trace of a caller is passed on as it came, and continued', async () => {
  spans.length = 0;
  const w = await workspace();
  const upstream = await startUpstream();
  await makeRoute(w, 'traced', upstream.url);
  const { text: key } = await w.key();
  await served(gateway, w);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await ask(gateway.port, w.tenant.slug, '/traced', { key, headers: { traceparent } });
  assert.equal(upstream.seen[0]?.headers.traceparent, traceparent);
  assert.deepEqual([spans[0]?.parent, spans[0]?.ids, spans[0]?.trusted], [traceparent, undefined, true]);
});

test('a stranger decides nothing, and learns nothing of routes', async () => {
  spans.length = 0;
  const w = await workspace();
  const { text: key } = await w.key();
  await makeRoute(w, 'traced', 'http://127.0.0.1:9');
  await served(gateway, w);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  assert.equal(
    (await ask(gateway.port, w.tenant.slug, '/traced/x', { key: `${key.slice(0, -4)}AAAA`, headers: { traceparent } })).status,
    401,
  );
  assert.deepEqual([spans[0]?.trusted, spans[0]?.attributes['sallyport.route']], [false, undefined]);
  assert.ok(!JSON.stringify(spans).includes(key.slice(-12, -4)));
});

test('a path that is a credential is not told', async () => {
  spans.length = 0;
  const w = await workspace();
  await served(gateway, w);
  const token = 'bG9uZy1saXZlZC1jYXB0dXJlLXRva2Vu';
  await ask(gateway.port, w.tenant.slug, `/_capture/${token}?q=${token}`, { method: 'POST', body: 'x' });
  assert.equal(spans[0]?.attributes['url.path'], '/_capture');
  assert.ok(!JSON.stringify(spans).includes(token));
});
