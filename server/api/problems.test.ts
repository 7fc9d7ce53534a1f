import assert from 'node:assert/strict';
import test from 'node:test';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { samples } from '#server/testing/samples.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();
const w = await workspace();
const { text: key } = await w.key('live');

async function refusal(method: string, path: string, body: unknown): Promise<string> {
  const answer = await call(method, path, { key, body });
  assert.deepEqual([answer.status, answer.body.error?.type], [400, 'validation_error'], answer.text);
  return answer.body.error.message;
}

test('an error inside an array names the element', async () => {
  const route = { name: 'r', target_base_url: 'http://127.0.0.1:9' };
  const refused = (field: object) => refusal('POST', '/routes', { ...route, ...field });
  assert.equal(await refused({ method_configs: [{ method: 'GET', timeout_ms: 'x' }] }), 'method_configs.0.timeout_ms: must be a number');
  assert.match(
    await refused({ method_configs: [{ method: 'GET' }, { method: 'POST', timeout_ms: 1 }] }),
    /^method_configs\.1\.timeout_ms: must/,
  );
  assert.match(
    await refused({ method_configs: { GET: { timeout_ms: 1 } } }),
    /^method_configs\.(?:GET|0)\.timeout_ms: must be at least 100/,
  );
  assert.match(await refused({ method_configs: 'x' }), /^method_configs: must be an array or an object/);
  assert.match(await refused({ allowed_methods: ['GET', 'BREW'] }), /^allowed_methods\.1: must be one of GET/);
  assert.match(await refused({ ip_allowlist: ['10.0.0.0/8', 'nowhere'] }), /^ip_allowlist\.1: /);

  const apiKey = (field: object) => refusal('POST', '/api-keys', { name: 'k', ...field });
  assert.match(await apiKey({ ip_allowlist: ['10.0.0.1', '10.0.0.1 10.0.0.2'] }), /^ip_allowlist\.1: /);
  assert.match(await apiKey({ key_type: 'access_key', scopes: ['routes:read', 'x'] }), /^scopes\.1: unknown scope/);
  assert.match(await apiKey({ role_ids: ['x'] }), /^role_ids\.0: must be a UUID/);

  const secret = (field: object) => refusal('POST', '/secrets', { name: 'S', value: 'v', ...field });
  assert.match(await secret({ allowed_hosts: ['api.example.com', 'https://x'] }), /^allowed_hosts\.1: /);
  assert.match(await secret({ tags: ['fine', '#'] }), /^tags\.1: /);

  const { id } = await made(w.live, 'collections.create', await samples['collections.create']?.(w.live));
  const defaults = (body: object) => refusal('PUT', `/collections/${id}/environment-defaults`, body);
  assert.match(await defaults({ expected_environments: ['production', 'nowhere'] }), /^expected_environments\.1: nowhere is not/);
  const production = { environment_name: 'production', default_client_ids: [crypto.randomUUID()] };
  assert.match(
    await defaults({ expected_environments: [], environments: [production] }),
    /^environments\.0\.default_client_ids\.0: is not a client/,
  );
});

test('an empty label of a credential means none', async () => {
  const { id } = await made(w.live, 'clients.create', await samples['clients.create']?.(w.live));
  const body = { kind: 'ip', data: { value: '203.0.113.9' }, label: '' };
  const created = await call('POST', `/clients/${id}/credentials`, { key, body });
  assert.deepEqual([created.status, created.body.data.label], [201, null]);
  const path = `/clients/${id}/credentials/${created.body.data.id}`;
  assert.equal((await call('PATCH', path, { key, body: { label: ' office ' } })).body.data.label, 'office');
  assert.equal((await call('PATCH', path, { key, body: { label: '  ' } })).body.data.label, null);
});
