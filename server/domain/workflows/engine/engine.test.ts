import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { inTransaction } from '#server/kernel/database.ts';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { cancelExecution, retryExecution } from './executions.ts';
import { definitionOf, ended, executionOf, runsOf, started, statesOf, stored, working } from './running.fixture.ts';

await ownDatabase();
working();

const say = (text: string): [string, Record<string, unknown>] => ['transform', { fields: { said: text } }];

/** A server that answers what the path says: `/500`, `/200`, `/slow`. */
async function upstream() {
  const seen: { url: string; key: string | undefined; body: string; headers: Record<string, unknown> }[] = [];
  const hung: (() => void)[] = [];
  const port = await listen(
    createServer(async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      seen.push({
        url: req.url ?? '',
        key: req.headers['idempotency-key'] as string,
        body: Buffer.concat(chunks).toString(),
        headers: req.headers,
      });
      const status = Number(/^\/(\d{3})/.exec(req.url ?? '')?.[1] ?? 200);
      if (req.url?.startsWith('/slow')) hung.push(() => void res.end('late'));
      else
        res
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ok: status < 400, echo: req.headers.authorization ?? null }));
    }),
  );
  return { seen, base: `http://127.0.0.1:${port}`, release: () => hung.splice(0).forEach((go) => void go()) };
}

test('a run goes through its nodes in order, and outputs flow into templates', async () => {
  const { live } = await workspace();
  const definition = definitionOf(
    {
      a: ['transform', { fields: { sum: '{{trigger.data.n}}', text: 'n={{trigger.data.n}}' } }],
      b: ['transform', { template: ['{{a.sum}}', '{{a.text|upper}}', '{{a.none}}'] }],
    },
    ['trigger>a', 'a>b'],
  );
  const id = await started(live, await stored(live, definition), { n: 7 });
  const execution = await ended(id);
  assert.deepEqual([execution.status, execution.operations, execution.error_message], ['completed', 2, null]);
  const runs = await runsOf(live, id);
  assert.deepEqual(runs.find(({ node_id }) => node_id === 'b')?.output, [7, 'N=7', null]);
  assert.ok(execution.started_at && execution.completed_at && execution.execution_time_ms !== null);
});

test('a join of three branches of which one is dead waits for the two that live, and gets both outputs', async () => {
  const { live } = await workspace();
  const definition = definitionOf(
    {
      which: [
        'router',
        {
          match: 'all',
          routes: [
            { id: 'x', expression: 'trigger.data.n > 1' },
            { id: 'y', expression: 'trigger.data.n > 2' },
            { id: 'z', expression: 'trigger.data.n > 100' },
          ],
        },
      ],
      ...{ x: say('x'), y: say('y'), z: say('z'), join: ['code', {}] },
    },
    ['trigger>which', 'which:x>x', 'which:y>y', 'which:z>z', 'x>join', 'y>join', 'z>join'],
  );
  const id = await started(live, await stored(live, definition), { n: 5 });
  assert.equal((await ended(id)).operations, 4);
  assert.equal(await statesOf(live, id), 'join:succeeded which:succeeded x:succeeded y:succeeded z:skipped');
  const join = (await runsOf(live, id)).find(({ node_id }) => node_id === 'join');
  assert.deepEqual(join?.output, [
    { nodeId: 'x', output: { said: 'x' } },
    { nodeId: 'y', output: { said: 'y' } },
  ]);
});

test('a condition with rules takes one branch and what follows the other one is skipped', async () => {
  const { live } = await workspace();
  const rules = {
    combinator: 'and',
    rules: [
      { left: '{{trigger.data.n}}', operator: 'equals', right: '5' },
      { left: 'abc-12', operator: 'matches', right: '^[a-c]+-\\d+$' },
    ],
  };
  const definition = definitionOf({ c: ['condition', { mode: 'rules', rules }], yes: say('yes'), no: say('no'), later: say('later') }, [
    'trigger>c',
    'c:true>yes',
    'c:false>no',
    'no>later',
  ]);
  const id = await started(live, await stored(live, definition), { n: 5 });
  assert.deepEqual(
    [(await ended(id)).status, await statesOf(live, id)],
    ['completed', 'c:succeeded later:skipped no:skipped yes:succeeded'],
  );
});

