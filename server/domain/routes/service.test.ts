import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import * as collections from '#server/domain/collections/service.ts';
import { deleteCryptoKey } from '#server/domain/crypto-keys/service.ts';
import * as stages from '#server/domain/environments/service.ts';
import * as vault from '#server/domain/secrets/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { storedKey } from '#server/testing/stored-keys.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as ops from './operations.ts';

await testDatabase({ SVC_TEST_MODE: '1', SVC_EGRESS_TEST_HOSTS: 'api.upstream.test:443=127.0.0.1,eu.upstream.test:443=127.0.0.1' });

const TARGET = 'https://api.upstream.test/v1';
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
const call = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<any> => (await execute(op, ctx, input)).output;
const create = (ctx: Ctx, input: Record<string, unknown> = {}) =>
  call(ops.create, ctx, { name: 'Payments', target_base_url: TARGET, ...input });
const secret = (ctx: Ctx, name: string, secret_type = 'string') =>
  db().secrets.create({ data: { id: newId(), tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, name, shortcode_name: name, secret_type } });
// biome-ignore lint/suspicious/noExplicitAny: details are an open object
type Entry = { action: string; resource_type: string; details: any };
const auditOf = (ctx: Ctx): Promise<Entry[]> =>
  db().audit_logs.findMany({
    where: { tenant_id: ctx.tenant_id, resource_type: { in: ['route', 'environment_config'] } },
    orderBy: { seq: 'asc' },
    select: { action: true, resource_type: true, details: true },
  });

test('a route is created from a name and a target alone, with every default shown', async () => {
  const { live } = await workspace();
  const made = await create(live, { name: '  My First API!  ' });
  assert.deepEqual(
    [made.name, made.slug, made.base_environment, made.enabled, made.requires_clients, made.target_base_url],
    ['My First API!', 'my-first-api', 'production', true, false, TARGET],
  );
  const detail = await call(ops.get, live, { id: 'my-first-api' });
  assert.equal(detail.id, made.id);
  assert.deepEqual(
    [detail.timeout_ms, detail.body_placeholders, detail.injection_rules, detail.allowed_methods],
    [30_000, 'same_collection', [], null],
  );
  assert.deepEqual(detail.configured_environments, ['production']);
  const listed = (await execute(ops.list, live, {})) as { output: Record<string, unknown>[]; result: { total: number } };
  assert.equal(listed.result.total, 1);
  assert.deepEqual(
    Object.keys(listed.output[0] ?? {}).sort(),
    'allowed_methods base_environment collection_id created_at enabled environment_override_count id name rate_limit_enabled rate_limit_requests rate_limit_window_sec require_signature requires_clients slug target_base_url'.split(
      ' ',
    ),
  );
});

test('names and slugs are unique in a space, derived slugs count up, and the other space is separate', async () => {
  const w = await workspace();
  await create(w.live);
  await assert.rejects(create(w.live), { type: 'conflict' });
  await create(w.test);
  assert.equal((await create(w.live, { name: 'Payments!' })).slug, 'payments-2');
  assert.equal((await create(w.live, { name: 'payments?' })).slug, 'payments-3');
  await assert.rejects(create(w.live, { name: 'x', slug: 'payments-2' }), { type: 'conflict' });
  assert.equal((await create(w.live, { name: 'none', slug: null })).slug, null);
  assert.equal((await create(w.live, { name: 'API' })).slug, null, 'a reserved word is not derived');
  assert.equal((await create(w.live, { name: '日本' })).slug, null);
});

test('a slug is written once, never reserved, never like an id', async () => {
  const { live } = await workspace();
  const { id } = await create(live, { slug: null });
  for (const slug of ['api', '_capture', 'Upper', '-edge', 'edge-', '', 'a'.repeat(64), '0190b7a8-0000-7000-8000-000000000000'])
    await assert.rejects(call(ops.update, live, { id, slug }), { type: 'validation_error' }, slug);
  assert.equal((await call(ops.update, live, { id, slug: 'late' })).slug, 'late');
  assert.equal((await call(ops.update, live, { id, slug: 'late', name: 'Renamed' })).slug, 'late');
  await assert.rejects(call(ops.update, live, { id, slug: 'other' }), { type: 'validation_error' });
  await assert.rejects(call(ops.update, live, { id, slug: null }), { type: 'validation_error' });
  await call(ops.delete, live, { id: 'late' });
  await create(live, { slug: 'late' });
});

