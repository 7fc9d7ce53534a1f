import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { flushMeters } from '#server/platform/monthly-meter.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { definitionOf, ended, runsOf, started, statesOf, stored, working } from './running.fixture.ts';

await ownDatabase();
working();

const calls: string[] = [];
const port = await listen(
  createServer((req, res) => {
    calls.push(req.url ?? '');
    res.end('{}');
  }),
);
const call = (path: string): [string, Record<string, unknown>] => [
  'http_request',
  { method: 'GET', url: `http://127.0.0.1:${port}/${path}` },
];
const allow = (tenant_id: string, operations: number) =>
  db().tenant_limit_overrides.create({
    data: { tenant_id, kind: 'workflow_operations', value: operations },
  });

test('a run whose nodes the month no longer covers is recorded as failed, and no call leaves the worker', async () => {
  const w = await workspace();
  await allow(w.tenant.id, 2);
  calls.length = 0;
  const definition = definitionOf({ a: call('a'), b: call('b'), c: call('c') }, ['trigger>a', 'a>b', 'b>c']);
  const execution = await ended(await started(w.live, await stored(w.live, definition)));
  assert.deepEqual(
    [execution.status, execution.error_code, execution.operations, calls.length],
    ['failed', 'operations_quota_exceeded', 0, 0],
  );
  const inTest = await ended(await started(w.test, await stored(w.test, definition)));
  assert.deepEqual([inTest.status, calls.length], ['completed', 3], 'runs of Test are not metered');
});

test('a loop may run over the month, then fails at its next node; what ran is counted', async () => {
  const w = await workspace();
  await allow(w.tenant.id, 4);
  calls.length = 0;
  const definition = definitionOf({ each: ['loop', { items: [1, 2, 3, 4, 5, 6] }], x: call('x') }, ['trigger>each', 'each:body>x']);
  const id = await started(w.live, await stored(w.live, definition));
  const execution = await ended(id);
  assert.deepEqual(
    [execution.status, execution.error_code, execution.operations, calls.length],
    ['failed', 'operations_quota_exceeded', 4, 3],
  );
  assert.match(await statesOf(w.live, id), /each:cancelled/);
  await flushMeters();
  await until(
    async () =>
      Number((await db().usage_counters.findFirst({ where: { tenant_id: w.tenant.id, kind: 'workflow_operations' } }))?.n ?? 0) === 4,
    'it is counted',
  );
});

test('a run can run a thousand nodes', async () => {
  const w = await workspace();
  const definition = definitionOf(
    { each: ['loop', { items: '{{trigger.data}}', concurrency: 10 }], x: ['transform', { template: '{{each.index}}' }] },
    ['trigger>each', 'each:body>x'],
  );
  const workflow = await stored(w.test, definition);
  const many = await ended(await started(w.test, workflow, Array(1_000).fill(0)));
  assert.deepEqual([many.status, many.error_code, many.operations], ['failed', 'loop_limit', 1_000]);
  const most = await ended(await started(w.test, workflow, Array(999).fill(0)));
  assert.deepEqual([most.status, most.operations], ['completed', 1_000]);
  const over = await ended(await started(w.test, workflow, Array(1_001).fill(0)));
  assert.deepEqual([over.error_code, over.operations], ['loop_limit', 1]);
});

test('outputs larger than 5 MiB together end the run', async () => {
  const w = await workspace();
  const definition = definitionOf(
    {
      big: ['transform', { fields: { x: '{{trigger.data|replace("a","bbbbbbbbbbbbbbbbbbbb")}}' } }],
      again: ['transform', { fields: { x: '{{big.x}}{{big.x}}' } }],
      last: ['transform', { template: 1 }],
    },
    ['trigger>big', 'big>again', 'again>last'],
  );
  const execution = await ended(await started(w.test, await stored(w.test, definition), 'a'.repeat(100_000)));
  assert.deepEqual([execution.status, execution.error_code], ['failed', 'state_too_large']);
});

