import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { UpstreamClient } from '#server/mcp/upstream/client.ts';
import type { Upstream, Wire } from '#server/mcp/upstream/wire.ts';
import { createExchangeEvents } from '#server/platform/http-out/event-exchange.ts';
import { createResolver } from '#server/platform/http-out/resolver.ts';
import { egressSettings } from '#server/platform/http-out/settings.ts';
import { createUpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import { until, untilSteady } from '#server/testing/until.ts';
import { startEverything } from '../everything.fixture.ts';
import { start, startLegacyUpstream, startModernUpstream } from '../upstreams.fixture.ts';

const settings = egressSettings({ privateAllowlist: [{ cidr: '127.0.0.0/8' }] });
const pools = createUpstreamPools({ resolver: createResolver({ settings }) });
after(() => pools.close());
const exchangeEvents = createExchangeEvents(pools, settings);
const wire: Wire = (request, handler) => exchangeEvents({ ...request, tenant: 't', space: 'live' }, handler);
const me = { name: 'tester', version: '1' };
const at = (url: string, transport: Upstream['transport'] = 'streamable_http'): Upstream => ({
  url,
  transport,
  headers: ['Authorization', 'Bearer upstream-secret'],
});

let ids = 0;
const id = () => `req-${++ids}`;

async function use(client: UpstreamClient, upstream: Upstream) {
  const link = await client.open(wire, upstream, upstream.url, me, id());
  assert.ok(!('code' in link) && 'kind' in link, JSON.stringify(link));
  const known = link as Exclude<typeof link, { kind: 'fault' | 'error' | 'session_lost' | 'canceled' }>;
  return {
    link: known,
    list: () => client.listTools(wire, upstream, upstream.url, known, { id: id(), client: me }),
    call: (
      name: string,
      args: Record<string, unknown>,
      more: { signal?: AbortSignal; progressToken?: string; onNotification?: (m: string, p: object) => void } = {},
    ) =>
      client.request(wire, upstream, upstream.url, known, {
        id: id(),
        method: 'tools/call',
        params: { name, arguments: args, ...(more.progressToken && { _meta: { progressToken: more.progressToken } }) },
        client: me,
        ...more,
      }),
  };
}

const names = (tools: unknown) => (tools as { name: string }[]).map(({ name }) => name).sort();

test('a legacy upstream is found out by its answer to a modern probe, and keeps its session', async () => {
  const upstream = await startLegacyUpstream();
  const { link, list, call } = await use(new UpstreamClient(), at(upstream.url));
  assert.equal(link.kind, 'legacy');
  assert.ok(link.kind === 'legacy' && link.session.id);
  assert.deepEqual(names(await list()), ['echo', 'fail', 'sum']);
  const reply = await call('echo', { text: 'hi' });
  assert.deepEqual(reply.kind === 'result' && reply.result.content, [{ type: 'text', text: 'You said: hi' }]);
  assert.equal(upstream.calls('tools/call')[0]?.headers['mcp-session-id'], link.kind === 'legacy' && link.session.id);
  assert.equal(upstream.calls('tools/call')[0]?.headers.authorization, 'Bearer upstream-secret');
  assert.deepEqual(upstream.calls('initialize')[0]?.body?.params?.capabilities, {}, 'the upstream is offered nothing of the caller');
  upstream.forgetSessions();
  assert.deepEqual(await call('echo', { text: 'hi' }), { kind: 'session_lost' });
});

test('a modern upstream gets the headers that mirror its body, and is asked for its era once a day', async () => {
  const upstream = await startModernUpstream();
  const client = new UpstreamClient();
  const { link, list, call } = await use(client, at(upstream.url));
  assert.equal(link.kind, 'modern');
  assert.deepEqual(names(await list()), ['echo', 'fail', 'sum']);
  const reply = await call('sum', { a: 2, b: 3 });
  assert.deepEqual(reply.kind === 'result' && reply.result.structuredContent, { sum: 5 });
  await use(client, at(upstream.url));
  assert.equal(upstream.calls('server/discover').length, 1);
  assert.equal(client.eraOf(upstream.url, Date.now() + 25 * 3_600_000), undefined);
  assert.equal(upstream.calls('initialize').length, 0);
});

test('an upstream of 2024-11-05 is spoken to over its event stream', async () => {
  const { link, list, call } = await use(new UpstreamClient(), at(await startEverything('sse'), 'sse'));
  assert.equal(link.kind, 'events');
  assert.ok(names(await list()).includes('echo'));
  const reply = await call('echo', { message: 'over events' });
  assert.match(JSON.stringify(reply), /Echo: over events/);
});

test('progress comes while a call runs; an abort is told to the upstream', async () => {
  const upstream = await startLegacyUpstream({
    more: (server) => {
      server.registerTool('slow', { description: 'Takes its time', inputSchema: {} }, async (_, extra) => {
        const { sendNotification, _meta, signal } = extra;
        const progressToken = _meta?.progressToken ?? '';
        await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { content: [] };
      });
    },
  });
  const { call } = await use(new UpstreamClient(), at(upstream.url));
  const abort = new AbortController();
  const heard: string[] = [];
  const reply = await call(
    'slow',
    {},
    {
      signal: abort.signal,
      progressToken: 'p1',
      onNotification: (method) => {
        heard.push(method);
        abort.abort();
      },
    },
  );
  assert.deepEqual([heard, reply.kind], [['notifications/progress'], 'canceled']);
  await until(() => upstream.calls('notifications/cancelled').length === 1);
});

test('requests of an upstream are refused and never heard', async () => {
  const refusal = () => upstream.seen.map(({ body }) => body as { id?: unknown; error?: { code: number } }).find((body) => body.error);
  const upstream = await start(async (_, res, body: { id: string; method?: string }) => {
    if (body.method !== 'tools/call') return void res.writeHead(202).end();
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'sampling/createMessage', params: {} })}\n\n`);
    await until(refusal);
    res.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: body.id, result: { content: [] } })}\n\n`);
  });
  const heard: string[] = [];
  const link = { kind: 'legacy', session: { id: null, version: '2025-11-25' } } as const;
  const reply = await new UpstreamClient().request(wire, at(upstream.url), upstream.url, link, {
    id: 'x',
    method: 'tools/call',
    params: { name: 'a' },
    client: me,
    onNotification: (method) => heard.push(method),
  });
  assert.deepEqual([reply.kind, heard], ['result', []]);
  assert.deepEqual([refusal()?.id, refusal()?.error?.code], [7, -32601]);
});