test('a target that would leak, loop or reach inside is refused at save', async () => {
  const { live } = await workspace();
  for (const target_base_url of [
    'http://api.upstream.test',
    'https://user:pw@api.upstream.test',
    'https://api.upstream.test/?k=1',
    'https://api.upstream.test:22',
    'https://169.254.169.254/latest',
    'https://10.0.0.1',
    'https://{{secret:HOST}}/x',
    'ftp://api.upstream.test',
    'api.upstream.test',
    'https://localhost:4000/',
    '',
  ])
    await assert.rejects(create(live, { target_base_url }), { type: 'validation_error' }, target_base_url);
  const { id } = await create(live);
  await assert.rejects(call(ops.update, live, { id, target_base_url: 'https://10.0.0.1' }), { type: 'validation_error' });
  await assert.rejects(call(ops.putEnvironment, live, { id, env: 'production', target_base_url: 'https://10.0.0.1' }), {
    type: 'validation_error',
  });
});

test('protection that is not there yet cannot be switched on', async () => {
  const { live } = await workspace();
  for (const field of [{ mtls_certificate_id: newId() }, { upstream_ca_certificate_id: newId() }])
    await assert.rejects(create(live, field), { type: 'validation_error' }, JSON.stringify(field));
  await create(live, { mtls_certificate_id: null });
});

test('upstream authentication: what it refers to is checked, counted as use of the secret, and off where an environment says so', async () => {
  const w = await workspace();
  const { live } = w;
  const secret = await vault.createSecret(live, { name: 'AWS', value: '{}' });
  const foreign = await vault.createSecret(w.test, { name: 'AWS', value: '{}' });
  const aws = { type: 'aws_sigv4', secret_id: secret.id, region: 'us-east-1', service: 's3' } as const;
  const jwt = { type: 'jwt_bearer', algorithm: 'HS256', secret_id: secret.id } as const;
  for (const [auth, message] of [
    [{}, /type/],
    [{ ...aws, type: 'basic' }, /type/],
    [{ ...aws, region: 'US East' }, /region/],
    [{ ...aws, secret_id: foreign.id }, /unknown secret/],
    [{ ...jwt, algorithm: 'none' }, /algorithm/],
    [{ ...jwt, secret_id: undefined }, /either secret_id or key_name/],
    [{ ...jwt, key_name: 'k' }, /either secret_id or key_name/],
    [{ ...jwt, header_name: 'X-Svc-Key' }, /header_name/],
    [{ ...jwt, value_prefix: 'a\r\n' }, /value_prefix/],
    [{ ...jwt, ttl_seconds: 29 }, /ttl_seconds/],
    [{ ...jwt, extra_claims: { exp: 1 } }, /extra_claims/],
    [{ ...jwt, audience: '{{secret:AWS}}' }, /placeholders/],
  ] as const)
    await assert.rejects(create(live, { upstream_auth: auth }), (error: Error) => message.test(error.message), JSON.stringify(auth));
  await assert.rejects(
    create(live, { upstream_auth: aws, inject_headers_json: { authorization: 'x' } }),
    /inject_headers_json sets as well/,
  );
  const { id, name } = await create(live, { upstream_auth: aws, inject_headers_json: { 'X-Amz-Target': 'x' } });
  const shown = async (of = id) => (await call(ops.get, live, { id: of })).upstream_auth;
  assert.deepEqual(await shown(), aws);
  await assert.rejects(
    vault.deleteSecret(live, secret),
    (error: { type: string; message: string }) => error.type === 'in_use' && error.message.includes(name),
  );
  await stages.createEnvironment(live, { name: 'staging' });
  const put = (upstream_auth: unknown) => call(ops.putEnvironment, live, { id, env: 'staging', upstream_auth });
  assert.deepEqual((await put(jwt)).upstream_auth, {
    ...jwt,
    ttl_seconds: 300,
    extra_claims: {},
    header_name: 'Authorization',
    value_prefix: 'Bearer ',
  });
  const off = await put({ type: 'none' });
  assert.deepEqual([off.upstream_auth, off.overridden_fields.includes('upstream_auth')], [null, true]);
  assert.deepEqual((await put(null)).upstream_auth, aws);
  const copy = await call(ops.duplicate, live, { id });
  assert.deepEqual(await shown(copy.route.id), aws);
  for (const one of [id, copy.route.id]) await call(ops.update, live, { id: one, upstream_auth: null });
  assert.equal(await shown(), null);
  await vault.deleteSecret(live, secret);
});

