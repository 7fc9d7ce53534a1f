import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { forgetRules } from '#server/domain/policies/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { made } from '#server/testing/factories.ts';
import { applyPlan } from './apply.ts';
import { configurationOf } from './check.ts';
import { file, home, quiet } from './config.fixture.ts';
import { readFiles } from './files.ts';
import { planOf } from './plan.ts';
import { remoteOf } from './remote.ts';

// Configuration as code against the running service: `service-cli` over sockets, each test with workspaces of its own.

const EVERYTHING = `
format: 1
environments:
  - name: production
    color: '#22c55e'
    is_default: true
  - name: staging
    display_name: Staging
    color: '#ABCDEF'
secrets:
  - name: PARTNER_KEY
    collection: Payments
    tags: [billing]
    allowed_hosts: [api.example.com]
    value_from: { env: PARTNER_KEY }
    environments:
      staging: { value_from: { env: PARTNER_KEY_STAGING } }
  - name: SIGNING_KEY
    value_from: { env: SIGNING_KEY }
collections:
  - name: Payments
    description: Everything about money
    color: '#FF0000'
    variables:
      region: { value: eu, description: Where it runs }
      key: { secret: PARTNER_KEY }
    expected_environments: [production, staging]
    environment_defaults:
      staging: { base_url: https://staging.example.com, clients: [Backend] }
clients:
  - name: Backend
    ip_address: 203.0.113.9/24
    collection: Payments
    description: The shop
    ip_notes: { rack: 4 }
    credentials:
      - { kind: ip, data: { value: 198.51.100.7 }, label: Second line }
      - { kind: signature_hmac, data: { secret: SIGNING_KEY } }
  - name: Worker
    type: user
    ip_address: 2001:DB8::1
    enabled: false
routes:
  - name: Orders
    slug: orders
    collection: Payments
    base_environment: production
    target_base_url: https://api.example.com/v1
    inject_headers_json: { Authorization: 'Bearer {{secret:PARTNER_KEY}}', X-Region: '{{var:region}}' }
    allowed_methods: [POST, GET]
    rate_limit_enabled: true
    rate_limit_requests: 100
    rate_limit_window_sec: 60
    ip_allowlist: [198.51.100.9/24, 2001:db8::/32]
    requires_clients: true
    method_configs:
      - { method: POST, timeout_ms: 9000 }
    clients: [Backend]
    environments:
      staging:
        target_base_url: https://staging.example.com/v1
        requires_clients: false
        rate_limit_requests: 10
        clients: [Backend, Worker]
    actions:
      - { direction: response, action: mask, selectors: [$.card.number], mask: last4 }
  - name: Plain
    target_base_url: https://plain.example.com
    enabled: false
`;
const VALUES = {
  PARTNER_KEY: 'value-of-partner',
  PARTNER_KEY_STAGING: 'value-of-staging',
  SIGNING_KEY: 'value-of-signing-0123456789-0123456789',
};

test('what was exported makes an empty workspace the same, and exports equal (journey G2)', async () => {
  const first = await home('live', VALUES);
  const made = await first.run(['apply', '-f', file(EVERYTHING), '--yes']);
  assert.equal(made.code, 0, made.err + made.out);
  assert.doesNotMatch(made.err, /not stored as/);
  const exported = await first.run(['export']);
  assert.equal(exported.code, 0, exported.err);
  assert.match(made.out, /environments\.staging\.value_from\.env: "PARTNER_KEY_STAGING"/);
  assert.doesNotMatch(exported.out + made.out + made.err, /value-of-/);
  assert.doesNotMatch(exported.out, /[0-9a-f]{8}-[0-9a-f]{4}-/);
  const second = await home('live', VALUES);
  const copied = await second.run(['apply', '-f', file(exported.out), '--yes']);
  assert.equal(copied.code, 0, copied.err + copied.out);
  assert.equal((await second.run(['export'])).out, exported.out);
  const values = await db().secrets.findMany({ where: second.own, select: { shortcode_name: true } });
  assert.deepEqual(values.map((one) => one.shortcode_name).sort(), ['PARTNER_KEY', 'SIGNING_KEY']);
  const route = await second.get<{ requires_clients: boolean; environments: { environment_name: string; requires_clients: boolean }[] }>(
    '/routes/orders',
  );
  assert.deepEqual(
    route.environments.map((one) => [one.environment_name, one.requires_clients]),
    [
      ['production', true],
      ['staging', false],
    ],
  );
});

