import assert from 'node:assert/strict';
import test from 'node:test';
import { withFullLine } from '#server/custody/ai/detectors/full-line.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startGateway } from '../gateway.fixture.ts';
import { makeMcp, makeTool, type Rpc, textOf } from './mcp.fixture.ts';
import { start } from './upstreams.fixture.ts';

// What an MCP server of somebody else may send: more is refused with words, and nothing of it holds the gateway.

await testDatabase();
const running = await startGateway();

type Asked = { id: unknown; method: string } | null;
type List = Buffer | ((page: number) => Buffer);
let listed: List = Buffer.from('[]');
let result: Buffer = Buffer.from('{}');
let before: Buffer = Buffer.alloc(0);
const upstream = await start((_, res, body: Asked) => {
  const answer = (value: Buffer, streams = false) => {
    const [head, tail] = [Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(body?.id)},"result":`), Buffer.from('}')];
    res.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' });
    res.end(
      streams ? Buffer.concat([before, Buffer.from('data: '), head, value, tail, Buffer.from('\n\n')]) : Buffer.concat([head, value, tail]),
    );
  };
  if (body?.method === 'server/discover') answer(Buffer.from('{"supportedVersions":["2026-07-28"]}'));
  else if (body?.method === 'tools/list') {
    const { cursor = 0 } = ((body as { params?: object }).params ?? {}) as { cursor?: number };
    answer(typeof listed === 'function' ? listed(Number(cursor)) : Buffer.concat([Buffer.from('{"tools":'), listed, Buffer.from('}')]));
  } else answer(result, before.length > 0);
});

const tool = (name: string, more: object = {}) => ({ name, description: 'd', inputSchema: { type: 'object' }, ...more });
const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const names = ({ rpc }: Rpc) => ((rpc.result?.tools ?? []) as unknown as { name: string }[]).map(({ name }) => name);
const range = <T>(n: number, one: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => one(i));

async function server() {
  const w = await workspace();
  const { client } = await makeMcp(running, w, upstream.url, { allowed_tools: ['t0', 't1'], pii_inspection: false });
  return client;
}

const EXACT = `[${'1.10,'.repeat(99_000)}1.10]`;

const LISTS: Record<string, { list: List; says: RegExp }> = {
  'more tools than a server may have': {
    list: json(range(20_000, (i) => tool(`t${i}`))),
    says: /more than 100,000 members|more than 2,000 tools/,
  },
  'pages without an end': {
    list: (page) => Buffer.concat([Buffer.from('{"tools":'), json([tool(`t${page}`)]), Buffer.from(`,"nextCursor":"${page + 1}"}`)]),
    says: /more than 20 pages/,
  },
  'a cursor of a megabyte': {
    list: () => Buffer.concat([Buffer.from('{"tools":'), json([tool('t0')]), Buffer.from(`,"nextCursor":"${'c'.repeat(1 << 20)}"}`)]),
    says: /cursor .* exceeds 4,096 characters/,
  },
  'a schema that is nested too deeply': {
    list: Buffer.from(JSON.stringify([tool('t0')]).replace('"type":"object"', `"type":"object","x":${nested(100_000)}`)),
    says: /nested deeper than 100 levels/,
  },
  'millions of empty entries': { list: Buffer.from(`[${'1,'.repeat(4_000_000)}1]`), says: /more than 100,000 members/ },
};

for (const [what, { list, says }] of Object.entries(LISTS))
  test(`a list of tools is refused with words: ${what}`, async () => {
    const c = await server();
    listed = list;
    const answer = await neverBlocks(() => c.modern('tools/list'));
    assert.deepEqual([answer.status, answer.rpc.error?.data.code], [502, 'result_too_large'], answer.body.slice(0, 300));
    assert.match(answer.rpc.error?.message ?? '', says);
  });

test('a cursor that is no text is an invalid answer, and not the end of the list', async () => {
  const c = await server();
  listed = () => Buffer.concat([Buffer.from('{"tools":'), json([tool('t0')]), Buffer.from(',"nextCursor":9007199254740993}')]);
  const answer = await c.modern('tools/list');
  assert.deepEqual([answer.status, answer.rpc.error?.data.code], [502, 'upstream_invalid_response'], answer.body);
});

test('a list as large as one may be is looked through without holding the gateway', async () => {
  const c = await server();
  const large = { type: 'object', properties: { a: { description: 'x'.repeat(3_000) } } };
  listed = json([...range(2_000, (i) => tool(`t${i}`, { inputSchema: large }))]);
  const answer = await neverBlocks(() => c.modern('tools/list'));
  assert.deepEqual(names(answer), ['t0', 't1']);
});

test('while the firewall can read no texts a list is refused, and no tool is taken for poisoned', async () => {
  const w = await workspace();
  const made = await makeMcp(running, w, upstream.url, { allowed_tools: ['t0', 't1'], pii_inspection: false });
  const row = await makeTool(made.server, 't0');
  listed = json(range(2, (i) => tool(`t${i}`, { description: 'plain words '.repeat(1_000) })));
  const refused = await withFullLine(w.tenant.id, () => made.client.modern('tools/list'));
  assert.deepEqual([refused.status, refused.rpc.error?.data.code], [503, 'firewall_unavailable'], refused.body.slice(0, 300));
  assert.deepEqual(names(await made.client.modern('tools/list')), ['t0', 't1'], 'nothing of it was kept');
  await until(async () => (await db().mcp_tools.findUniqueOrThrow({ where: { id: row.id } })).upstream_hash !== null, 'the tool is noted');
  assert.equal((await db().mcp_tools.findUniqueOrThrow({ where: { id: row.id } })).poisoning, null);
});

test('a tool whose definition no canonical text holds is left out, and the others stay', async () => {
  const c = await server();
  listed = Buffer.from(JSON.stringify([tool('t0', { description: 'half' }), tool('t1')]).replace('half', '\\ud800'));
  const answer = await c.modern('tools/list');
  assert.deepEqual(names(answer), ['t1']);
});

const RESULTS: Record<string, { body: Buffer; says: RegExp }> = {
  'deep brackets': {
    body: Buffer.from(`{"content":[],"structuredContent":{"a":${nested(500_000)}}}`),
    says: /nested deeper than 100 levels/,
  },
  'two thousand levels': {
    body: Buffer.from(`{"content":[],"structuredContent":{"a":${nested(2_000)}}}`),
    says: /nested deeper than 100 levels/,
  },
  'a million items': {
    body: Buffer.from(`{"content":[],"structuredContent":{"a":[${'{},'.repeat(1_000_000)}1]}}`),
    says: /more than 100,000 members/,
  },
};

for (const [what, { body, says }] of Object.entries(RESULTS))
  for (const events of [false, true])
    test(`a result is refused with words: ${what}${events ? ', as an event' : ''}`, async () => {
      const c = await server();
      listed = json([tool('t0')]);
      [result, before] = [body, events ? Buffer.from(': hello\n\n') : Buffer.alloc(0)];
      const answer = await neverBlocks(() => c.modern('tools/call', { name: 't0', arguments: {} }));
      assert.deepEqual([answer.status, answer.rpc.error?.data.code], [502, 'result_too_large'], answer.body.slice(0, 300));
      assert.match(answer.rpc.error?.message ?? '', says);
    });

test('a flood of notifications before the answer ends the call with words', async () => {
  const c = await server();
  listed = json([tool('t0')]);
  [result, before] = [json(text('late')), Buffer.from('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'.repeat(20_000))];
  const answer = await neverBlocks(() => c.modern('tools/call', { name: 't0', arguments: {} }));
  assert.deepEqual([answer.status, answer.rpc.error?.data.code], [502, 'upstream_invalid_response'], answer.body.slice(0, 300));
  assert.match(answer.rpc.error?.message ?? '', /more than 10,000 messages/);
});

test('lines without end that make no event end the call with words', async () => {
  const c = await server();
  listed = json([tool('t0')]);
  for (const line of ['data: \n', 'data: \r', 'event: x\n\n', '\n']) {
    [result, before] = [json(text('late')), Buffer.from(line.repeat(4_000_000))];
    const answer = await neverBlocks(() => c.modern('tools/call', { name: 't0', arguments: {} }));
    assert.deepEqual([answer.status, answer.rpc.error?.data.code], [502, 'upstream_invalid_response'], answer.body.slice(0, 300));
  }
});

test('a result as large as one may be passes, after notifications and in the order of its stream', async () => {
  const c = await server();
  listed = json([tool('t0')]);
  const words = 'word '.repeat(200_000);
  for (const first of ['', 'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'.repeat(100)]) {
    [result, before] = [json(text(words)), Buffer.from(first)];
    const answer = await c.modern('tools/call', { name: 't0', arguments: {} });
    assert.equal(answer.status, 200, answer.body.slice(0, 300));
    assert.equal(textOf(answer), words);
  }
});

test('a result of as many numbers with digits of their own as may be is passed on beside a loop that goes on', async () => {
  const c = await server();
  listed = json([tool('t0')]);
  result = Buffer.from(`{"content":[],"structuredContent":{"rows":${EXACT}}}`);
  const answer = await neverBlocks(() => c.modern('tools/call', { name: 't0', arguments: {} }));
  assert.equal(answer.status, 200, answer.body.slice(0, 500));
  assert.ok(answer.body.includes(EXACT));
});
