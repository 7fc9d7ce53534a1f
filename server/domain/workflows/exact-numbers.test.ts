import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import fc from 'fast-check';
import type { Ctx } from '#server/kernel/context.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ended, runsOf, started, stored, working } from './engine/running.fixture.ts';
import { outputOf } from './hook-calls.ts';
import { testNode } from './node-tests.ts';
import { chain, node } from './samples.fixture.ts';

// Numbers keep their digits on every way through a workflow.

await ownDatabase();
working();

const seen: string[] = [];
/** Answers with what it was sent. */
const port = await listen(
  createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const part of req) chunks.push(part as Buffer);
    const text = Buffer.concat(chunks).toString();
    seen.push(text);
    res.writeHead(200, { 'content-type': 'application/json' }).end(text);
  }),
);
const url = `http://127.0.0.1:${port}/`;

/** JSON in which every number would be another one as a double, and names would stand elsewhere. */
const HOSTILE =
  '{"id":7615917337495251231,"neg":-9007199254740993,"price":1299.10,"huge":1e400,"tiny":1E-400,"zero":-0,"exp":1E2,"deep":[[0.10,{"n":3.141592653589793238}]],"__proto__":{"admin":18446744073709551616},"constructor":1.0,"20":{"longer":1,"b":2,"1":3},"3":2}';

const steps = (body: string) => `{"nodes":[
  {"id":"trigger-node","type":"trigger","data":{"config":{"triggerType":"manual"}}},
  {"id":"a","type":"http_request","data":{"sample":${HOSTILE},"config":{"method":"POST","url":"${url}","timeoutMs":5e3,"body":${body}}}},
  {"id":"each","type":"loop","data":{"config":{"items":"{{a.body.list}}","concurrency":1.0}}},
  {"id":"b","type":"http_request","data":{"config":{"method":"POST","url":"${url}","body":{"item":"{{each.item}}"}}}},
  {"id":"built","type":"transform","data":{"config":{"template":{"lit":7615917337495251231,"txt":"id={{a.body.input.id}} {{a.body.input.price}}","json":"{{a.body.input|json}}"}}}}],
  "edges":[{"source":"trigger-node","target":"a"},{"source":"a","target":"each"},{"source":"each","sourceHandle":"body","target":"b"},{"source":"each","sourceHandle":"done","target":"built"}]}`;
const BODY = `{"input":"{{trigger.data}}","lit":${HOSTILE},"list":[1.10,18446744073709551617]}`;

async function place() {
  const w = await workspace();
  const key = (await w.key('test')).text;
  const send = async (method: string, path: string, raw?: string) => {
    const answer = await call(method, path, { key, ...(raw === undefined ? {} : { raw }) });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer;
  };
  return { ctx: w.test, key, send };
}

/** The value of a member in a JSON text, as its text. */
const within = (text: string, ...path: (string | number)[]): string =>
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  JSON.stringify(path.reduce((value: any, step) => value[step], parseExact(text)));

/** What the API takes of it: it refuses numbers beyond all doubles, and `__proto__`. */
const SENT = HOSTILE.replace('"huge":1e400', '"huge":1e300').replace('__proto__', 'proto');

test('digits survive the definition, the input, requests, answers, loops, texts and the views of a run', async () => {
  const { ctx, key, send } = await place();
  const made = await send('POST', '/workflows', `{"name":"exact","enabled":true,"definition":${steps(BODY).replaceAll(HOSTILE, SENT)}}`);
  const { id, enabled } = made.body.data;
  assert.equal(enabled, true, made.text);
  const literal = (text: string) => within(text, 'data', 'definition', 'nodes', 1, 'data', 'config', 'body', 'lit');
  assert.equal(literal(made.text), SENT);
  assert.equal(literal((await send('GET', `/workflows/${id}`)).text), SENT);
  seen.length = 0;
  const run = (await send('POST', `/workflows/${id}/execute`, `{"input":${SENT}}`)).body.data.id;
  assert.equal((await ended(run)).status, 'completed');
  assert.deepEqual(seen, [
    `{"input":${SENT},"lit":${SENT},"list":[1.10,18446744073709551617]}`,
    '{"item":1.10}',
    '{"item":18446744073709551617}',
  ]);
  const shown = (await send('GET', `/workflows/executions/${run}`)).text;
  const nodes = parseExact(shown) as { data: { node_executions: { node_id: string; input: unknown; output: unknown }[] } };
  const outputOfNode = (name: string) =>
    nodes.data.node_executions.find(({ node_id }) => node_id === name)?.output as Record<string, unknown>;
  assert.equal(JSON.stringify(outputOfNode('trigger-node').data), SENT);
  assert.equal(JSON.stringify((outputOfNode('a').body as { input: unknown }).input), SENT);
  assert.deepEqual(
    JSON.stringify(outputOfNode('built')),
    JSON.stringify({ lit: parseExact('7615917337495251231'), txt: 'id=7615917337495251231 1299.10', json: SENT }),
  );
  for (const raw of ['{"input":1e400}', '{"input":{"__proto__":1}}'])
    assert.equal((await call('POST', `/workflows/${id}/execute`, { key, raw })).status, 400, raw);
  // Again from the start, and as a step of its own with the values of the last run.
  seen.length = 0;
  const tested = await testNode(ctx, { id, node_id: 'a', useLastRun: true }, { credentialed: true });
  assert.equal(JSON.stringify((tested.output as { body: unknown }).body), seen[0]);
  assert.equal(within(seen[0] as string, 'input'), SENT);
  const context = parseExact(`{"trigger":{"data":${SENT}}}`) as Record<string, unknown>;
  await testNode(ctx, { id, node_id: 'a', context }, { credentialed: true });
  assert.equal(within(seen[1] as string, 'input'), SENT);
});

