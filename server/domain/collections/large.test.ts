import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as ops from './operations.ts';

await testDatabase();

const MEMBERS = 6_000;

test('a collection of thousands can be deleted, and each member tells it in its own trail, in order', async () => {
  const { live, tenant } = await workspace();
  const { id } = (await execute(ops.create, live, { name: 'everyone' })).output as { id: string };
  await db().$executeRaw`insert into clients (id, tenant_id, sandbox, name, ip_address, collection_id, updated_at)
    select gen_random_uuid(), ${tenant.id}::uuid, false, 'worker ' || n, '192.0.2.1', ${id}::uuid, now() from generate_series(1, ${MEMBERS}::int) n`;
  await execute(ops.delete, live, { id });
  assert.equal(await db().clients.count({ where: { tenant_id: tenant.id, collection_id: null } }), MEMBERS);
  const told = { tenant_id: tenant.id, action: 'update', resource_type: 'client' };
  const trail = await db().audit_logs.findMany({
    where: told,
    select: { seq: true, resource_id: true, details: true },
    orderBy: { seq: 'asc' },
  });
  assert.equal(new Set(trail.map((one) => one.resource_id)).size, MEMBERS);
  const last = trail.at(-1)?.details as { changes: unknown } | undefined;
  assert.deepEqual(last?.changes, [{ field: 'collection_id', from: id, to: null }]);
  const [summary] = await db().audit_logs.findMany({ where: { tenant_id: tenant.id, resource_id: id, action: 'delete' } });
  assert.ok(summary && trail[0] && summary.seq < trail[0].seq, 'what was done stands before what followed from it');
});
