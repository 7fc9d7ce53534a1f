import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as ops from './operations.ts';

await testDatabase();

/** More than the parameters one statement may have. */
const ROUTES = 33_000;

test('an environment of tens of thousands of routes can be duplicated', async () => {
  const { live, tenant } = await workspace();
  const { id } = await db().environments.findFirstOrThrow({ where: { tenant_id: tenant.id, sandbox: false } });
  await db().$transaction(async (tx) => {
    // Their search documents would cost more than all the rest.
    await tx.$executeRaw`set local session_replication_role = replica`;
    await tx.$executeRaw`insert into routes (id, tenant_id, sandbox, name, base_environment_id, updated_at)
      select gen_random_uuid(), ${tenant.id}::uuid, false, 'route ' || n, ${id}::uuid, now() from generate_series(1, ${ROUTES}::int) n`;
    await tx.$executeRaw`insert into route_environment_configs
        (id, tenant_id, sandbox, route_id, environment_id, environment_name, is_base, target_base_url, updated_at)
      select gen_random_uuid(), tenant_id, sandbox, id, ${id}::uuid, 'production', true, 'http://127.0.0.1:9', now()
      from routes where tenant_id = ${tenant.id}::uuid`;
  });
  const { output } = await execute(ops.duplicate, live, { id, name: 'copy' });
  assert.deepEqual((output as { copied: unknown }).copied, { routes: ROUTES, assignments: 0 });
  assert.equal(await db().route_environment_configs.count({ where: { tenant_id: tenant.id, environment_name: 'copy' } }), ROUTES);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: tenant.id, resource_type: 'environment_config' } }), ROUTES);
});