test('a second apply changes nothing and says so, and writes no audit entry', async () => {
  const { run, w } = await home('live', VALUES);
  const source = file(EVERYTHING);
  assert.equal((await run(['apply', '-f', source, '--yes'])).code, 0);
  const before = await db().audit_logs.count({ where: { tenant_id: w.tenant.id } });
  const again = await run(['apply', '-f', source]);
  assert.equal(again.code, 0, again.err);
  assert.match(again.out, /nothing to do, 9 unchanged/);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), before);
  assert.equal((await run(['diff', '-f', source])).code, 0);
});

test('what somebody changed by hand shows as drift, and apply mends it', async () => {
  const { run, get } = await home('live', VALUES);
  const source = file(EVERYTHING);
  await run(['apply', '-f', source, '--yes']);
  assert.equal((await run(['routes', 'update', 'orders', '--timeout-ms', '5000', '--no-requires-clients'])).code, 0);
  const clients = await get<{ id: string; name: string }[]>('/clients');
  const worker = clients.find(({ name }) => name === 'Worker')?.id ?? '';
  assert.equal((await run(['clients', 'update', worker, '--enabled'])).code, 0);
  const drift = await run(['diff', '-f', source]);
  assert.equal(drift.code, 2, drift.err);
  assert.match(drift.out, /~ update route Orders\n(?: {4}.*\n)* {4}timeout_ms: 5000 → 30000\n/);
  assert.match(drift.out, /requires_clients: false → true/);
  assert.match(drift.out, /~ update client Worker\n {4}enabled: true → false/);
  const dry = await run(['apply', '-f', source, '--dry-run']);
  assert.deepEqual([dry.code, (await run(['diff', '-f', source])).code], [0, 2], 'a dry run changes nothing');
  const unsure = await run(['apply', '-f', source]);
  assert.deepEqual([unsure.code, /needs --yes/.test(unsure.err)], [2, true]);
  assert.equal((await run(['apply', '-f', source, '--yes'])).code, 0);
  assert.equal((await run(['diff', '-f', source])).code, 0);
  const json = JSON.parse((await run(['diff', '-f', source, '--json'])).out) as { update: number; unchanged: number };
  assert.deepEqual([json.update, json.unchanged], [0, 9]);
});

test('a secret that exists is left alone, whatever its variable says', async () => {
  const { run, own } = await home('live', VALUES);
  await run(['secrets', 'create', '--name', 'PARTNER_KEY', '--value-from-env', 'SIGNING_KEY', '--tags', 'mine']);
  const before = await db().secrets.findFirstOrThrow({ where: own });
  const source = file('format: 1\nsecrets: [{ name: PARTNER_KEY, value_from: { env: PARTNER_KEY } }]\n');
  const done = await run(['apply', '-f', source, '--yes']);
  assert.match(done.out, /nothing to do, 1 unchanged/);
  assert.deepEqual((await db().secrets.findFirstOrThrow({ where: own })).updated_at, before.updated_at);
  const missing = await run(['apply', '-f', file('format: 1\nsecrets: [{ name: OTHER, value_from: { env: NOT_SET } }]\n'), '--yes']);
  assert.deepEqual([missing.code, /OTHER\]: takes its value from NOT_SET, which is not set/.test(missing.err)], [2, true], missing.err);
  const unknown = await run(['diff', '-f', file('format: 1\nsecrets: [{ name: NOBODY }]\n')]);
  assert.deepEqual([unknown.code, /NOBODY\]: does not exist/.test(unknown.err)], [1, true], unknown.err);
});

test('only what is listed, or what an earlier apply made, is deleted', async () => {
  const { run } = await home();
  const state = `${file('')}.state.json`;
  const two = 'format: 1\nclients: [{ name: A, ip_address: 203.0.113.1 }, { name: B, ip_address: 203.0.113.2 }]\n';
  await run(['clients', 'create', '--name', 'By hand', '--ip-address', '203.0.113.3']);
  assert.equal((await run(['apply', '-f', file(two), '--yes', '--state', state])).code, 0);
  assert.equal(fs.statSync(state).mode & 0o777, 0o600);
  const one = file('format: 1\nclients: [{ name: A, ip_address: 203.0.113.1 }]\n');
  assert.match((await run(['diff', '-f', one])).out, /nothing to do/);
  assert.deepEqual((await run(['apply', '-f', one, '--prune', '--yes'])).code, 2);
  const pruned = await run(['apply', '-f', one, '--prune', '--state', state, '--yes']);
  assert.match(pruned.out, /- delete client B\n[\s\S]*Deleted client B/);
  const names = async () => (await run(['clients', 'list', '--json'])).out.match(/"name": "[^"]+"/g)?.sort();
  assert.deepEqual(await names(), ['"name": "A"', '"name": "By hand"']);
  const gone = file('format: 1\n_delete: { clients: [By hand, Never there] }\n');
  assert.equal((await run(['apply', '-f', gone, '--yes'])).code, 0);
  assert.deepEqual(await names(), ['"name": "A"']);
  const elsewhere = await home();
  assert.match((await elsewhere.run(['apply', '-f', one, '--prune', '--state', state, '--yes'])).err, /is the state of/);
});

