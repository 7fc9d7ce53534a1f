import assert from 'node:assert/strict';
import test from 'node:test';
import { putDefaults } from '#server/domain/collections/defaults/service.ts';
import { createCollection, getCollection } from '#server/domain/collections/service.ts';
import { putRouteEnvironment } from '#server/domain/routes/environments/service.ts';
import { createRoute } from '#server/domain/routes/service.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { get } from './hot.ts';
import * as environments from './service.ts';

await testDatabase();

test('every space starts with one default environment named production', async () => {
  const w = await workspace();
  for (const ctx of [w.live, w.test]) {
    const rows = await environments.listEnvironments(ctx);
    assert.deepEqual(
      rows.map((r) => [r.name, r.is_default, r.color]),
      [['production', true, '#22c55e']],
    );
  }
});

test('making an environment the default takes the mark from the old one, whatever runs beside it', async () => {
  const w = await workspace();
  const rows = await Promise.all(['a', 'b', 'c', 'd'].map((name) => environments.createEnvironment(w.live, { name })));
  await Promise.allSettled(rows.map((row) => environments.updateEnvironment(w.live, { id: row.id, is_default: true })));
  const after = await environments.listEnvironments(w.live);
  assert.equal(after.filter((r) => r.is_default).length, 1);
});

test('of swaps of the default at once every one succeeds in its turn', async () => {
  const w = await workspace();
  const rows = await Promise.all(['a', 'b', 'c', 'd'].map((name) => environments.createEnvironment(w.live, { name })));
  await Promise.all(rows.map((row) => environments.updateEnvironment(w.live, { id: row.id, is_default: true })));
  await Promise.all(['e', 'f', 'g'].map((name) => environments.createEnvironment(w.live, { name, is_default: true })));
  assert.equal((await environments.listEnvironments(w.live)).filter((r) => r.is_default).length, 1);
});

test('deleting an environment while it becomes the default never leaves the space without one', async () => {
  const w = await workspace();
  for (let round = 0; round < 5; round++) {
    const rows = await Promise.all(['a', 'b', 'c'].map((name) => environments.createEnvironment(w.live, { name: `${name}${round}` })));
    const results = await Promise.allSettled(
      rows.flatMap(({ id }) => [
        environments.deleteEnvironment(w.live, { id }),
        environments.updateEnvironment(w.live, { id, is_default: true }),
      ]),
    );
    for (const result of results)
      if (result.status === 'rejected') assert.match(String(result.reason.type), /^(not_found|validation_error)$/, String(result.reason));
    assert.equal((await environments.listEnvironments(w.live)).filter((r) => r.is_default).length, 1);
  }
});

test('renaming and deleting one environment at once ends with not_found for whoever came late', async () => {
  const w = await workspace();
  const { id } = await environments.createEnvironment(w.live, { name: 'gone' });
  const results = await Promise.allSettled(
    Array.from({ length: 6 }, (_, i) =>
      i % 2 === 0 ? environments.deleteEnvironment(w.live, { id }) : environments.updateEnvironment(w.live, { id, name: `new-${i}` }),
    ),
  );
  for (const result of results) if (result.status === 'rejected') assert.equal(result.reason.type, 'not_found', String(result.reason));
});

test('a route that begins to serve an environment keeps its name through a rename and its row from a deletion beside it', async () => {
  const w = await workspace();
  for (let round = 0; round < 4; round++) {
    const { id, name } = await environments.createEnvironment(w.live, { name: `stage-${round}` });
    const route = await createRoute(w.live, { name: `r${round}`, target_base_url: 'https://example.com' });
    const [put] = await Promise.allSettled([
      putRouteEnvironment(w.live, { id: route.id, env: name, target_base_url: 'https://stage.example.com' }),
      round % 2 === 0
        ? environments.updateEnvironment(w.live, { id, name: `renamed-${round}` })
        : environments.deleteEnvironment(w.live, { id }).catch((e: { type?: string }) => assert.equal(e.type, 'in_use')),
    ]);
    if (put.status === 'rejected') assert.equal(put.reason.type, 'not_found', String(put.reason));
    const stale = await db()
      .$queryRaw`select c.environment_name from route_environment_configs c join environments e on e.id = c.environment_id
      where c.tenant_id = ${w.tenant.id}::uuid and c.environment_name <> e.name`;
    assert.deepEqual(stale, []);
  }
});