test('upstream authentication with a crypto key: it has to be there, fit, and be one that the writer may sign with', async () => {
  const { live, ctx } = await workspace();
  const { name } = await storedKey(live, { name: 'Partner', key_type: 'ed25519' });
  const auth = (more: object = {}) => ({ upstream_auth: { type: 'jwt_bearer', algorithm: 'EdDSA', key_name: name, ...more } });
  await assert.rejects(create(live, auth({ key_name: 'other' })), /no such key/);
  await assert.rejects(create(live, auth({ algorithm: 'ES256' })), /must be EdDSA/);
  const editor = ctx('live', {
    ...live.actor,
    capabilities: new Set([...live.actor.capabilities].filter((one) => one !== 'transit:sign')),
  } as never);
  await assert.rejects(create(editor, auth()), { type: 'forbidden' });
  const { id } = await create(live, auth());
  assert.equal((await call(ops.get, live, { id })).upstream_auth.key_name, name);
  await db().crypto_keys.updateMany({ where: { name, tenant_id: live.tenant_id }, data: { deletion_allowed: true } });
  await assert.rejects(
    deleteCryptoKey(live, { name }),
    (error: { type: string; message: string }) => error.type === 'in_use' && /route Payments/.test(error.message),
  );
  await call(ops.update, editor, { id, timeout_ms: 1_000 });
});

test('signatures: a scheme without nonces requires none', async () => {
  const { live } = await workspace();
  await assert.rejects(create(live, { signature_scheme: 'concat', signature_require_nonce: true }), /signature_require_nonce/);
  await assert.rejects(create(live, { signature_scheme: 'v2' }), /signature_scheme/);
  const { id } = await create(live, { require_signature: true, signature_scheme: 'rfc9421', signature_require_nonce: true });
  const { require_signature, signature_scheme } = await call(ops.get, live, { id });
  assert.deepEqual([require_signature, signature_scheme], [true, 'rfc9421']);
});

test('legacy and reserved fields take nothing but nothing', async () => {
  const { live } = await workspace();
  await assert.rejects(create(live, { injection_rules: [{ a: 1 }] }), /placeholders/);
  await assert.rejects(create(live, { egress_server_id: 'x' }), { type: 'validation_error' });
  const { id } = await create(live, { injection_rules: [], egress_server_id: null, unknown_field: 1 });
  await call(ops.update, live, { id, injection_rules: [] });
});

test('a PATCH needs a known field, clears what is nullable and refuses null elsewhere', async () => {
  const { live } = await workspace();
  const { id } = await create(live, { rate_limit_enabled: true, rate_limit_requests: 10, rate_limit_window_sec: 60, rate_limit_burst: 20 });
  await assert.rejects(call(ops.update, live, { id }), /no valid fields/i);
  await assert.rejects(call(ops.update, live, { id, nonsense: 1 }), /no valid fields/i);
  await assert.rejects(call(ops.update, live, { id, timeout_ms: null }), { type: 'validation_error' });
  await assert.rejects(call(ops.update, live, { id, rate_limit_requests: null }), { type: 'validation_error' });
  await call(ops.update, live, { id, rate_limit_burst: null });
  await call(ops.update, live, { id, rate_limit_enabled: false, rate_limit_requests: null });
  await assert.rejects(call(ops.update, live, { id, rate_limit_enabled: true }), { type: 'validation_error' });
  await assert.rejects(call(ops.update, live, { id, rate_limit_requests: 10, rate_limit_burst: 101 }), { type: 'validation_error' });
});

