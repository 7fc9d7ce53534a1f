import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';

// What a stranger sees of /v1/routes that the verbs alone do not show.

await testDatabase();
const w = await workspace();
const { text: key } = await w.key('live');
const target_base_url = 'https://api.example.com';
const create = (body: object) => call('POST', '/routes', { key, body });

test('a PUT of an environment is 201 when it made the row and 200 ever after, also when it changes nothing', async () => {
  const { body } = await create({ name: 'put', target_base_url });
  await call('POST', '/environments', { key, body: { name: 'staging' } });
  const put = (fields: object, env = 'staging') => call('PUT', `/routes/${body.data.id}/environments/${env}`, { key, body: fields });
  const made = await put({});
  assert.deepEqual([made.status, made.body.data.overridden_fields, 'created' in made.body.data], [201, [], false]);
  assert.equal((await put({})).status, 200, 'nothing changed and nothing was made');
  assert.equal((await put({ timeout_ms: 500 })).status, 200);
  assert.equal((await put({}, 'production')).status, 200, 'the base was there before');
  assert.equal((await call('DELETE', `/routes/${body.data.id}/environments/staging`, { key })).status, 200);
  assert.equal((await put({})).status, 201, 'made again after it was removed');
});

test('slug and id name the same route on every path, and a HEAD answers as its GET', async () => {
  const { body } = await create({ name: 'By slug', target_base_url });
  const { id, slug } = body.data;
  for (const path of ['', '/environments', '/environments/production/clients', '/logs']) {
    const [byId, bySlug] = [await call('GET', `/routes/${id}${path}`, { key }), await call('GET', `/routes/${slug}${path}`, { key })];
    assert.deepEqual([bySlug.status, bySlug.body.data], [200, byId.body.data], path);
    assert.equal((await call('HEAD', `/routes/${slug}${path}`, { key })).status, 200);
  }
  assert.equal((await call('PATCH', `/routes/${slug}`, { key, body: { timeout_ms: 500 } })).body.data.id, id);
  assert.deepEqual((await call('DELETE', `/routes/${slug}`, { key })).body.data, { deleted: true });
  assert.equal((await call('GET', `/routes/${id}`, { key })).status, 404);
  assert.equal((await create({ name: 'By slug', slug, target_base_url })).status, 201, 'name and slug are free again');
});

test('numbers that are not finite, and values of the wrong kind, are refused by field name', async () => {
  const raw = (fields: string) => call('POST', '/routes', { key, raw: `{"name":"n","target_base_url":"${target_base_url}",${fields}}` });
  for (const [fields, field] of [
    ['"timeout_ms":1e999', 'timeout_ms'],
    ['"inject_body_json":{"a":[1e999]}', 'inject_body_json'],
    ['"payload_structure":{"a":-1e999}', 'payload_structure'],
    ['"rate_limit_requests":1.5', 'rate_limit_requests'],
    ['"enabled":"true"', 'enabled'],
    ['"enabled":null', 'enabled'],
    ['"inject_headers_json":{"X-A":1}', 'inject_headers_json'],
    ['"allowed_methods":["TRACE"]', 'allowed_methods'],
    ['"ip_allowlist":["10.0.0.256"]', 'ip_allowlist'],
    ['"ip_allowlist":["0.0.0.0/0"]', 'ip_allowlist'],
  ] as const) {
    const { status, body } = await raw(fields);
    assert.deepEqual(
      [status, body.error.type, body.error.message.startsWith(field)],
      [400, 'validation_error', true],
      `${fields}: ${body.error.message}`,
    );
  }
  assert.equal(await db().routes.count({ where: { tenant_id: w.tenant.id, name: 'n' } }), 0);
});

test('the list has the shape of the interface, and a filter that is no boolean is refused', async () => {
  await create({
    name: 'listed',
    target_base_url,
    allowed_methods: ['get', 'GET', 'POST'],
    rate_limit_enabled: true,
    rate_limit_requests: 3,
    rate_limit_window_sec: 60,
  });
  const list = await call('GET', '/routes?q=listed', { key });
  const { id, created_at, ...item } = list.body.data[0];
  assert.deepEqual(item, {
    name: 'listed',
    slug: 'listed',
    target_base_url,
    base_environment: 'production',
    enabled: true,
    requires_clients: false,
    collection_id: null,
    environment_override_count: 0,
    require_signature: false,
    rate_limit_enabled: true,
    rate_limit_requests: 3,
    rate_limit_window_sec: 60,
    allowed_methods: ['GET', 'POST'],
  });
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(Object.keys(list.body.meta), ['total', 'page', 'per_page', 'total_pages', 'request_id']);
  for (const query of ['enabled=yes', 'enabled=', 'sort=slug', 'order=up', 'collection_id=x'])
    assert.equal((await call('GET', `/routes?${query}`, { key })).body.error?.type, 'validation_error', query);
  for (const query of ['enabled=1', 'enabled=true', 'enabled=0', 'environment=nowhere'])
    assert.equal((await call('GET', `/routes?${query}`, { key })).status, 200, query);
});