test('a loop runs its body for each item, and gives the results of its iterations', async () => {
  const { live } = await workspace();
  const definition = definitionOf(
    {
      each: ['loop', { items: '{{trigger.data}}', concurrency: 3 }],
      inner: ['transform', { template: '{{each.item.n}}/{{each.index}}' }],
      after: ['transform', { template: '{{each.results}}' }],
    },
    ['trigger>each', 'each:body>inner', 'each:done>after'],
  );
  const id = await started(live, await stored(live, definition), [{ n: 'a' }, { n: 'b' }, { n: 'c' }, { n: 'd' }]);
  assert.equal((await ended(id)).operations, 6);
  const runs = await runsOf(live, id);
  assert.deepEqual(runs.find(({ node_id }) => node_id === 'after')?.output, ['a/0', 'b/1', 'c/2', 'd/3']);
  assert.deepEqual(
    runs
      .filter(({ node_id }) => node_id === 'inner')
      .map(({ iteration, path }) => [iteration, path])
      .sort(),
    [0, 1, 2, 3].map((i) => [i, `each:${i}`]),
  );
});

test('loops nest, and each node sees its own iteration', async () => {
  const { live } = await workspace();
  const definition = definitionOf(
    {
      outer: ['loop', { items: '{{trigger.data}}' }],
      inner: ['loop', { items: '{{outer.item}}', concurrency: 2 }],
      cell: ['transform', { template: '{{outer.index}}.{{inner.index}}={{inner.item}}' }],
      row: ['transform', { template: '{{inner.results|join}}' }],
    },
    ['trigger>outer', 'outer:body>inner', 'inner:body>cell', 'inner:done>row'],
  );
  const id = await started(live, await stored(live, definition), [['a', 'b'], [], ['c']]);
  assert.equal((await ended(id)).status, 'completed');
  const outer = (await runsOf(live, id)).find(({ node_id }) => node_id === 'outer');
  assert.deepEqual(outer?.output, { results: ['0.0=a,0.1=b', '', '2.0=c'], count: 3, failed: 0 });
});

test('a failed item ends its loop, or is counted when the loop goes on', async () => {
  const { live } = await workspace();
  for (const [onItemError, status, states] of [
    ['stop', 'failed', 1],
    ['continue', 'completed', 3],
  ] as const) {
    const definition = definitionOf(
      { each: ['loop', { items: [1, 2, 3], onItemError }], bad: ['transform', { template: '{{each.item|default(' }] },
      ['trigger>each', 'each:body>bad'],
    );
    const id = await started(live, await stored(live, definition));
    const execution = await ended(id);
    const runs = await runsOf(live, id);
    assert.deepEqual([execution.status, runs.filter(({ node_id }) => node_id === 'bad').length], [status, states]);
    assert.equal((runs.find(({ node_id }) => node_id === 'each')?.output as { failed: number } | undefined)?.failed, states);
    if (status === 'failed') assert.equal(execution.error_code, 'invalid_config');
  }
});

test('a failure goes to its error edge, else to the handler that lists the node, else to that of the workflow', async () => {
  const { live } = await workspace();
  const bad: [string, Record<string, unknown>] = ['transform', { template: '{{' }];
  const edge = definitionOf({ bad, rescue: say('{{bad.x}}'), next: say('no') }, ['trigger>bad', 'bad:error>rescue', 'bad>next']);
  const one = await started(live, await stored(live, edge));
  assert.deepEqual([(await ended(one)).status, await statesOf(live, one)], ['completed', 'bad:failed next:skipped rescue:succeeded']);

  const own = definitionOf(
    { bad, next: say('no'), h: ['error_handler', { scope: 'node', catch: ['bad'] }], rescue: say('{{h.node_id}} {{h.error_code}}') },
    ['trigger>bad', 'bad>next', 'h>rescue'],
  );
  const two = await started(live, await stored(live, own));
  assert.deepEqual(
    [(await ended(two)).status, await statesOf(live, two)],
    ['completed', 'bad:failed h:succeeded next:skipped rescue:succeeded'],
  );
  assert.deepEqual((await runsOf(live, two)).find(({ node_id }) => node_id === 'rescue')?.output, { said: 'bad invalid_config' });

  for (const [recover, status] of [
    [false, 'failed'],
    [true, 'completed'],
  ] as const) {
    const general = definitionOf(
      { bad, other: say('x'), h: ['error_handler', { scope: 'workflow' }], rescue: ['transform', { template: 'r', recover }] },
      ['trigger>bad', 'bad>other', 'h>rescue'],
    );
    const three = await started(live, await stored(live, general));
    const execution = await ended(three);
    assert.deepEqual([execution.status, execution.error_code], [status, recover ? null : 'invalid_config']);
    assert.equal(await statesOf(live, three), 'bad:failed h:succeeded other:skipped rescue:succeeded');
  }
  const calm = definitionOf({ fine: say('x'), h: ['error_handler', { scope: 'workflow' }], rescue: say('r') }, [
    'trigger>fine',
    'h>rescue',
  ]);
  const four = await started(live, await stored(live, calm));
  assert.deepEqual([(await ended(four)).status, await statesOf(live, four)], ['completed', 'fine:succeeded h:skipped rescue:skipped']);
});