test('a run that is killed converges when it is run again', async () => {
  const { run } = await home('live', VALUES);
  const source = file(EVERYTHING);
  for (const after of ['Created environment staging', 'Created client Backend', 'Created route Orders']) {
    const stop = new AbortController();
    const killed = await run(['apply', '-f', source, '--yes'], {
      signal: stop.signal,
      until: (out) => out.includes(after) && stop.abort(),
    });
    assert.equal(killed.code, 130, killed.out + killed.err);
    assert.match(killed.err, /changes were made. Not made, or in part: /);
  }
  assert.equal((await run(['apply', '-f', source, '--yes'])).code, 0);
  assert.equal((await run(['diff', '-f', source])).code, 0);
  assert.equal((await run(['export'])).out.match(/name: Orders/g)?.length, 1);
});

test('it stops at the first change that is refused, and says what was done', async () => {
  const { run } = await home();
  const source = file(`
format: 1
clients: [{ name: First, ip_address: 203.0.113.1 }]
routes:
  - { name: A, target_base_url: 'https://a.example.com' }
  - { name: B, target_base_url: 'https://b.example.com', rate_limit_enabled: true }
  - { name: C, target_base_url: 'https://c.example.com' }
`);
  const stopped = await run(['apply', '-f', source, '--yes']);
  assert.equal(stopped.code, 1, stopped.out);
  assert.match(stopped.out, /Created client First\nCreated route A\n$/);
  assert.match(stopped.err, /2 of 4 changes were made. Not made, or in part: route B, route C/);
  assert.match(stopped.err, /rate_limit_requests/);
});

test('what changed after the plan was made is not overwritten', async () => {
  const { run, sallyport } = await home();
  const source = file(
    "format: 1\nroutes: [{ name: A, target_base_url: 'https://a.example.com' }, { name: B, target_base_url: 'https://b.example.com' }]\n",
  );
  await run(['apply', '-f', source, '--yes']);
  const next = file(fs.readFileSync(source, 'utf8').replaceAll('.com', '.org'));
  const remote = remoteOf(sallyport, new AbortController().signal);
  const plan = await planOf(configurationOf(await readFiles([next], quiet)), remote, {});
  assert.equal((await run(['routes', 'update', 'b', '--target-base-url', 'https://mine.example.net'])).code, 0);
  await assert.rejects(
    applyPlan(plan, { remote, env: {} }, () => {}, quiet),
    /The route B was changed by somebody else/,
  );
  const targets = async (slug: string) => (await sallyport.routes.get({ path: { id: slug } })).data.target_base_url;
  assert.deepEqual([await targets('a'), await targets('b')], ['https://a.example.org', 'https://mine.example.net']);
});

test('a file and a credential of different spaces are refused, in both directions', async () => {
  const { run } = await home('test');
  const source = file('format: 1\nspace: live\nenvironments: [{ name: staging }]\n');
  assert.match((await run(['apply', '-f', source, '--yes'])).err, /for the space live, and this credential is of test/);
  assert.equal((await run(['export', '--space', 'live'])).code, 2);
  assert.match((await run(['export', '--space', 'test'])).out, /^format: 1\nspace: test\n/);
});