test('an override keeps what it names, reverts on null, and shows effective values', async () => {
  const { live } = await workspace();
  await stages.createEnvironment(live, { name: 'staging' });
  const { id } = await create(live, { inject_headers_json: { 'X-A': '1' }, timeout_ms: 5000 });
  const made = await call(ops.putEnvironment, live, {
    id,
    env: 'staging',
    target_base_url: 'https://eu.upstream.test',
    inject_headers_json: { 'X-B': '2' },
  });
  assert.deepEqual(made.overridden_fields, ['target_base_url', 'inject_headers_json']);
  assert.equal(made.timeout_ms, 5000);
  const paused = await call(ops.putEnvironment, live, { id, env: 'staging', enabled: false });
  assert.deepEqual(
    [paused.enabled, paused.target_base_url, paused.overridden_fields],
    [false, 'https://eu.upstream.test', ['enabled', 'target_base_url', 'inject_headers_json']],
  );
  const reverted = await call(ops.putEnvironment, live, { id, env: 'staging', inject_headers_json: null, enabled: null });
  assert.deepEqual(
    [reverted.enabled, reverted.inject_headers_json, reverted.overridden_fields],
    [true, { 'X-A': '1' }, ['target_base_url']],
  );
  await call(ops.update, live, { id, timeout_ms: 700 });
  assert.equal((await call(ops.environments, live, { id }))[1].timeout_ms, 700, 'overrides that inherit see the base at once');
  await assert.rejects(call(ops.putEnvironment, live, { id, env: 'production', target_base_url: null }), { type: 'validation_error' });
  await assert.rejects(call(ops.putEnvironment, live, { id, env: 'nowhere' }), { type: 'not_found' });
  assert.equal((await call(ops.get, live, { id })).environment_override_count, 1);
});

test('pausing one environment leaves the others running', async () => {
  const { live } = await workspace();
  await stages.createEnvironment(live, { name: 'staging' });
  const { id } = await create(live);
  await call(ops.putEnvironment, live, { id, env: 'staging' });
  await call(ops.putEnvironment, live, { id, env: 'production', enabled: false });
  const detail = await call(ops.get, live, { id });
  assert.deepEqual([detail.enabled, ...detail.environments.map((e: { enabled: boolean }) => e.enabled)], [true, false, true]);
});

test('requires_clients reaches every environment, and an empty list of clients is said', async () => {
  const { live } = await workspace();
  await stages.createEnvironment(live, { name: 'staging' });
  const { id } = await create(live);
  await call(ops.putEnvironment, live, { id, env: 'staging', requires_clients: false });
  live.warnings.length = 0;
  await call(ops.update, live, { id, requires_clients: true });
  assert.match(live.warnings.join(), /no client is assigned/);
  const rows = await call(ops.environments, live, { id });
  assert.deepEqual(
    rows.map((r: { requires_clients: boolean }) => r.requires_clients),
    [true, true],
  );
});

test('a method list switches its restriction on and off, and contradictions are refused', async () => {
  const { live } = await workspace();
  await stages.createEnvironment(live, { name: 'staging' });
  const { id } = await create(live, { allowed_methods: ['get', 'POST', 'Get'] });
  const base = await call(ops.get, live, { id });
  assert.deepEqual([base.allowed_methods, base.http_method_restrictions_enabled], [['GET', 'POST'], true]);
  const lifted = await call(ops.putEnvironment, live, { id, env: 'staging', allowed_methods: [] });
  assert.deepEqual([lifted.allowed_methods, lifted.http_method_restrictions_enabled], [null, false]);
  const inherited = await call(ops.putEnvironment, live, { id, env: 'staging', allowed_methods: null });
  assert.deepEqual([inherited.allowed_methods, inherited.overridden_fields], [['GET', 'POST'], []]);
  await call(ops.update, live, { id, allowed_methods: ['GET'], http_method_restrictions_enabled: false });
  assert.equal((await call(ops.list, live, {}))[0].allowed_methods, null);
  await assert.rejects(call(ops.update, live, { id, allowed_methods: null, http_method_restrictions_enabled: true }), {
    type: 'validation_error',
  });
  await assert.rejects(call(ops.update, live, { id, allowed_methods: ['BREW'] }), { type: 'validation_error' });
});

