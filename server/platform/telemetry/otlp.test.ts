import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import type { Otlp } from '../env.ts';
import { counter } from './meters.ts';
import { startOtlp } from './otlp.ts';
import { idsOf, type SpanFacts, spanSink } from './spans.ts';

// A collector on loopback: what arrives there is what would leave a deployment.

type Sent = { path: string; body: string };
async function collector(answer: (req: IncomingMessage, res: ServerResponse) => void = (_, res) => res.writeHead(200).end('{}')) {
  const sent: Sent[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (bytes) => {
      body += bytes;
    });
    req.on('end', () => {
      sent.push({ path: req.url ?? '', body });
      answer(req, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, sent, spans: () => sent.filter(({ path }) => path === '/v1/traces').flatMap(({ body }) => spansOf(body)) };
}

type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: object }[];
};
const spansOf = (body: string): Span[] =>
  (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  );

const settings = (base: string, more: Partial<Otlp> = {}): Otlp => ({
  ...{ traces: `${base}/v1/traces`, metrics: undefined, sampler: 'parentbased_traceidratio', share: 1, every_ms: 60_000 },
  ...more,
});
const tell = (facts: Partial<SpanFacts>) =>
  spanSink()?.({ name: 'test', kind: 'server', began: performance.now() - 5, ended: performance.now(), attributes: {}, ...facts });

const CALLERS = '0af7651916cd43dd8448eb211c80319c';
const SAMPLED = `00-${CALLERS}-b7ad6b7169203331-01`;
const UNSAMPLED = `00-${CALLERS}-b7ad6b7169203331-00`;

test('a span continues the trace of its caller, or begins one with the IDs that others were told', async () => {
  const { url, spans } = await collector();
  const telemetry = await startOtlp('gateway', settings(url));
  const requestId = '0199f0a0-1111-7222-8333-944444444444';
  tell({ name: 'theirs', parent: SAMPLED, trusted: true });
  tell({
    name: 'ours',
    ids: idsOf(requestId),
    inner: { name: 'upstream', kind: 'client', began: 0, ended: 1, attributes: { 'server.address': 'a.example' } },
  });
  tell({ name: 'odd', parent: '00-zz-01' });
  await telemetry.close();
  const [theirs, upstream, ours, odd] = spans();
  assert.deepEqual([theirs?.name, theirs?.traceId, theirs?.parentSpanId], ['theirs', CALLERS, 'b7ad6b7169203331']);
  assert.deepEqual([ours?.traceId, ours?.spanId, ours?.parentSpanId], ['0199f0a0111172228333944444444444', '8333944444444444', undefined]);
  assert.deepEqual([upstream?.name, upstream?.traceId, upstream?.parentSpanId], ['upstream', ours?.traceId, ours?.spanId]);
  assert.equal(odd?.parentSpanId, undefined);
  assert.equal(spanSink(), null, 'nobody wants spans after the end');
});

test('the flag of a trace counts for callers who were let in, and the share for all others', async () => {
  const { url, spans } = await collector();
  const telemetry = await startOtlp('gateway', settings(url, { share: 0 }));
  tell({ name: 'trusted', parent: SAMPLED, trusted: true });
  tell({ name: 'stranger', parent: SAMPLED });
  tell({ name: 'unsampled', parent: UNSAMPLED, trusted: true });
  tell({ name: 'own' });
  await telemetry.close();
  assert.deepEqual(
    spans().map(({ name }) => name),
    ['trusted'],
  );
});

test('what is shaped like a credential does not leave', async () => {
  const { url, sent } = await collector();
  const telemetry = await startOtlp('gateway', settings(url));
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
  tell({ attributes: { 'url.path': `/x/${jwt}` }, error: `Bearer ${jwt}` });
  await telemetry.close();
  assert.equal(sent.length, 1);
  assert.ok(!sent[0]?.body.includes('dozjgNryP4J3jVmNHl0w5N'), sent[0]?.body);
});

test('metrics are exported with the meters that Prometheus reads', async () => {
  const { url, sent } = await collector();
  const doors = counter({ name: 'test_exported', help: 'Exported' });
  doors.cells[0] = 7;
  const telemetry = await startOtlp('worker', settings(url, { traces: undefined, metrics: `${url}/v1/metrics` }));
  await telemetry.close(); // writes once more
  const body = sent.find(({ path }) => path === '/v1/metrics')?.body ?? '';
  assert.match(body, /"name":"test_exported"/);
  assert.match(body, /"stringValue":"sallyport-worker"/);
});

test('a redirect is not followed', async () => {
  const elsewhere = await collector();
  const { url, sent } = await collector((_, res) => res.writeHead(307, { location: `${elsewhere.url}/v1/traces` }).end());
  const telemetry = await startOtlp('gateway', settings(url));
  tell({});
  await telemetry.close();
  assert.equal(sent.length, 1);
  assert.equal(elsewhere.sent.length, 0);
});

test('a collector that hangs costs spans and nothing else: what waits is bounded, and the end does not wait for it', async () => {
  const { url } = await collector(() => {});
  const telemetry = await startOtlp('gateway', settings(url));
  await assertGrowsLinearly(
    'spans',
    5_000,
    (count) => count,
    (count) => {
      for (let i = 0; i < count; i++) tell({});
    },
  );
  await telemetry.close();
});