test('IDs of secrets in templates become names, and a credential in plain text is never exported or shown', async () => {
  const { run, sallyport } = await home('live', VALUES);
  const { data: secret } = await sallyport.secrets.create({ body: { name: 'BY_ID', value: 'value-of-by-id' } });
  const { data: route } = await sallyport.routes.create({
    body: { name: 'Templated', target_base_url: 'https://a.example.com', inject_headers_json: { 'X-Key': `{{secret_id:${secret.id}}}` } },
  });
  const exported = await run(['export']);
  assert.match(exported.out, /X-Key: "?\{\{secret:BY_ID\}\}"?/);
  const source = file(exported.out);
  assert.equal((await run(['diff', '-f', source])).code, 0);
  const literal = 'sk_live_0123456789abcdefghijkl';
  await sallyport.routes.update({ path: { id: route.id }, body: { inject_headers_json: { Authorization: `Bearer ${literal}` } } });
  const refused = await run(['export']);
  assert.deepEqual(
    [refused.code, /routes\[Templated\]\.inject_headers_json\.Authorization holds a credential/.test(refused.err)],
    [2, true],
  );
  const drift = await run(['diff', '-f', source]);
  assert.match(drift.out, /Authorization: "\(hidden\)" → \(none\)/);
  assert.doesNotMatch(refused.out + refused.err + drift.out + drift.err, new RegExp(literal));
});

test('a name that is missing, or that several have, is told before anything is changed', async () => {
  const { run, own } = await home();
  for (const address of ['203.0.113.1', '203.0.113.2']) await run(['clients', 'create', '--name', 'Twin', '--ip-address', address]);
  const missing = await run([
    'apply',
    '-f',
    file(`
format: 1
environments: [{ name: staging }]
routes:
  - name: A
    target_base_url: https://a.example.com
    collection: Nowhere
    inject_headers_json: { X-Key: '{{secret:ABSENT}}' }
    environments: { nowhere: { clients: [Nobody] } }
`),
    '--yes',
  ]);
  assert.equal(missing.code, 2);
  for (const message of [
    /\.collection: no collection is called Nowhere/,
    /no secret is called ABSENT/,
    /no environment is called nowhere/,
    /no client is called Nobody/,
  ])
    assert.match(missing.err, message);
  assert.equal(await db().environments.count({ where: own }), 1);
  const twins = await run(['diff', '-f', file('format: 1\nclients: [{ name: Twin, ip_address: 203.0.113.1 }]\n')]);
  assert.deepEqual([twins.code, /2 clients are called Twin: /.test(twins.err)], [1, true]);
  assert.match((await run(['export'])).err, /2 clients are called Twin/);
});

test('a route with a slug is renamed, moves between bases and environments, and keeps one identity', async () => {
  const { run, get, own } = await home();
  const text = (route: string) => file(`format: 1\nenvironments: [{ name: staging }, { name: qa }]\nroutes:\n  - ${route}\n`);
  const first = text(
    '{ name: Old, slug: s, base_environment: production, target_base_url: https://a.example.com, environments: { staging: { timeout_ms: 500 } } }',
  );
  const second = text(
    '{ name: New, slug: s, base_environment: qa, target_base_url: https://b.example.com, environments: { production: { enabled: false } } }',
  );
  assert.equal((await run(['apply', '-f', first, '--yes'])).code, 0);
  const { id } = await db().routes.findFirstOrThrow({ where: own });
  const moved = await run(['apply', '-f', second, '--yes']);
  assert.equal(moved.code, 0, moved.err);
  assert.doesNotMatch(moved.err, /not stored as/);
  assert.equal((await run(['diff', '-f', second])).code, 0);
  const route = await get<{ id: string; name: string; configured_environments: string[] }>('/routes/s');
  assert.deepEqual([route.id, route.name, route.configured_environments], [id, 'New', ['qa', 'production']]);
  assert.equal((await run(['apply', '-f', first, '--yes'])).code, 0);
  assert.equal((await run(['diff', '-f', first])).code, 0);
});

test('credentials of clients are made, changed and ended, and a key that the service made stays where it is', async () => {
  const { run, sallyport } = await home();
  const thumbprint = `${'AB:'.repeat(31)}AB`;
  const publicKey = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
  const text = (credentials: string) =>
    file(`format: 1\nclients:\n  - name: Partner\n    ip_address: 203.0.113.1\n    credentials: [${credentials}]\n`);
  const first = text(
    `{ kind: mtls_thumbprint, data: { thumbprint: '${thumbprint}' } }, { kind: signature_ed25519, data: { public_key: ${publicKey} }, enabled: false }`,
  );
  const made = await run(['apply', '-f', first, '--yes']);
  assert.equal(made.code, 0, made.err);
  assert.doesNotMatch(made.err, /not stored as/);
  assert.equal((await run(['diff', '-f', first])).code, 0);
  const [client] = (await sallyport.clients.list({})).data;
  const id = client?.id ?? '';
  await sallyport.clients.createCredential({ path: { id }, body: { kind: 'signature_hmac', data: { mode: 'generate' } } });
  const exported = await run(['export']);
  assert.match(exported.err, /clients\[Partner\] has a shared secret of its own/);
  const second = text(`{ kind: ip, data: { value: 198.51.100.1 }, label: Office, expires_at: 2099-01-01 }`);
  assert.equal((await run(['apply', '-f', second, '--yes'])).code, 0);
  const kinds = (await sallyport.clients.listCredentials({ path: { id } })).data.filter((one) => !one.is_primary).map(({ kind }) => kind);
  assert.deepEqual(kinds.sort(), ['ip', 'signature_hmac']);
  assert.equal((await run(['diff', '-f', second])).code, 0);
});