test('method entries come as a list or keyed by method, once each', async () => {
  const { live } = await workspace();
  const { id } = await create(live, { method_configs: { get: { timeout_ms: 100 } } });
  const detail = await call(ops.get, live, { id });
  assert.deepEqual([detail.method_configs, detail.use_method_specific_configs], [[{ timeout_ms: 100, method: 'GET' }], true]);
  await assert.rejects(call(ops.update, live, { id, method_configs: [{ method: 'GET' }, { method: 'get' }] }), /one entry per method/);
  await assert.rejects(call(ops.update, live, { id, method_configs: [{ method: 'POST', rate_limit_enabled: true }] }), {
    type: 'validation_error',
  });
});

test('headers that frame the request or forge the gateway cannot be injected', async () => {
  const { live } = await workspace();
  for (const name of [
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'TE',
    'Proxy-Authorization',
    'X-Svc-Key',
    'Via',
    'bad name',
    '',
    'x\r\ny',
  ])
    await assert.rejects(create(live, { inject_headers_json: { [name]: 'v' } }), { type: 'validation_error' }, name);
  await assert.rejects(create(live, { inject_headers_json: { 'X-A': 'a\r\nX-B: b' } }), { type: 'validation_error' });
  await assert.rejects(create(live, { inject_headers_json: { 'X-A': '1', 'x-a': '2' } }), /only once/);
  await assert.rejects(create(live, { inject_headers_json: { 'X-A': 'v'.repeat(8193) } }), { type: 'validation_error' });
  await assert.rejects(create(live, { inject_headers_json: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, ''])) }), {
    type: 'validation_error',
  });
  await create(live, { inject_headers_json: { Cookie: null, 'X-Trace': '{{request_id}}' } });
});

test('templates are judged at save, and what they use is in use', async () => {
  const w = await workspace();
  const [key, cert] = await Promise.all([
    secret(w.live, 'STRIPE_KEY'),
    secret(w.live, 'CERT', 'certificate'),
    secret(w.test, 'OTHER_SPACE'),
  ]);
  for (const text of [
    '{{secret:NOPE}}',
    '{{secret:stripe_key}}',
    '{{secret:CERT}}',
    `{{secret_id:${cert.id}}}`,
    '{{secret:}}',
    '{{secret_id:1}}',
    '{{secret:OTHER_SPACE}}',
    `{{secret_id:${newId()}}}`,
    '{{var:x}}',
    '{{var:a.b}}',
    '{{secret:STRIPE_KEY',
  ])
    await assert.rejects(create(w.live, { inject_headers_json: { Authorization: text } }), { type: 'validation_error' }, text);
  const { id } = await create(w.live, {
    inject_headers_json: { Authorization: 'Bearer {{secret:STRIPE_KEY}}', 'X-Mustache': '{{#each}}{{name}}' },
    inject_body_json: { deep: [{ key: `{{secret_id:${key.id}}}` }] },
    method_configs: [{ method: 'POST', inject_query_json: { k: '{{secret:STRIPE_KEY}}' } }],
  });
  const refs = await db().secret_references.findMany({ where: { secret_id: key.id }, orderBy: { field_path: 'asc' } });
  assert.deepEqual(
    refs.map((r) => [r.kind, r.referrer_id, r.referrer_env, r.field_path, r.by]),
    [
      ['route_environment', id, 'production', 'inject_body_json.deep[0].key', 'id'],
      ['route_environment', id, 'production', 'inject_headers_json.Authorization', 'name'],
      ['route_environment', id, 'production', 'method_configs.POST.inject_query_json.k', 'name'],
    ],
  );
  await db().secrets.update({ where: { id: key.id }, data: { shortcode_name: 'RENAMED', name: 'RENAMED' } });
  await call(ops.update, w.live, { id, timeout_ms: 1000 });
  await call(ops.update, w.live, { id, inject_headers_json: {}, method_configs: null });
  assert.equal(await db().secret_references.count({ where: { secret_id: key.id } }), 1);
  await call(ops.delete, w.live, { id });
  assert.equal(await db().secret_references.count({ where: { secret_id: key.id } }), 0);
});