test('an upstream can not have us send it thousands of refusals', async () => {
  const ask = `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'roots/list' })}\n\n`;
  const upstream = await start((req, res, body: { method?: string } | null) => {
    if (req.method === 'POST' && body?.method !== 'tools/call') return void res.writeHead(202).end();
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`event: endpoint\ndata: /mcp\n\n${ask.repeat(5_000)}`);
  });
  const request = { id: 'x', method: 'tools/call', params: { name: 'a' }, client: me };
  for (const link of [{ kind: 'legacy', session: { id: null, version: '2025-11-25' } }, { kind: 'events' }] as const) {
    const reply = await new UpstreamClient().request(wire, at(upstream.url), upstream.url, link, request);
    assert.deepEqual([reply.kind, 'code' in reply && reply.code], ['fault', 'upstream_invalid_response']);
  }
  const requests = await untilSteady(() => upstream.seen.length);
  assert.ok(requests < 60, `${requests} requests`);
});

test('what is no MCP answer is a fault that says so and nothing more', async () => {
  const link = { kind: 'legacy', session: { id: null, version: '2025-11-25' } } as const;
  const faultOf = async (answer: Parameters<typeof start>[0], answerMs = 10_000) => {
    const upstream = await start(answer);
    const reply = await new UpstreamClient().request(wire, at(upstream.url), upstream.url, link, {
      id: 'x',
      method: 'tools/call',
      params: {},
      client: me,
      timing: { answerMs, mostMs: answerMs },
    });
    return reply.kind === 'fault' ? reply.code : reply.kind;
  };
  assert.equal(
    await faultOf((_, res) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end()),
    'upstream_invalid_response',
  );
  assert.equal(await faultOf((_, res) => void res.writeHead(401).end('who are you')), 'upstream_auth_failed');
  assert.equal(await faultOf((_, res) => void res.writeHead(200).end('<html>')), 'upstream_invalid_response');
  assert.equal(await faultOf(() => undefined, 300), 'upstream_timeout');
  assert.equal(await faultOf((_, res) => void res.socket?.destroy()), 'upstream_unreachable');
  const long = JSON.stringify({ jsonrpc: '2.0', id: 'x', result: { content: [{ type: 'text', text: 'x'.repeat(9 * 1024 * 1024) }] } });
  assert.equal(await faultOf((_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(long)), 'result_too_large');
  assert.equal(
    await faultOf((_, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${long}\n\n`)),
    'result_too_large',
  );
  assert.equal(
    await faultOf((_, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {}\n\n')),
    'upstream_invalid_response',
  );
});

test('an address that may not be called is never connected to', async () => {
  for (const url of ['http://169.254.169.254/mcp', 'http://10.0.0.1/mcp', 'ftp://example.com/', 'https://user:pass@example.com/']) {
    const reply = await new UpstreamClient().open(wire, at(url), url, me, id());
    assert.equal('code' in reply && reply.code, 'upstream_blocked', url);
  }
});

test('a list of tools is bounded over all its pages', async () => {
  const long = 'x'.repeat(1024 * 1024);
  let pages = 0;
  const upstream = await start((_, res, body: { id: string; method?: string }) => {
    if (body.method !== 'tools/list') return void res.writeHead(404).end();
    const result = {
      resultType: 'complete',
      tools: [{ name: `t${++pages}`, description: long, inputSchema: { type: 'object' } }],
      nextCursor: String(pages),
    };
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result }));
  });
  const client = new UpstreamClient();
  const listed = await client.listTools(wire, at(upstream.url), upstream.url, { kind: 'modern' }, { id: id(), client: me });
  assert.ok(!Array.isArray(listed) && listed.kind === 'fault' && listed.code === 'result_too_large');
  assert.match(listed.message, /exceeds 8 MiB over all its pages/);
  assert.equal(pages, 8);
});