test('a file can’t have the credential of service-cli stored', async () => {
  const { run } = await home();
  const ended = await run(['apply', '-f', file('format: 1\nsecrets: [{ name: A, value_from: { env: SERVICE_API_KEY } }]\n'), '--yes']);
  assert.deepEqual([ended.code, /SERVICE_API_KEY, which is for service-cli itself/.test(ended.err)], [2, true], ended.err);
});

test('what was made before a failure is in the state file', async () => {
  const { run, own } = await home();
  const state = `${file('')}.state.json`;
  const route = 'name: A, target_base_url: https://a.example.com';
  const refused = file(
    `format: 1\nroutes: [{ ${route}, actions: [{ direction: request, action: encrypt, selectors: [$.a], key_name: no-such-key }] }]\n`,
  );
  assert.equal((await run(['apply', '-f', refused, '--yes', '--state', state])).code, 1);
  const { id, enabled } = await db().routes.findFirstOrThrow({ where: own });
  assert.equal(enabled, false, 'it serves nothing before its actions are there');
  const { made } = JSON.parse(fs.readFileSync(state, 'utf8')) as { made: unknown };
  assert.deepEqual(made, [{ kind: 'routes', id, name: 'A' }]);
  assert.equal((await run(['apply', '-f', file('format: 1'), '--prune', '--state', state, '--yes'])).code, 0);
  assert.equal(await db().routes.count({ where: own }), 0);
});

test('an environment that goes on requiring clients is never open while the base stops to', async () => {
  const { run, own } = await home();
  const text = (base: boolean) =>
    file(`format: 1
environments: [{ name: staging }]
routes:
  - name: A
    target_base_url: https://a.example.com
    base_environment: production
    requires_clients: ${base}
    environments: { staging: { requires_clients: true } }
`);
  assert.equal((await run(['apply', '-f', text(true), '--yes'])).code, 0);
  assert.equal((await run(['apply', '-f', text(false), '--yes'])).code, 0);
  assert.equal((await run(['diff', '-f', text(false)])).code, 0);
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: own.tenant_id, resource_type: { in: ['route', 'environment_config'] } },
    orderBy: { seq: 'asc' },
  });
  const told = entries.slice(-3).map(({ action, details }) => [action, (details as { environment?: string }).environment ?? null]);
  assert.deepEqual(
    told.map(([, environment]) => environment),
    ['staging', null, 'staging'],
    JSON.stringify(told),
  );
});

test('a caller whom a policy keeps from a secret learns what to write for a new route, and that goes through', async () => {
  const { run, w, own } = await home();
  const { id: secret } = await made(w.live, 'secrets.create', { name: 'PAYROLL', value: 'a value' });
  const { id: key } = await db().api_keys.findFirstOrThrow({ where: own, select: { id: true } });
  const data = { id: newId(), tenant_id: w.tenant.id, name: 'hidden', actions: ['secret:read'], space: 'both' };
  await db().tenant_policies.create({ data: { ...data, resources: [secret], subjects: { api_key_ids: [key] } } });
  forgetRules(w.tenant.id);
  const route = (more = '') => file(`format: 1\nroutes: [{ name: A, target_base_url: https://a.example.com${more} }]\n`);
  const refused = await run(['apply', '-f', route(), '--yes']);
  assert.equal(refused.code, 1, refused.err);
  const wanted = /write (body_placeholders: off) at the route in a configuration file/.exec(refused.err)?.[1];
  assert.ok(wanted, refused.err);
  const done = await run(['apply', '-f', route(`, ${wanted}`), '--yes']);
  assert.equal(done.code, 0, done.err);
  assert.equal((await run(['diff', '-f', route(`, ${wanted}`)])).code, 0);
});