test('moving the base changes what no environment does', async () => {
  const { live } = await workspace();
  for (const name of ['staging', 'dev']) await stages.createEnvironment(live, { name });
  const { id } = await create(live, { rate_limit_enabled: true, rate_limit_requests: 10, rate_limit_window_sec: 1, timeout_ms: 900 });
  await call(ops.putEnvironment, live, { id, env: 'staging', target_base_url: 'https://eu.upstream.test', rate_limit_enabled: false });
  await call(ops.putEnvironment, live, { id, env: 'dev', retry_attempts: 2 });
  const settings = async () => {
    const rows = await call(ops.environments, live, { id });
    return Object.fromEntries(
      rows.map(({ environment_name, overridden_fields: _, ...rest }: Record<string, unknown>) => [environment_name, rest]),
    );
  };
  const before = await settings();
  await call(ops.update, live, { id, base_environment: 'staging' });
  assert.deepEqual(await settings(), before);
  assert.equal((await call(ops.get, live, { id })).base_environment, 'staging');
  await assert.rejects(call(ops.update, live, { id, base_environment: 'nowhere' }), { type: 'validation_error' });
  await call(ops.deleteEnvironment, live, { id, env: 'production' });
  await assert.rejects(call(ops.deleteEnvironment, live, { id, env: 'staging' }), { type: 'validation_error' });
  await assert.rejects(call(ops.deleteEnvironment, live, { id, env: 'production' }), { type: 'not_found' });
});

test('clients are assigned as a set to one environment', async () => {
  const w = await workspace();
  const client = (ctx: Ctx, name: string) =>
    db().clients.create({ data: { id: newId(), tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, name, ip_address: '192.0.2.1' } });
  const [a, b, foreign] = await Promise.all([client(w.live, 'a'), client(w.live, 'b'), client(w.test, 'c')]);
  await stages.createEnvironment(w.live, { name: 'staging' });
  const { id } = await create(w.live);
  const set = (client_ids: string[], env = 'production') => call(ops.setClients, w.live, { id, env, client_ids });
  assert.deepEqual(
    (await set([b.id, a.id, a.id])).map((c: { name: string }) => c.name),
    ['a', 'b'],
  );
  assert.deepEqual(
    (await set([b.id])).map((c: { client_id: string }) => c.client_id),
    [b.id],
  );
  await assert.rejects(set([foreign.id]), { type: 'validation_error' });
  await assert.rejects(set([a.id], 'staging'), { type: 'validation_error' });
  await assert.rejects(set([], 'nowhere'), { type: 'not_found' });
  const entry = (await auditOf(w.live)).at(-1);
  assert.deepEqual([entry?.details.assigned, entry?.details.unassigned], [[], [a.id]]);
});

test('the list filters, sorts and searches literally', async () => {
  const { live } = await workspace();
  await stages.createEnvironment(live, { name: 'staging' });
  for (const name of ['b', 'a_1', 'a%2']) await create(live, { name });
  await call(ops.update, live, { id: 'b', enabled: false });
  await call(ops.putEnvironment, live, { id: 'b', env: 'staging' });
  const names = async (query: Record<string, unknown>) => (await call(ops.list, live, query)).map((r: { name: string }) => r.name);
  assert.deepEqual(await names({ sort: 'name', order: 'asc' }), ['a%2', 'a_1', 'b']);
  assert.deepEqual(await names({ enabled: 'false' }), ['b']);
  assert.deepEqual(await names({ environment: 'staging' }), ['b']);
  assert.deepEqual(await names({ q: '_' }), ['a_1']);
  assert.deepEqual(await names({ q: '%' }), ['a%2']);
  assert.deepEqual(await names({ page: 2, per_page: 2, sort: 'name', order: 'asc' }), ['b']);
  await assert.rejects(call(ops.list, live, { sort: 'slug' }), { type: 'validation_error' });
  await assert.rejects(call(ops.list, live, { enabled: 'maybe' }), { type: 'validation_error' });
});

