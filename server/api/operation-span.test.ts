import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type SpanFacts, setSpanSink } from '#server/platform/telemetry/spans.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handle } from './handle.ts';

await testDatabase();
after(() => setSpanSink(null));

const REQUEST_ID = '0199f0a0-1111-7222-8333-944444444444';
const edge = {
  space: 'live',
  request_id: REQUEST_ID,
  ip: '127.0.0.1',
  proto: 'http',
  host: 'localhost',
  user_agent: 'test',
  fault: null,
} as never;

test('an operation tells one span with its name and path template, and nothing of what it was asked with', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const spans: SpanFacts[] = [];
    setSpanSink((facts) => spans.push(facts));
    const response = await handle(new Request(`http://localhost/v1${path}`, { headers: { 'x-api-key': key, ...headers } }), edge);
    setSpanSink(null);
    assert.equal(spans.length, 1);
    return { status: response.status, span: spans[0] as SpanFacts };
  };

  const listed = await ask('/environments?search=of-the-caller');
  assert.equal(listed.status, 200);
  assert.equal(listed.span.name, 'environments.list');
  assert.deepEqual(listed.span.attributes, {
    'http.response.status_code': 200,
    'sallyport.plane': 'v1',
    'sallyport.request_id': REQUEST_ID,
    'sallyport.operation': 'environments.list',
    'http.request.method': 'GET',
    'http.route': '/v1/environments',
    'sallyport.tenant_id': w.tenant.id,
  });
  assert.deepEqual(listed.span.ids, { trace: REQUEST_ID.replaceAll('-', ''), span: '8333944444444444' });

  const one = await ask(`/environments/${REQUEST_ID}`, { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' });
  assert.equal(one.status, 404);
  assert.equal(one.span.attributes['http.route'], '/v1/environments/{id}');
  assert.deepEqual([one.span.ids, one.span.trusted, one.span.error], [undefined, true, undefined]);

  const stranger = await ask('/environments', { 'x-api-key': 'sk_live_wrong' });
  assert.equal(stranger.status, 401);
  assert.deepEqual([stranger.span.trusted, stranger.span.attributes['sallyport.tenant_id']], [false, undefined]);
  for (const text of [key, 'of-the-caller', 'sk_live_wrong']) assert.ok(!JSON.stringify([listed, one, stranger]).includes(text));
});