test('outputs with more values than a run may have end it, however few bytes they are', async () => {
  const w = await workspace();
  const list = `{{trigger.data|split('')}}`;
  const definition = definitionOf(
    Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`n${i}`, ['transform', { template: Array.from({ length: 9 }, () => list) }]])),
    ['trigger>n0', ...Array.from({ length: 7 }, (_, i) => `n${i}>n${i + 1}`)],
  );
  const execution = await ended(await started(w.test, await stored(w.test, definition), 'a'.repeat(10_000)));
  assert.deepEqual([execution.status, execution.error_code], ['failed', 'state_too_large']);
  assert.match(String(execution.error_message), /more than 500,000 values together, the limit\. Pass on only/);
});

test('a large value can be passed on twice, and one that names it without end ends the run without being written', async () => {
  const w = await workspace();
  const row = (i: number) => Object.fromEntries(Array.from({ length: 60 }, (_, j) => [`field_${j}`, i]));
  const rows = Array.from({ length: 1_000 }, (_, i) => row(i));
  const of = (template: unknown) =>
    definitionOf({ a: ['transform', { template }], b: ['transform', { template: '{{a[0] | length}}' }] }, ['trigger>a', 'a>b']);
  const twice = await ended(await started(w.test, await stored(w.test, of(['{{trigger.data}}', '{{trigger.data}}'])), rows));
  assert.deepEqual([twice.status, twice.error_message], ['completed', null]);
  const always = of(Array.from({ length: 9_000 }, () => '{{trigger.data}}'));
  const endless = await ended(await started(w.test, await stored(w.test, always), rows));
  assert.deepEqual([endless.status, endless.error_code], ['failed', 'state_too_large']);
});

test('what the nodes of a run were given is kept to 2 MiB, and the run goes on', async () => {
  const w = await workspace();
  const nodes = Array.from({ length: 12 }, (_, i) => `n${i}`);
  const definition = definitionOf(
    Object.fromEntries(nodes.map((id) => [id, ['transform', { template: '{{trigger.data|length}}' }]])),
    nodes.map((id) => `trigger>${id}`),
  );
  const id = await started(w.test, await stored(w.test, definition), 'a'.repeat(240 * 1024));
  assert.equal((await ended(id)).status, 'completed');
  const inputs = (await runsOf(w.test, id)).filter(({ node_id }) => node_id !== 'trigger-node').map(({ input }) => input);
  const left = inputs.filter((input) => input === '[left out: the inputs of this run are larger than 2 MiB together]');
  assert.equal(left.length, 4);
});

test('the input of a step that is tried again counts once', async () => {
  const w = await workspace();
  const server = await listen(createServer((req, res) => req.resume().on('end', () => res.writeHead(500).end())));
  const config = {
    method: 'POST',
    url: `http://127.0.0.1:${server}/`,
    body: '{{trigger.data}}',
    retry: { attempts: 9, delayMs: 1, factor: 1 },
  };
  const id = await started(w.test, await stored(w.test, definitionOf({ a: ['http_request', config] }, ['trigger>a'])), 'a'.repeat(250_000));
  assert.equal((await ended(id)).status, 'failed');
  const [, a] = await runsOf(w.test, id);
  assert.deepEqual([a?.attempt, JSON.stringify(a?.input).includes('left out')], [10, false]);
});

test('what started a run is no output of it, whether the run was put aside or not', async () => {
  const w = await workspace();
  const definition = definitionOf(
    {
      a: ['transform', { template: Array.from({ length: 7 }, () => '{{trigger.data}}') }],
      pause: ['delay', { amount: 1, unit: 'seconds' }],
      b: ['transform', { template: '{{a | length}}' }],
    },
    ['trigger>a', 'a>pause', 'pause>b'],
  );
  const execution = await ended(await started(w.test, await stored(w.test, definition), 'a'.repeat(700_000)));
  assert.deepEqual([execution.status, execution.error_message], ['completed', null]);
});

