import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { acrossSpaces } from './across-spaces.ts';
import { type AuditEntry, audited, unchanged } from './mutate.ts';

// The only transaction that meets both spaces: what it can see and write at any moment is one of them, or none.

await testDatabase();
const entry: AuditEntry = { action: 'update', resource_type: 'sandbox', resource_id: null };

async function peopled(): Promise<Workspace> {
  const w = await workspace();
  for (const space of ['live', 'test'] as const) await made(w[space], 'collections.create', { name: `in ${space}` });
  return w;
}

test('each space is seen alone, without a word of it in the query, and neither is seen between', async () => {
  await peopled(); // a stranger's rows, which are in none of the answers
  const w = await peopled();
  await acrossSpaces(w.live, async (within, tx) => {
    const names = async () => (await tx.collections.findMany()).map((row) => row.name);
    assert.deepEqual(await names(), []);
    assert.deepEqual(await within(true, async (inside) => unchanged((await inside.collections.findMany()).map((row) => row.name))), [
      'in test',
    ]);
    assert.deepEqual(await names(), []);
    assert.deepEqual(await within(false, async (inside) => unchanged((await inside.collections.findMany()).map((row) => row.name))), [
      'in live',
    ]);
    assert.deepEqual(await names(), []);
    assert.deepEqual(await tx.tenants.findMany({ select: { id: true } }), [{ id: w.tenant.id }]);
  });
});

test('a row of the other space, or of another workspace, can be neither written nor changed nor deleted', async () => {
  const [w, other] = [await peopled(), await peopled()];
  const row = { id: crypto.randomUUID(), name: 'smuggled', slug: 'smuggled' };
  for (const place of [
    { tenant_id: w.tenant.id, sandbox: false },
    { tenant_id: other.tenant.id, sandbox: true },
  ])
    await assert.rejects(
      acrossSpaces(w.live, (within) =>
        within(true, async (tx) => audited(await tx.collections.create({ data: { ...row, ...place } }), entry)),
      ),
      /row-level security/,
    );
  await acrossSpaces(w.live, (within) =>
    within(true, async (tx) => {
      await tx.collections.updateMany({ data: { description: 'mine now' } });
      await tx.collections.deleteMany({ where: { name: { not: 'in test' } } });
      return audited(undefined, entry);
    }),
  );
  const changed = await db().collections.findMany({ where: { description: 'mine now' } });
  assert.deepEqual(
    changed.map((c) => [c.tenant_id, c.sandbox]),
    [[w.tenant.id, true]],
  );
  assert.equal(await db().collections.count({ where: { tenant_id: { in: [w.tenant.id, other.tenant.id] } } }), 4);
});

test('two works at once are refused, a failure in one space undoes the other, and each entry stands where its work was', async () => {
  const w = await peopled();
  await assert.rejects(
    acrossSpaces(w.live, (within) => Promise.all([within(true, async () => unchanged(1)), within(false, async () => unchanged(2))])),
    /two spaces of one transaction at the same time/,
  );
  const before = await db().audit_logs.count({ where: { tenant_id: w.tenant.id } });
  await assert.rejects(
    acrossSpaces(w.live, async (within) => {
      await within(true, async (tx) => audited(await tx.collections.deleteMany(), entry));
      await within(false, async () => {
        throw new Error('halfway');
      });
    }),
    /halfway/,
  );
  assert.equal(await db().collections.count({ where: { tenant_id: w.tenant.id } }), 2);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), before);
  const ctx = { ...w.live };
  await acrossSpaces(ctx, async (within) => {
    await within(true, async () => audited(undefined, { ...entry, name: 'there' }));
    await within(false, async () => unchanged(undefined));
  });
  const written = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'update' } });
  assert.deepEqual(
    written.map((e) => e.sandbox),
    [true],
  );
  assert.deepEqual(ctx.changed, ['test'], 'only what changed is announced');
});
