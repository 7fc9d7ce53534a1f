import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as ops from '../operations.ts';

// Requests kept with a route (interface rule 70 §11).

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
const call = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<any> =>
  (await execute(op, { ...ctx, now: new Date() }, input)).output;
const route = (ctx: Ctx, name = 'Payments') => call(ops.create, ctx, { name, target_base_url: 'http://127.0.0.1:9' });
const request = {
  name: 'one order',
  method: 'POST',
  path: '/orders?dry=1',
  headers: [{ name: 'Content-Type', value: 'application/json' }],
  body: '{"id":1}',
  assertions: [
    { kind: 'status', equals: 201 },
    { kind: 'json', path: 'data.id', equals: '1' },
  ],
};

test('an example is kept as it was written, replaced as a whole and deleted; each is in the trail of its route', async () => {
  const { live } = await workspace();
  const { id } = await route(live);
  const made = await call(ops.saveExample, live, { id, ...request });
  assert.deepEqual(
    (await call(ops.examples, live, { id })).map(({ created_at, updated_at, ...kept }: typeof made) => kept),
    [{ id: made.id, ...request }],
  );
  await assert.rejects(call(ops.saveExample, live, { id, ...request }), { type: 'conflict' });
  const other = { ...request, name: 'no assertions', assertions: [], body: '' };
  assert.equal((await call(ops.replaceExample, live, { id, exampleId: made.id, ...other })).name, 'no assertions');
  assert.deepEqual(await call(ops.deleteExample, live, { id, exampleId: made.id }), { deleted: true });
  assert.deepEqual(await call(ops.examples, live, { id }), []);
  const entries = await db().audit_logs.findMany({ where: { resource_id: id, action: 'update' }, orderBy: { created_at: 'asc' } });
  assert.deepEqual(
    entries.map(({ details }) => (details as { change?: string }).change),
    ['example.create', 'example.update', 'example.delete'],
  );
  assert.equal(JSON.stringify(entries.map(({ details }) => details)).includes('orders'), false);
});

test('no credential is kept: not in a header that carries one, nor in a value, path or body that looks like one', async () => {
  const { live } = await workspace();
  const { id } = await route(live);
  const token = `ghp_${'a1B2'.repeat(9)}`;
  for (const part of [
    { headers: [{ name: 'Authorization', value: 'Basic dTpw' }] },
    { headers: [{ name: 'X-Api-Key', value: 'x' }] },
    { headers: [{ name: 'Accept', value: token }] },
    { headers: [{ name: 'apikey', value: 'x' }] },
    { path: `/orders?access=${token}` },
    { path: `/orders?access=${encodeURIComponent(token).replace('g', '%67')}` },
    { path: '/orders?api_key=a-key-of-no-known-shape' },
    { path: '/orders?a=b&access%5Ftoken=a-token-of-no-known-shape' },
    { path: '/orders?user[password]=hunter2' },
    { body: `{"token":"${token}"}` },
  ])
    await assert.rejects(call(ops.saveExample, live, { id, ...request, ...part }), { type: 'validation_error' }, JSON.stringify(part));
  // The name alone is no secret: whoever runs it fills it in.
  await call(ops.saveExample, live, {
    id,
    ...request,
    path: '/orders?api_key=&keyword=a&page=2',
    headers: [{ name: 'X-Api-Key', value: '' }],
  });
  await call(ops.saveExample, live, { id, ...request, name: 'A path that is no URL', path: '//[?%&%zz=1' });
  assert.equal(JSON.stringify(await db().route_examples.findMany({ where: { route_id: id } })).includes(token), false);
});

test('an example of another route, space or workspace does not exist, and goes with its route', async () => {
  const [w, stranger] = await Promise.all([workspace(), workspace()]);
  const [mine, second] = [await route(w.live), await route(w.live, 'Mail')];
  const { id: exampleId } = await call(ops.saveExample, w.live, { id: mine.id, ...request });
  const foreign = await route(stranger.live);
  for (const [ctx, id] of [
    [w.live, second.id],
    [w.test, mine.id],
    [stranger.live, mine.id],
    [stranger.live, foreign.id],
  ] as const) {
    await assert.rejects(call(ops.replaceExample, ctx, { id, exampleId, ...request }), { type: 'not_found' });
    await assert.rejects(call(ops.deleteExample, ctx, { id, exampleId }), { type: 'not_found' });
  }
  await call(ops.delete, w.live, { id: mine.id });
  assert.equal(await db().route_examples.count({ where: { id: exampleId } }), 0);
});