test('a route of the other space or of another workspace does not exist', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const { id } = await create(w.live);
  const { id: collection_id } = await collections.createCollection(other.live, { name: 'c' });
  for (const ctx of [w.test, other.live])
    for (const ref of [id, 'payments']) {
      for (const op of [ops.get, ops.delete, ops.environments, ops.duplicate])
        await assert.rejects(call(op, ctx, { id: ref }), { type: 'not_found' });
      await assert.rejects(call(ops.update, ctx, { id: ref, name: 'x' }), { type: 'not_found' });
      await assert.rejects(call(ops.putEnvironment, ctx, { id: ref, env: 'production' }), { type: 'not_found' });
      await assert.rejects(call(ops.setClients, ctx, { id: ref, env: 'production', client_ids: [] }), { type: 'not_found' });
    }
  await assert.rejects(call(ops.update, w.live, { id, collection_id }), { type: 'validation_error' });
});

test('the trail names what changed and never what is injected', async () => {
  const { live } = await workspace();
  await db().environments.create({
    data: { id: crypto.randomUUID(), tenant_id: live.tenant_id, sandbox: false, name: 'staging', display_name: 'S' },
  });
  const { id } = await create(live, { inject_headers_json: { Authorization: 'Bearer hunter2' } });
  await call(ops.update, live, { id, enabled: false });
  await call(ops.update, live, { id, enabled: true });
  await call(ops.update, live, {
    id,
    enabled: false,
    inject_headers_json: { Authorization: 'Bearer hunter3' },
    inject_body_json: { pw: 'hunter4' },
  });
  await call(ops.putEnvironment, live, { id, env: 'production', inject_query_json: { pw: 'hunter5' } });
  for (const enabled of [false, true, false, null]) await call(ops.putEnvironment, live, { id, env: 'staging', enabled });
  await call(ops.putEnvironment, live, { id, env: 'staging', enabled: false, timeout_ms: 900 });
  await assert.rejects(call(ops.update, live, { id, timeout_ms: 1 }), { type: 'validation_error' });
  await call(ops.delete, live, { id });
  const entries = await auditOf(live);
  assert.deepEqual(
    entries.map((e) => [e.resource_type, e.action]),
    [
      ['route', 'create'],
      ['route', 'disable'],
      ['route', 'enable'],
      ['route', 'update'],
      ['environment_config', 'update'],
      ['environment_config', 'create'],
      ['environment_config', 'enable'],
      ['environment_config', 'disable'],
      ['environment_config', 'enable'],
      ['environment_config', 'update'],
      ['route', 'delete'],
    ],
  );
  assert.deepEqual(entries[3]?.details.changed.sort(), ['enabled', 'inject_body_json', 'inject_headers_json']);
  assert.doesNotMatch(JSON.stringify(entries.map((e) => e.details)), /hunter/, 'values of the inject maps are never written');
});

test('every change moves the configuration version, changes of one route do not lose each other', async () => {
  const { live } = await workspace();
  const { id } = await create(live);
  await Promise.all(
    [{ timeout_ms: 1000 }, { retry_attempts: 3 }, { ip_allowlist: ['203.0.113.9/24', '203.0.113.0/24'] }, { forward_client_ip: true }].map(
      (patch) => call(ops.update, live, { id, ...patch }),
    ),
  );
  const detail = await call(ops.get, live, { id });
  assert.deepEqual(
    [detail.timeout_ms, detail.retry_attempts, detail.ip_allowlist, detail.forward_client_ip],
    [1000, 3, ['203.0.113.0/24'], true],
  );
  const row = await db().routes.findUniqueOrThrow({ where: { id } });
  assert.equal(row.config_version, 5n);
  await assert.rejects(call(ops.update, live, { id, ip_allowlist: ['0.0.0.0/0'] }), { type: 'validation_error' });
});

test('the plan bounds the number of routes, copies included', async () => {
  const w = await workspace({ plan: 'free' });
  const made = await Promise.allSettled(Array.from({ length: 14 }, (_, i) => create(w.live, { name: `r${i}` })));
  assert.equal(made.filter((m) => m.status === 'fulfilled').length, 10);
  const refused = made.find((m) => m.status === 'rejected') as PromiseRejectedResult;
  assert.deepEqual([refused.reason.type, refused.reason.status], ['plan_limit', 402]);
  const [first] = await call(ops.list, w.live, {});
  await assert.rejects(call(ops.duplicate, w.live, { id: first.id }), { type: 'plan_limit' });
});

