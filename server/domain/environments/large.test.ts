import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { execute } from '#server/api/perform.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as ops from './operations.ts';

await testDatabase();

/** The most parameters that a statement had while `work` was done: PostgreSQL takes 65,535 of them, and the database client 32,767. */
async function mostParameters(work: () => Promise<unknown>): Promise<number> {
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  let most = 0;
  pg.Client.prototype.query = function (this: pg.Client, first: { values?: unknown[] } | string, values?: unknown, ...rest: unknown[]) {
    const bound = Array.isArray(values) ? values : typeof first === 'object' ? first.values : undefined;
    most = Math.max(most, bound?.length ?? 0);
    return query.call(this, first, values, ...rest);
  } as typeof pg.Client.prototype.query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query as typeof pg.Client.prototype.query;
  }
  return most;
}

test('an environment of any number of routes can be duplicated: no statement has more parameters for more of them', async () => {
  const { live, tenant } = await workspace();
  const { id } = await db().environments.findFirstOrThrow({ where: { tenant_id: tenant.id, sandbox: false } });
  const add = (from: number, to: number) => db().$executeRaw`
    with made as (insert into routes (id, tenant_id, sandbox, name, base_environment_id, updated_at)
      select gen_random_uuid(), ${tenant.id}::uuid, false, 'route ' || n, ${id}::uuid, now() from generate_series(${from}::int, ${to}::int) n returning id)
    insert into route_environment_configs
      (id, tenant_id, sandbox, route_id, environment_id, environment_name, is_base, target_base_url, updated_at)
    select gen_random_uuid(), ${tenant.id}::uuid, false, made.id, ${id}::uuid, 'production', true, 'http://127.0.0.1:9', now() from made`;
  const parameters = [];
  for (const [name, from, routes] of [
    ['small', 1, 2],
    ['large', 3, 300],
  ] as const) {
    await add(from, routes);
    parameters.push(
      await mostParameters(async () => {
        const { output } = await execute(ops.duplicate, live, { id, name });
        assert.deepEqual((output as { copied: unknown }).copied, { routes, assignments: 0 });
      }),
    );
    assert.equal(await db().route_environment_configs.count({ where: { tenant_id: tenant.id, environment_name: name } }), routes);
  }
  assert.equal(await db().audit_logs.count({ where: { tenant_id: tenant.id, resource_type: 'environment_config' } }), 302);
  assert.ok((parameters[0] ?? 0) > 5, 'statements were seen');
  assert.equal(parameters[1], parameters[0]);
});
