import assert from 'node:assert/strict';
import test from 'node:test';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { workspace } from '#server/testing/workspace.ts';
import { sealValue } from './engine/values.ts';
import { executionViews } from './engine/views.ts';
import { revealOfNodeTest, testNode } from './node-tests.ts';
import { chain, node } from './samples.fixture.ts';

await testDatabase();

test('the test of a step that calls a route asks for a factor by whatever the route is named, unless it is known to send no secret', async () => {
  const w = await workspace();
  const plain = { id: 'plain' } as AnyOperation;
  const { unguarded } = revealOfNodeTest(plain);
  assert.ok(unguarded);
  for (const space of ['live', 'test'] as const) {
    const ctx = w.member('owner', space);
    const secret = fresh('TOKEN').replaceAll('-', '_');
    await made(ctx, 'secrets.create', { name: secret, value: 'value-of-a-secret' });
    const make = (inject_headers_json: Record<string, string>) =>
      made(ctx, 'routes.create', {
        name: fresh('Route'),
        slug: fresh('route').toLowerCase(),
        target_base_url: 'https://api.example.com',
        inject_headers_json,
      });
    const asks = async (route: string): Promise<boolean> => {
      const definition = chain({ triggerType: 'manual' }, node('call', 'route_request', { route, method: 'GET', path: '/' }));
      const { id }: { id: string } = await made(ctx, 'workflows.create', { name: fresh('flow'), definition });
      return (await unguarded(ctx, { id, node_id: 'call' } as never)) === null;
    };
    const [injects, bare] = [await make({ 'X-Token': `{{secret:${secret}}}` }), await make({})];
    for (const form of ['id', 'slug', 'name'])
      assert.deepEqual([await asks(injects[form]), await asks(bare[form])], [true, false], `${form} in ${space}`);
    for (const unknown of [fresh('none'), '{{trigger.data.route}}', injects.name.toLowerCase()])
      assert.equal(await asks(unknown), true, unknown);
    await db().routes.delete({ where: { id: bare.id } });
    assert.equal(await asks(bare.name), true, 'a route that is gone may be made again');
  }
});

test('a step test obeys the bounds of runs: web goes on, and the fault says which limit it was', async () => {
  const w = await workspace();
  const ctx = w.member('owner', 'test');
  const hostile = {
    object: { template: Array(4_000).fill('{{trigger.object}}') },
    number: { template: Array(4_000).fill('{{trigger.digits|number}}') },
    text: { template: `${'{{trigger.text|upper}} '.repeat(199)}` },
    grown: { template: `{{trigger.text${"|replace('a','aaaaaaaaaa')".repeat(9)}}}` },
  };
  const context = {
    trigger: {
      object: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`name${i}`, i])),
      digits: '1'.repeat(200_000),
      text: 'a,'.repeat(100_000),
    },
  };
  const nodes = Object.entries(hostile).map(([id, config]) => node(id, 'transform', config));
  const faults: Record<string, string | null> = {};
  for (const one of nodes) {
    const definition = chain({ triggerType: 'manual' }, one);
    const { id }: { id: string } = await made(ctx, 'workflows.create', { name: fresh('flow'), definition });
    const { error } = await neverBlocks(() => testNode(ctx, { id, node_id: one.id, context }, { credentialed: false }));
    faults[one.id] = error && `${error.code} ${error.message}`;
  }
  const over = /^state_too_large evaluating this step takes more work than 8 million units, the limit/;
  assert.match(faults.object ?? '', /^state_too_large An output has more than 5 MiB, 320,000 values or 500 levels, the limits/);
  assert.match(faults.text ?? '', over);
  assert.match(faults.grown ?? '', /^state_too_large/);
  assert.equal(faults.number, null, 'a text of two hundred thousand digits is no number');
});

test('a step test takes the values of the last run, of a loop its last iteration', async () => {
  const w = await workspace();
  const ctx = w.member('owner', 'test');
  const definition = chain({ triggerType: 'manual' }, node('sum', 'transform', { template: '{{big|length}} {{each.x}}' }));
  const { id }: { id: string } = await made(ctx, 'workflows.create', { name: fresh('flow'), definition });
  const run = await ran(ctx, id, [
    ...[1, 2].map((x) => ({ node_id: 'each', path: `loop:${x}`, output: { x } })),
    { node_id: 'big', path: '', output: 'a'.repeat(200_000) },
  ]);
  const { output } = await testNode(ctx, { id, node_id: 'sum', useLastRun: true }, { credentialed: false });
  assert.equal(output, '200000 2');
  const many = await ran(
    ctx,
    id,
    Array.from({ length: 60 }, (_, i) => ({ node_id: 'big', path: `loop:${i}`, output: 'a'.repeat(200_000) })),
  );
  const views = await neverBlocks(() => inTransaction(ctx, (tx) => executionViews(tx, ctx, many)));
  const left = views.filter(({ output: shown, truncated }) => shown === null && truncated);
  assert.deepEqual([views.length, left.length > 5, left.length < 10], [60, true, true], 'ten megabytes of values are shown');
  assert.notEqual(run, many);
});

/** A run that ended, with the outputs of its nodes. */
async function ran(ctx: Ctx, workflow_id: string, nodes: { node_id: string; path: string; output: unknown }[]): Promise<string> {
  const [place, id, began] = [own(ctx), newId(), Date.now()];
  const times = { started_at: new Date(began), completed_at: new Date(began) };
  const value = await sealValue(ctx, id, { input: null });
  await db().workflow_executions.create({
    data: {
      ...place,
      ...value,
      ...times,
      id,
      workflow_id,
      workflow_version: 1,
      status: 'completed',
      trigger_type: 'manual',
      triggered_by: {},
      authorities: [],
      timeout_seconds: 60,
    },
  });
  for (const [i, { output, ...node }] of nodes.entries()) {
    const row = newId();
    const sealed = await sealValue(ctx, row, { input: null, output });
    await db().workflow_node_executions.create({
      data: {
        ...place,
        ...sealed,
        ...node,
        ...times,
        id: row,
        execution_id: id,
        started_at: new Date(began + i),
        node_name: node.node_id,
        node_type: 'transform',
        status: 'succeeded',
      },
    });
  }
  return id;
}