test('an HTTP request sends what its config says, and a status of 400 or more is a failure unless it is allowed', async () => {
  const { live } = await workspace();
  const { seen, base } = await upstream();
  const config = {
    method: 'POST',
    url: `${base}/200?a=1`,
    headers: { 'X-N': '{{trigger.data.n}}' },
    query: { q: 'ä b' },
    body: { n: '{{trigger.data.n}}', text: 'n {{trigger.data.n}}' },
  };
  const definition = definitionOf(
    {
      ok: ['http_request', config],
      gone: ['http_request', { method: 'GET', url: `${base}/404`, failOnStatus: false }],
      bad: ['http_request', { method: 'GET', url: `${base}/404` }],
      rescue: say('{{bad.status}}'),
    },
    ['trigger>ok', 'ok>gone', 'gone>bad', 'bad:error>rescue'],
  );
  const id = await started(live, await stored(live, definition), { n: 3 });
  assert.equal((await ended(id)).status, 'completed');
  const [post] = seen;
  assert.deepEqual(
    [post?.url, post?.body, post?.headers['x-n'], post?.key],
    ['/200?a=1&q=%C3%A4%20b', '{"n":3,"text":"n 3"}', '3', `wf_${id}_ok_0`],
  );
  const byNode = new Map((await runsOf(live, id)).map((run) => [run.node_id, run]));
  const answer = byNode.get('ok')?.output as { status: number; success: boolean; body: unknown } | undefined;
  assert.deepEqual([answer?.status, answer?.success, answer?.body], [200, true, { ok: true, echo: null }]);
  assert.deepEqual(
    [byNode.get('bad')?.status, byNode.get('bad')?.error_code, byNode.get('rescue')?.output],
    ['failed', 'http_status', { said: 404 }],
  );
});

test('a failed request is tried again with the same key after its pause, and no worker is held meanwhile', async () => {
  const { live } = await workspace();
  const { seen, base } = await upstream();
  const definition = definitionOf(
    { bad: ['http_request', { method: 'GET', url: `${base}/503`, retry: { attempts: 2, delayMs: 1_500, factor: 1 } }] },
    ['trigger>bad'],
  );
  const id = await started(live, await stored(live, definition));
  await until(async () => (await executionOf(id)).status === 'waiting', 'it waits');
  const execution = await ended(id);
  assert.deepEqual([execution.status, execution.error_code, execution.operations, seen.length], ['failed', 'http_status', 1, 3]);
  assert.equal(new Set(seen.map(({ key }) => key)).size, 1);
  assert.equal((await runsOf(live, id)).find(({ node_id }) => node_id === 'bad')?.attempt, 3);
});

test('an address inside of the network is refused when the connection is made', async () => {
  const { live } = await workspace();
  const definition = definitionOf({ a: ['http_request', { method: 'GET', url: 'https://169.254.169.254/latest' }] }, ['trigger>a']);
  assert.equal((await ended(await started(live, await stored(live, definition)))).error_code, 'blocked_address');
});

test('a null reference in a URL, a header or a recipient is an error unless it has a default', async () => {
  const { live } = await workspace();
  const { base } = await upstream();
  for (const config of [{ url: `${base}/{{trigger.data.x}}` }, { url: base, headers: { 'x-a': '{{trigger.data.x}}' } }]) {
    const definition = definitionOf({ a: ['http_request', { method: 'GET', ...config }] }, ['trigger>a']);
    assert.equal((await ended(await started(live, await stored(live, definition)))).error_code, 'unresolved_reference');
  }
  const fine = definitionOf({ a: ['http_request', { method: 'GET', url: `${base}/{{trigger.data.x|default("y")}}` }] }, ['trigger>a']);
  assert.equal((await ended(await started(live, await stored(live, fine)))).status, 'completed');
});

test('cancelling ends what is queued or waits at once, what runs after its node, and refuses what has ended', async () => {
  const { live } = await workspace();
  const { base, seen, release } = await upstream();
  const slow = await stored(
    live,
    definitionOf({ a: ['http_request', { method: 'GET', url: `${base}/slow` }], b: say('b') }, ['trigger>a', 'a>b']),
  );
  const running = await started(live, slow);
  await until(() => seen.length === 1, 'the node is in flight');
  assert.equal((await inTransaction(live, (tx) => cancelExecution(tx, live, running))).status, 'cancelling');
  release();
  assert.equal((await ended(running)).status, 'cancelled');
  // The worker may hear of it before or after it came to b, which is never done.
  assert.match(await statesOf(live, running), /^a:succeeded(?: b:cancelled)?$/);
  await assert.rejects(
    inTransaction(live, (tx) => cancelExecution(tx, live, running)),
    { type: 'not_cancellable' },
  );

  const delayed = await started(
    live,
    await stored(live, definitionOf({ d: ['delay', { amount: 1, unit: 'days' }], b: say('b') }, ['trigger>d', 'd>b'])),
  );
  await until(async () => (await executionOf(delayed)).status === 'waiting', 'it waits');
  assert.equal((await inTransaction(live, (tx) => cancelExecution(tx, live, delayed))).status, 'cancelled');
  assert.deepEqual(
    [await statesOf(live, delayed), await db().workflow_timers.count({ where: { execution_id: delayed } })],
    ['d:cancelled', 0],
  );
});

