import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { nameSecretById } from './secret-ids.ts';

await testDatabase();

test('routes that name a secret name it by id wherever they do, and nothing else about them changes', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'secrets.create', { name: 'KEY', value: 'v' });
  const other = await made(w.live, 'secrets.create', { name: 'KEY_2', value: 'v' });
  await made(w.live, 'environments.create', { name: 'staging' });
  const ref = `{{secret_id:${id}}}`;
  const route = await made(w.live, 'routes.create', {
    name: 'r',
    target_base_url: 'http://127.0.0.1:9',
    inject_headers_json: {
      Authorization: 'Bearer {{ secret:KEY }}',
      'X-Other': '{{secret:KEY_2}} {{route.name}} {{unknown:x}}',
      'X-Gone': null,
    },
    inject_query_json: { a: `{{secret:KEY}}-${ref}` },
    inject_body_json: { deep: [{ k: '{{secret:KEY}}', KEY: 7 }] },
    method_configs: [{ method: 'POST', inject_headers_json: { A: '{{secret:KEY}}' } }],
  });
  await made(w.live, 'routes.environments.put', { id: route.id, env: 'staging', inject_headers_json: { B: 'x{{secret:KEY}}y' } });
  const untouched = await made(w.live, 'routes.create', {
    name: 'u',
    target_base_url: 'http://127.0.0.1:9',
    inject_headers_json: { A: '{{secret:KEY_2}}' },
  });
  const versions = async () =>
    (await db().routes.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { name: 'asc' } })).map((r) => Number(r.config_version));
  const [before = 0, asBefore] = await versions();

  assert.deepEqual(await nameSecretById(w.member('editor'), { id }), { routes: [{ id: route.id, name: 'r' }] });
  const detail = await made(w.live, 'routes.get', { id: route.id });
  assert.deepEqual(detail.inject_headers_json, {
    Authorization: `Bearer ${ref}`,
    'X-Other': '{{secret:KEY_2}} {{route.name}} {{unknown:x}}',
    'X-Gone': null,
  });
  assert.deepEqual(detail.inject_query_json, { a: `${ref}-${ref}` });
  assert.deepEqual(detail.inject_body_json, { deep: [{ k: ref, KEY: 7 }] });
  assert.deepEqual(detail.method_configs[0].inject_headers_json, { A: ref });
  const staging = (await made(w.live, 'routes.environments.list', { id: route.id })).find(
    (e: { environment_name: string }) => e.environment_name === 'staging',
  );
  assert.deepEqual(staging.inject_headers_json, { B: `x${ref}y` });
  assert.deepEqual(await versions(), [before + 1, asBefore]);

  const { references } = await made(w.live, 'secrets.usage', { id });
  assert.deepEqual([...new Set(references.map((r: { by: string }) => r.by))], ['id']);
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, actor_type: 'user' },
    orderBy: { seq: 'asc' },
    select: { resource_type: true, resource_id: true, details: true },
  });
  assert.deepEqual(
    entries.map((e) => [e.resource_type, e.resource_id, (e.details as { change: string }).change]),
    [
      ['route', route.id, 'secret_by_id'],
      ['environment_config', route.id, 'secret_by_id'],
    ],
  );
  // The rename that this is for breaks nothing and warns of nothing; a second time there is nothing to do.
  const renamed = { ...w.live, warnings: [] as string[] };
  await made(renamed, 'secrets.update', { id, name: 'RENAMED' });
  assert.deepEqual(renamed.warnings, []);
  assert.deepEqual(await nameSecretById(w.live, { id }), { routes: [] });
  assert.equal((await made(w.live, 'secrets.usage', { id: other.id })).references.length, 2);
  assert.equal(untouched.name, 'u');
});

test('a placeholder that is broken already does not stop the others, and stays for whoever mends it', async () => {
  const w = await workspace();
  const [a, b] = [
    await made(w.live, 'secrets.create', { name: 'A', value: 'v' }),
    await made(w.live, 'secrets.create', { name: 'B', value: 'v' }),
  ];
  const inject_headers_json = { 'X-A': '{{secret:A}}', 'X-B': '{{secret:B}}' };
  const route = await made(w.live, 'routes.create', { name: 'r', target_base_url: 'http://127.0.0.1:9', inject_headers_json });
  await made(w.live, 'secrets.update', { id: b.id, name: 'B2' });
  await nameSecretById(w.live, { id: a.id });
  const detail = await made(w.live, 'routes.get', { id: route.id });
  assert.deepEqual(detail.inject_headers_json, { 'X-A': `{{secret_id:${a.id}}}`, 'X-B': '{{secret:B}}' });
});

test('a secret of the other space or of another workspace does not exist here either', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'secrets.create', { name: 'KEY', value: 'v' });
  for (const ctx of [w.test, (await workspace()).live]) await assert.rejects(nameSecretById(ctx, { id }), { type: 'not_found' });
});