test('the default environment is neither deleted nor unmarked', async () => {
  const w = await workspace();
  const [production] = await environments.listEnvironments(w.live);
  await assert.rejects(environments.deleteEnvironment(w.live, { id: production!.id }), { type: 'validation_error' });
  await assert.rejects(environments.updateEnvironment(w.live, { id: production!.id, is_default: false }), { type: 'validation_error' });
});

test('an environment of the other space or of another workspace does not exist', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const [mine] = await environments.listEnvironments(w.live);
  for (const ctx of [w.test, other.live, other.test]) {
    await assert.rejects(get.run(ctx, { id: mine!.id }), { type: 'not_found' });
    await assert.rejects(environments.updateEnvironment(ctx, { id: mine!.id, color: '#000000' }), { type: 'not_found' });
    await assert.rejects(environments.deleteEnvironment(ctx, { id: mine!.id }), { type: 'not_found' });
  }
});

test('a deleted environment is expected by no collection any more, and the trail says by which it was', async () => {
  const w = await workspace();
  const { id } = await environments.createEnvironment(w.live, { name: 'old' });
  const pay = await createCollection(w.live, { name: 'Pay' });
  const other = await createCollection(w.live, { name: 'Other' });
  const both = ['production', 'old'];
  const where = (name: string) => ({ environment_name: name, base_url: null, default_client_ids: [] });
  await putDefaults(w.live, { id: pay.id, expected_environments: both, environments: both.map(where) });
  await putDefaults(w.live, { id: other.id, expected_environments: ['production'], environments: [] });
  const before = await getCollection(w.live, { id: other.id });
  await environments.deleteEnvironment(w.live, { id });
  assert.deepEqual((await getCollection(w.live, { id: pay.id })).expected_environments, ['production']);
  const left = await db().collection_environment_defaults.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    left.map((row) => row.environment_name),
    ['production'],
  );
  assert.deepEqual((await getCollection(w.live, { id: other.id })).updated_at, before.updated_at);
  const [entry] = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'delete' } });
  assert.deepEqual((entry!.details as { expected_by?: unknown }).expected_by, ['Pay']);
  // Saved again as it reads, the collection is accepted.
  await putDefaults(w.live, { id: pay.id, expected_environments: ['production'], environments: [where('production')] });
});

test('an edit that began while another environment was the default does not take the mark back unseen', async () => {
  const w = await workspace();
  const later = { ...w.live, now: new Date(Date.now() + 1_000) };
  const [production] = await environments.listEnvironments(w.live);
  await environments.createEnvironment(later, { name: 'new', is_default: true });
  const after = await get.run(w.live, { id: production!.id });
  assert.deepEqual([after.is_default, after.updated_at], [false, later.now]);
});

test('a taken name is a conflict; the same name in the other space is not', async () => {
  const w = await workspace();
  await environments.createEnvironment(w.live, { name: 'staging' });
  await assert.rejects(environments.createEnvironment(w.live, { name: 'staging' }), { type: 'conflict' });
  await environments.createEnvironment(w.test, { name: 'staging' });
});

test('a plan limit holds against parallel creates', async () => {
  const w = await workspace({ plan: 'free' });
  const results = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => environments.createEnvironment(w.live, { name: `e${i}` })));
  assert.equal(results.filter((r) => r.status === 'fulfilled').length, 2, 'free allows 3, production counts');
  const refused = results.find((r) => r.status === 'rejected');
  assert.equal((refused as PromiseRejectedResult).reason.status, 403);
});

test('every change leaves one audit entry, a refused change none', async () => {
  const w = await workspace();
  const row = await environments.createEnvironment(w.live, { name: 'staging' });
  await environments.updateEnvironment(w.live, { id: row.id, display_name: 'Stage' });
  await environments.deleteEnvironment(w.live, { id: row.id });
  await assert.rejects(environments.deleteEnvironment(w.live, { id: row.id }), { type: 'not_found' });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    entries.map((e) => e.action),
    ['create', 'update', 'delete'],
  );
  assert.equal((entries[1]!.details as { sandbox: boolean }).sandbox, false);
});

test('row-level security hides foreign rows even from a query that forgot its scope', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const { read } = await import('#server/kernel/database.ts');
  const seen = await read(w.live, (tx) => tx.environments.findMany());
  assert.deepEqual([...new Set(seen.map((r) => `${r.tenant_id}:${r.sandbox}`))], [`${w.tenant.id}:false`]);
  await assert.rejects(
    read(w.live, (tx) =>
      tx.environments.create({
        data: { id: crypto.randomUUID(), tenant_id: other.tenant.id, sandbox: false, name: 'x', display_name: 'x' },
      }),
    ),
  );
});
