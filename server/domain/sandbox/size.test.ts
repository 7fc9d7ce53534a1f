import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';

// A plan is worked out in the process that serves everybody's dashboard: it must cost what it tells of, whatever a workspace has piled up.

await testDatabase();
const plan = (w: Workspace) => made(w.ctx('test', memberActor('owner')), 'sandbox.promote', { items: 'all', dry_run: true });

/** Routes with a long body full of placeholders in the base, in both spaces. */
async function piled(w: Workspace, routes: number) {
  for (const space of ['test', 'live'] as const) {
    await made(w[space], 'secrets.create', { name: 'KEY', value: 'v' });
    const body = Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`field_${i}`, `${space}${'x'.repeat(400)}{{secret:KEY}}`]));
    for (let i = 0; i < routes; i++)
      await made(w[space], 'routes.create', {
        name: `r${i}`,
        target_base_url: 'http://127.0.0.1:9',
        inject_body_json: body,
        enabled: false,
      });
  }
}

/** Environments of both spaces that inherit all of it. */
async function inheriting(w: Workspace, from: number, to: number) {
  await sql().query(
    `insert into environments (id, tenant_id, sandbox, name, display_name, color, is_default, created_at, updated_at)
     select gen_random_uuid(), $1, s, 'e' || n, 'E', '#123456', false, now(), now() from generate_series($2::int, $3::int) n, unnest(array[true, false]) s`,
    [w.tenant.id, from, to],
  );
  await sql().query(
    `insert into route_environment_configs (id, tenant_id, sandbox, route_id, environment_id, environment_name, is_base, overridden_fields, allowed_methods, ip_allowlist, created_at, updated_at)
     select gen_random_uuid(), r.tenant_id, r.sandbox, r.id, e.id, e.name, false, '{}', '{}', '{}', now(), now()
     from routes r join environments e on e.tenant_id = r.tenant_id and e.sandbox = r.sandbox and not e.is_default where r.tenant_id = $1
     on conflict (route_id, environment_id) do nothing`,
    [w.tenant.id],
  );
}

const w = await workspace();
await piled(w, 20);

test('what environments inherit is told once with their names', async () => {
  await inheriting(w, 1, 150);
  const answer = await plan(w);
  const { changes } = answer.items.find((item: { type: string }) => item.type === 'route');
  assert.deepEqual(
    changes.map((c: { environment: string; field: string; also_in?: string[] }) => [c.environment, c.field, c.also_in?.length]),
    [['production', 'inject_body_json', 150]],
  );
  assert.ok(JSON.stringify(answer).length < 4_000_000, `${JSON.stringify(answer).length} bytes`);
});

test('more configurations than one call can look at are refused before they are read', async () => {
  await inheriting(w, 151, 550);
  await assert.rejects(plan(w), { type: 'validation_error', message: /more than 10,000 configurations/ });
});