test('a loop whose items are too large when its run is taken up again fails it', async () => {
  const w = await workspace();
  const loop = (items: unknown) =>
    definitionOf({ each: ['loop', { items }], pause: ['delay', { amount: 2, unit: 'seconds' }] }, ['trigger>each', 'each:body>pause']);
  const id = await started(w.test, await stored(w.test, loop([1, 2])), 'a'.repeat(100_000));
  await until(async () => (await db().workflow_executions.count({ where: { id, status: 'waiting' } })) > 0, 'it waits in its loop');
  const items = `{{trigger.data|replace('a','${'b'.repeat(100)}')|split('b')}}`;
  await db().workflow_executions.update({ where: { id }, data: { definition: loop(items) as object } });
  const execution = await ended(id);
  assert.deepEqual([execution.status, execution.error_code], ['failed', 'state_too_large']);
  assert.equal(await statesOf(w.test, id), 'each:0/pause:cancelled each:failed');
});

test('answers of servers with too many values fail the node, which says how many it may have', async () => {
  const w = await workspace();
  const server = await listen(
    createServer((req, res) => {
      const body = req.url === '/deep' ? `${'['.repeat(300)}${']'.repeat(300)}` : `[${'[],'.repeat(400_000)}1]`;
      res.setHeader('content-type', 'application/json').end(body);
    }),
  );
  for (const path of ['wide', 'deep']) {
    const definition = definitionOf({ a: ['http_request', { method: 'GET', url: `http://127.0.0.1:${server}/${path}` }] }, ['trigger>a']);
    const execution = await ended(await started(w.test, await stored(w.test, definition)));
    assert.deepEqual([execution.status, execution.error_code], ['failed', 'state_too_large']);
    assert.match(
      String(execution.error_message),
      /more than 300,000 members and items, more than 100,000 different names and containers, or more than 200 levels, the limits: ask the server/,
    );
  }
});

test('outputs that are six times as long as JSON are cut without being written out', async () => {
  const w = await workspace();
  const definition = definitionOf(
    { a: ['transform', { template: { body: '{{trigger.data}}' } }], b: ['transform', { template: '{{a.body|length}}' }] },
    ['trigger>a', 'a>b'],
  );
  const id = await started(w.test, await stored(w.test, definition), '\u0001'.repeat(200_000));
  assert.equal((await ended(id)).status, 'completed');
  const [, a, b] = await runsOf(w.test, id);
  assert.deepEqual([a?.truncated, b?.output], [true, 200_000], 'later nodes see it whole');
  const length = JSON.stringify(a?.output).split('\\u0001').length - 1;
  assert.ok(length > 40_000 && length < 44_000, String(length));
});

test('rows of a server go on as the JSON body of the next request: 250 of 300 members', async () => {
  const w = await workspace();
  const rows = Array.from({ length: 250 }, (_, n) => Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`field_${i}`, n + i])));
  let sent = '';
  const server = await listen(
    createServer((req, res) => {
      req.on('data', (chunk: Buffer) => {
        sent += chunk;
      });
      req.on('end', () => res.setHeader('content-type', 'application/json').end(req.method === 'GET' ? JSON.stringify(rows) : '{}'));
    }),
  );
  const request = (method: string, more: object = {}): [string, Record<string, unknown>] => [
    'http_request',
    { method, url: `http://127.0.0.1:${server}/`, ...more },
  ];
  const definition = definitionOf({ a: request('GET'), b: request('POST', { body: { rows: '{{a.body}}' }, bodyType: 'json' }) }, [
    'trigger>a',
    'a>b',
  ]);
  const execution = await ended(await started(w.test, await stored(w.test, definition)));
  assert.deepEqual([execution.status, execution.error_message], ['completed', null]);
  assert.deepEqual(JSON.parse(sent), { rows });
});