test('digits survive drafts, versions, publishing, copies, exports, changes of the trigger and a retry', async () => {
  const { ctx, send } = await place();
  const definition = parseExact(steps(BODY)) as Record<string, unknown>;
  const literalOf = (of: unknown) =>
    JSON.stringify((of as { nodes: { data: { config: { body: { lit: unknown } } } }[] }).nodes[1]?.data.config.body.lit);
  const { id } = await made(ctx, 'workflows.create', { name: fresh('exact'), definition: { nodes: [], edges: [] } });
  const draft = await made(ctx, 'workflows.save_draft', { id, definition, base_version: 0 });
  assert.equal(literalOf(draft.definition), HOSTILE);
  assert.equal(literalOf((await made(ctx, 'workflows.draft', { id })).definition), HOSTILE);
  const draftRun = await made(ctx, 'workflows.run', { id, input: parseExact(HOSTILE), version: 'draft' });
  assert.equal((await ended(draftRun.id)).status, 'completed');
  assert.equal(literalOf((await made(ctx, 'workflows.inspect_execution', { id: draftRun.id })).definition), HOSTILE);
  const published = await made(ctx, 'workflows.publish', { id });
  assert.deepEqual([literalOf(published.definition), published.version], [HOSTILE, 2]);
  assert.equal((await made(ctx, 'workflows.publish', { id })).version, 2, 'the same digits are no change');
  const config = parseExact('{"triggerType":"manual","note":1e400}') as Record<string, unknown>;
  const changed = await made(ctx, 'workflows.update', { id, trigger_config: config });
  assert.equal(literalOf(changed.definition), HOSTILE);
  assert.match((await send('GET', `/workflows/${id}`)).text, /"note":1e400/);
  for (const one of (await made(ctx, 'workflows.versions', { id })).slice(0, 2)) assert.equal(literalOf(one.definition), HOSTILE);
  assert.equal(literalOf((await made(ctx, 'workflows.restore', { id, n: '2' })).definition), HOSTILE);
  const exported = await made(ctx, 'workflows.export', { id });
  assert.equal(literalOf(exported.definition), HOSTILE);
  assert.equal(literalOf((await made(ctx, 'workflows.import', { workflow: exported })).definition), HOSTILE);
  assert.equal(literalOf((await made(ctx, 'workflows.duplicate', { id })).definition), HOSTILE);
  assert.match((await send('GET', '/workflows')).text, /"lit":\{"id":7615917337495251231,/);
  // A run that failed is tried again with the same input, and goes on from the outputs that it had.
  const failing = parseExact(`{"nodes":[
    {"id":"trigger-node","type":"trigger","data":{"config":{"triggerType":"manual"}}},
    {"id":"a","type":"transform","data":{"config":{"template":"{{trigger.data}}"}}},
    {"id":"b","type":"http_request","data":{"config":{"method":"POST","url":"http://127.0.0.1:65001/","body":{"n":7615917337495251231,"a":"{{a}}"}}}}],
    "edges":[{"source":"trigger-node","target":"a"},{"source":"a","target":"b"}]}`);
  const other = await made(ctx, 'workflows.create', { name: fresh('exact'), definition: failing, enabled: true });
  const first = await made(ctx, 'workflows.execute', { id: other.id, input: parseExact(HOSTILE) });
  assert.equal((await ended(first.id)).status, 'failed');
  const again = await made(ctx, 'workflows.retry', { id: first.id });
  await ended(again.id);
  const [input] = (await runsOf(ctx, again.id)).filter(({ node_id }) => node_id === 'b').map((run) => run.input as { body: unknown });
  assert.equal(JSON.stringify(input?.body), `{"n":7615917337495251231,"a":${HOSTILE}}`);
});

test('what a webhook is sent starts the run with its digits', async () => {
  const call = { method: 'POST', url: 'http://hooks.test/', ip: null, headers: new Headers({ 'content-type': 'application/json' }) };
  const settings = { method: 'POST', mode: 'async', auth: { type: 'none' } } as const;
  const { data } = await outputOf(settings, { ...call, body: Buffer.from(HOSTILE) }, new Date());
  assert.equal(JSON.stringify(data), HOSTILE);
});

test('conditions, routers and filters take such numbers by their values', async () => {
  const { live } = await workspace();
  const rule = (left: string, operator: string, right: unknown) => ({ rules: { rules: [{ left, operator, right }] } });
  const truths: [string, object][] = [
    ['more', { expression: 'trigger.data.id > 7615917337495251230 && trigger.data.id < 7615917337495251232' }],
    [
      'same',
      { expression: 'trigger.data.id === 7615917337495251231 && trigger.data.id !== 7615917337495251000 && trigger.data.price === 1299.1' },
    ],
    ['beyond', { expression: 'trigger.data.huge > trigger.data.id && trigger.data.tiny > 0 && !trigger.data.zero' }],
    ['rule', rule('{{trigger.data.id}}', 'equals', '7615917337495251231')],
    ['listed', rule('{{trigger.data.id}}', 'in', '1,7615917337495251231')],
    ['digits', rule('{{trigger.data.id|string}}', 'ends_with', '1231')],
    ['of_a_text', rule('{{trigger.data.id|string|number}}', 'gt', parseExact('7615917337495251230'))],
  ];
  const definition = chain(
    { triggerType: 'manual' },
    node('r', 'router', { match: 'all', routes: truths.map(([id, one]) => ({ id, ...one })) }),
  );
  const id = await started(live, await stored(live, definition), parseExact(HOSTILE));
  assert.equal((await ended(id)).status, 'completed');
  const [run] = (await runsOf(live, id)).filter(({ node_id }) => node_id === 'r');
  assert.deepEqual(
    (run?.output as { matched: string[] } | undefined)?.matched,
    truths.map(([name]) => name),
  );
});

/** A JSON text with numbers of any spelling and names of any kind; integer-like names have no place of their own. */
const number = fc.oneof(
  fc.bigInt().map(String),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map(String)
    .map((text) => text.replace('e+', 'e')),
  fc
    .tuple(fc.bigInt(), fc.stringMatching(/^[0-9]{1,30}$/), fc.constantFrom('', 'e400', 'E-400', 'e+7'))
    .map(([whole, rest, power]) => `${whole}.${rest}${power}`),
);
const name = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toJSON', 'isLosslessNumber'),
  fc.string().filter((text) => !/^\d/.test(text) && !text.includes('{{')),
);
const { document } = fc.letrec<{ document: string; list: string; object: string }>((tie) => ({
  document: fc.oneof({ maxDepth: 4 }, number, fc.constantFrom('true', 'null', '"7615917337495251231"'), tie('list'), tie('object')),
  list: fc.array(tie('document'), { maxLength: 4 }).map((items) => `[${items}]`),
  object: fc
    .uniqueArray(fc.tuple(name, tie('document')), { maxLength: 4, selector: ([key]) => key })
    .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`)}}`),
}));

test('any document goes from the input, or the definition, through a template and a request to the server as it was', async () => {
  const { live }: { live: Ctx } = await workspace();
  await fc.assert(
    fc.asyncProperty(document, async (text) => {
      const value = parseExact(text);
      const definition = chain(
        { triggerType: 'manual' },
        node('a', 'http_request', { method: 'POST', url, body: { given: '{{trigger.data}}', written: [value] } }),
      );
      seen.length = 0;
      const id = await started(live, await stored(live, definition), value);
      assert.equal((await ended(id)).status, 'completed');
      assert.deepEqual(seen, [`{"given":${text},"written":[${text}]}`]);
      const [run] = (await runsOf(live, id)).filter(({ node_id }) => node_id === 'a');
      assert.equal(JSON.stringify((run?.output as { body: unknown } | undefined)?.body), seen[0]);
    }),
    { numRuns: THOROUGH ? 500 : 15, seed: 33 },
  );
});