test('a copy is switched off and carries configurations, assignments and references', async () => {
  const { live } = await workspace();
  await stages.createEnvironment(live, { name: 'staging' });
  const key = await secret(live, 'K');
  const client = await db().clients.create({
    data: { id: newId(), tenant_id: live.tenant_id, sandbox: false, name: 'c', ip_address: '192.0.2.1' },
  });
  const { id } = await create(live, { inject_headers_json: { A: '{{secret:K}}' } });
  await call(ops.putEnvironment, live, { id, env: 'staging', timeout_ms: 100 });
  await call(ops.setClients, live, { id, env: 'staging', client_ids: [client.id] });
  const { route } = await call(ops.duplicate, live, { id });
  assert.deepEqual([route.name, route.slug, route.enabled], ['Payments (copy)', 'payments-copy', false]);
  const again = await call(ops.duplicate, live, { id: 'payments', include_clients: false });
  assert.equal(again.route.name, 'Payments (copy 2)');
  const rows = await call(ops.environments, live, { id: route.id });
  assert.deepEqual(rows[1].overridden_fields, ['timeout_ms']);
  assert.equal((await call(ops.clients, live, { id: route.id, env: 'staging' })).length, 1);
  assert.equal((await call(ops.clients, live, { id: again.route.id, env: 'staging' })).length, 0);
  assert.equal(await db().secret_references.count({ where: { secret_id: key.id } }), 3);
  assert.equal((await auditOf(live)).at(-1)?.details.duplicated_from, id);
});

test('a literal credential in what is injected is saved with a warning that names the field and never the value', async () => {
  const { live } = await workspace();
  await secret(live, 'STRIPE');
  const told = async (save: () => Promise<unknown>) => {
    live.warnings.length = 0;
    await save();
    const text = live.warnings.join('\n');
    assert.doesNotMatch(text, /sk_live|hunter2|dXNlcjpw|ghp_|abcdefgh1/);
    return live.warnings.map((warning) => warning.split(' ')[0]);
  };
  const route = await create(live, { inject_headers_json: { Authorization: 'Bearer {{secret:STRIPE}}' } });
  assert.deepEqual(live.warnings, []);
  const fields = {
    inject_headers_json: { Authorization: 'Bearer sk_live_4eC39HqLyjWDarjtT1zdp7dc', 'X-Team': 'payments', Cookie: null },
    inject_query_json: { api_key: 'abcdefgh1', page: '12345678' },
    inject_body_json: { login: { password: 'hunter2', user: 'u' }, list: ['ghp_abcdefghijklmnopqrstuvwxyz0123'] },
    method_configs: [{ method: 'POST', inject_headers_json: { Authorization: 'Basic dXNlcjpwYXNz' } }],
  };
  const paths = [
    'inject_headers_json.Authorization',
    'inject_query_json.api_key',
    'inject_body_json.login.password',
    'inject_body_json.list[0]',
    'method_configs.POST.inject_headers_json.Authorization',
  ];
  assert.deepEqual(await told(() => create(live, { name: 'Literal', ...fields })), paths);
  assert.deepEqual(await told(() => call(ops.update, live, { id: route.id, ...fields })), paths);
  assert.deepEqual(await told(() => call(ops.update, live, { id: route.id, timeout_ms: 500 })), [], 'what is not written is not repeated');
  await stages.createEnvironment(live, { name: 'staging' } as never);
  const put = () => call(ops.putEnvironment, live, { id: route.id, env: 'staging', inject_query_json: { token: 'abcdefgh1' } });
  assert.deepEqual(await told(put), ['inject_query_json.token']);
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`X-${i}-Key`, 'abcdefgh1']));
  assert.deepEqual((await told(() => call(ops.update, live, { id: route.id, inject_headers_json: many }))).slice(9), [
    'inject_headers_json.X-9-Key',
    '2',
  ]);
});