test('a retry from the failed node takes over what had succeeded, and one from the start does it all again', async () => {
  const { live } = await workspace();
  const { base, seen } = await upstream();
  const definition = definitionOf(
    { a: ['http_request', { method: 'GET', url: `${base}/200` }], b: ['http_request', { method: 'GET', url: `${base}/500` }] },
    ['trigger>a', 'a>b'],
  );
  const id = await started(live, await stored(live, definition), { n: 1 });
  assert.equal((await ended(id)).status, 'failed');
  const by = { type: 'user', id: null, label: 'test' };
  const again = await inTransaction(live, (tx) => retryExecution(tx, live, { id, from: 'failed_node', triggered_by: by }));
  const execution = await ended(again.id);
  assert.deepEqual([execution.status, execution.operations, execution.trigger_type, execution.retry_of], ['failed', 1, 'retry', id]);
  assert.deepEqual(
    seen.map(({ url }) => url),
    ['/200', '/500', '/500'],
  );
  await ended((await inTransaction(live, (tx) => retryExecution(tx, live, { id, from: 'start', triggered_by: by }))).id);
  assert.deepEqual(
    seen.map(({ url }) => url),
    ['/200', '/500', '/500', '/200', '/500'],
  );
});

test('at most five nodes of a run are in flight, and ten runs of a workflow', async () => {
  const { live } = await workspace();
  const { base, seen, release } = await upstream();
  const many = Object.fromEntries(
    Array.from({ length: 7 }, (_, i) => [
      `n${i}`,
      ['http_request', { method: 'GET', url: `${base}/slow/${i}` }] as [string, Record<string, unknown>],
    ]),
  );
  const wide = await stored(
    live,
    definitionOf(
      many,
      Object.keys(many).map((id) => `trigger>${id}`),
    ),
  );
  const id = await started(live, wide);
  await until(() => seen.length === 5, 'five are in flight');
  release();
  await until(() => seen.length === 7, 'the others follow');
  release();
  assert.equal((await ended(id)).operations, 7);

  const one = await stored(live, definitionOf({ a: ['http_request', { method: 'GET', url: `${base}/slow/x` }] }, ['trigger>a']));
  seen.length = 0;
  const ids = await Promise.all(Array.from({ length: 12 }, () => started(live, one)));
  await until(() => seen.length === 10, 'ten run');
  assert.equal(await db().workflow_executions.count({ where: { workflow_id: one.id, status: 'queued' } }), 2);
  const queued = await db().workflow_executions.findFirstOrThrow({ where: { workflow_id: one.id, status: 'queued' } });
  assert.equal((await inTransaction(live, (tx) => cancelExecution(tx, live, queued.id))).status, 'cancelled');
  assert.equal(await statesOf(live, queued.id), '');
  release();
  await until(() => seen.length === 11, 'the last one has begun');
  release();
  for (const each of ids) await ended(each);
});

test('a run that takes longer than its time is ended, with what is in flight', async () => {
  const { live } = await workspace();
  const { base } = await upstream();
  const definition = definitionOf({ a: ['http_request', { method: 'GET', url: `${base}/slow` }] }, ['trigger>a']);
  const id = await started(live, await stored(live, definition, { timeout_seconds: 1 }));
  const execution = await ended(id);
  assert.deepEqual([execution.status, execution.error_code, await statesOf(live, id)], ['failed', 'execution_timeout', 'a:cancelled']);
});

test('large outputs are cut where they are shown and whole where they are used, also after a delay', async () => {
  const { live } = await workspace();
  const definition = definitionOf(
    {
      big: ['transform', { fields: { body: '{{trigger.data.text|replace("a","bbbbbbbbbb")}}' } }],
      wait: ['delay', { amount: 1 }],
      size: ['transform', { template: '{{big.body|length}}' }],
    },
    ['trigger>big', 'big>wait', 'wait>size'],
  );
  const id = await started(live, await stored(live, definition), { text: 'a'.repeat(100_000) });
  assert.equal((await ended(id)).status, 'completed');
  const runs = new Map((await runsOf(live, id)).map((run) => [run.node_id, run]));
  assert.equal(runs.get('size')?.output, 1_000_000);
  assert.equal(runs.get('big')?.truncated, true);
  assert.ok(JSON.stringify(runs.get('big')?.output).length < 262_145);
});
