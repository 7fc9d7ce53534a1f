import assert from 'node:assert/strict';
import { createPublicKey, createSecretKey, verify } from 'node:crypto';
import test from 'node:test';
import { agentKeysOf, sessionKey, unwrapFromAgent, wrapForAgent } from '#server/crypto/agent-keys.ts';
import { canonicalJson } from '#server/crypto/canonical-json.ts';
import { UpdateAgent } from '#server/domain/agents/schema.ts';
import { updateAgent } from '#server/domain/agents/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { type Agent, agent, ask, BEAT, openSession, signed, withToken } from './agents.fixture.ts';

await ownDatabase();

const VALUE = 'a value nobody may read on the way';
const name = () => fresh('SECRET').replaceAll('-', '_').toUpperCase();
const keyOf = (of: Agent, window: string) =>
  sessionKey(createSecretKey(agentKeysOf(of.agent_id, of.agent_secret).subarray(32)), of.agent_id, window);

async function served(w: Workspace) {
  const secret = await made(w.live, 'secrets.create', { name: name(), value: VALUE });
  const foreign = await made(w.test, 'secrets.create', { name: name(), value: `${VALUE} of Test` });
  const key = await made(w.live, 'crypto_keys.create', { name: fresh('key'), key_type: 'aes256-gcm', mode: 'bundled' });
  await made(w.live, 'crypto_keys.create', { name: fresh('cloud'), key_type: 'aes256-gcm' });
  const route = await made(w.live, 'routes.create', {
    name: fresh('route'),
    slug: fresh('route'),
    target_base_url: 'https://api.example.com/v2',
    inject_headers_json: { authorization: `Bearer {{secret:${secret.shortcode_name ?? secret.name}}}` },
  });
  return { secret, foreign, key, route };
}

test('a server’s bundle is signed, opens with the window’s key alone, and holds no plaintext and nothing of the other space', async () => {
  const w = await workspace();
  const { secret, foreign, key, route } = await served(w);
  const a = await agent(w.live, 'server');
  const { body } = await openSession(a);
  const { sig, ...unsigned } = body.bundle;
  const text = JSON.stringify(body);
  assert.ok(verify(null, Buffer.from(canonicalJson(unsigned)), createPublicKey(body.control_plane_key), Buffer.from(sig, 'base64')));
  assert.ok(!text.includes(VALUE) && !text.includes(Buffer.from(VALUE).toString('base64')));
  assert.ok(!text.includes(foreign.id) && !text.includes(a.agent_secret));

  const entry = body.bundle.secrets.find(({ id }: { id: string }) => id === secret.id);
  const opened = (window: string) => {
    const cek = unwrapFromAgent(keyOf(a, window), entry.aad, { nonce: entry.wrap_nonce, ciphertext: entry.wrapped_cek });
    return unwrapFromAgent(createSecretKey(cek), entry.aad, entry).toString();
  };
  assert.equal(opened(body.window), VALUE);
  assert.equal(entry.aad, `${w.tenant.id}|${a.agent_id}|${secret.id}|1|${body.window}`);
  assert.throws(() => opened('2020-01-01T00'), { name: 'DecryptFailed' });

  assert.deepEqual(
    body.bundle.transit_keys.map(({ key_id, status }: Record<string, string>) => [key_id, status]),
    [[key.id, 'active']],
  );
  const [transit] = body.bundle.transit_keys;
  assert.equal(unwrapFromAgent(keyOf(a, body.window), transit.aad, { nonce: transit.wrap_nonce, ciphertext: transit.wrapped }).length, 32);
  const shown = body.bundle.routes.find(({ id }: { id: string }) => id === route.id);
  assert.deepEqual([shown.host, shown.base_path, shown.target_base_url], ['api.example.com', '/v2', 'https://api.example.com/v2']);
});

test('the etag stays while nothing changed, and the bundle then stays at home', async () => {
  const w = await workspace();
  const { secret } = await served(w);
  const a = await agent(w.live, 'server');
  const first = (await openSession(a)).body;
  const again = (await openSession(a, 'host-a', { have_etag: first.etag })).body;
  assert.deepEqual([again.bundle, again.etag], [null, first.etag]);
  await made(w.live, 'secrets.put_value', { id: secret.id, environment: 'production', value: 'rotated' });
  const changed = (await openSession(a, 'host-a', { have_etag: first.etag })).body;
  assert.notEqual(changed.etag, first.etag);
  assert.equal(changed.bundle.secrets[0].version, 2);
  // Whoever decrypts is told to fetch it.
  const beat = await ask('POST', '/agent/v1/heartbeat', { ...BEAT, mode: 'server' }, { headers: withToken(a, changed.session_token) });
  assert.deepEqual(
    beat.body.commands.map(({ command }: { command: string }) => command),
    ['refresh'],
  );
});

test('control gets nothing, intercept no secret, and a server with routes only what those name', async () => {
  const w = await workspace();
  const { secret, route } = await served(w);
  const other = await made(w.live, 'secrets.create', { name: name(), value: 'not for this route' });
  for (const mode of ['control', 'intercept'] as const) {
    const { bundle } = (await openSession(await agent(w.live, mode))).body;
    assert.deepEqual([bundle.secrets, bundle.transit_keys, bundle.clients], [[], [], []], mode);
  }
  const a = await agent(w.live, 'server', { allowed_route_ids: [route.id] });
  const { bundle } = (await openSession(a)).body;
  const ids = bundle.secrets.map(({ id }: { id: string }) => id);
  assert.ok(ids.includes(secret.id) && !ids.includes(other.id), JSON.stringify(ids));
  assert.deepEqual(
    bundle.routes.map(({ id }: { id: string }) => id),
    [route.id],
  );
});

test('a server is told which routes only the service can serve, and by its manifest when its bundle is behind', async () => {
  const w = await workspace();
  const { secret, route } = await served(w);
  const client = await made(w.live, 'clients.create', { name: fresh('client'), ip_address: '203.0.113.7' });
  const odd: [string, Record<string, unknown>, string | null][] = [
    ['plain', { http_method_restrictions_enabled: true, allowed_methods: ['GET'], ip_allowlist: ['10.0.0.0/8'] }, null],
    ['limited', { rate_limit_enabled: true, rate_limit_requests: 5, rate_limit_window_sec: 60 }, null],
    ['signed', { require_signature: true }, 'require_signature'],
    ['body', { inject_body_json: { a: 1 } }, 'inject_body_json'],
    ['variables', { inject_query_json: { a: '{{vars.x}}' } }, 'placeholders that only the service knows'],
    ['http2', { upstream_protocol: 'http2' }, 'upstream_protocol'],
  ];
  for (const [slug, more] of odd)
    await made(w.live, 'routes.create', { name: slug, slug, target_base_url: 'https://api.example.com', ...more });
  const a = await agent(w.live, 'server');
  const { session_token, bundle } = (await openSession(a)).body;
  const by = new Map(bundle.routes.map((one: Record<string, unknown>) => [one.slug, one])) as Map<string, Record<string, unknown>>;
  for (const [slug, , unserved] of odd) assert.equal(by.get(slug)?.unserved, unserved, slug);
  assert.deepEqual([by.get('plain')?.allowed_methods, by.get('plain')?.ip_allowlist], [['GET'], ['10.0.0.0/8']]);
  assert.deepEqual(by.get('limited')?.rate_limit, { requests: 5, window_sec: 60, per_client: false });
  const manifest = async () => (await ask('GET', '/agent/v1/manifest', undefined, { headers: withToken(a, session_token) })).body;
  assert.equal((await manifest()).content, bundle.content);
  let before = bundle.content;
  for (const change of [
    () => made(w.live, 'routes.update', { id: route.id, target_base_url: 'https://api.example.com/v3' }),
    () => made(w.live, 'secrets.update', { id: secret.id, allowed_hosts: ['api.example.com'] }),
    () => made(w.live, 'clients.update', { id: client.id, enabled: false }),
  ]) {
    await change();
    const { content } = await manifest();
    assert.notEqual(content, before);
    before = content;
  }
  assert.equal((await openSession(a)).body.bundle.content, before);
  const watching = await agent(w.live, 'intercept');
  const { session_token: token } = (await openSession(watching)).body;
  assert.equal((await ask('GET', '/agent/v1/manifest', undefined, { headers: withToken(watching, token) })).body.content, null);
});

test('a change of mode ends the sessions of the old one', async () => {
  const w = await workspace();
  const a = await agent(w.live, 'server');
  const { session_token } = (await openSession(a)).body;
  await updateAgent({ ...w.live, now: new Date() }, UpdateAgent.parse({ id: a.id, mode: 'control' }));
  assert.equal(
    (await ask('GET', '/agent/v1/manifest', undefined, { headers: withToken(a, session_token) })).body.error.type,
    'invalid_token',
  );
});

test('the workspace’s own KMS makes windows of five minutes, and a sealed workspace gives no session', async () => {
  const w = await workspace();
  const a = await agent(w.live, 'server');
  assert.match((await openSession(a)).body.window, /^\d{4}-\d\d-\d\dT\d\d$/);
  await sql().query("update tenant_master_keys set wrap_method = 'customer_kms' where tenant_id = $1", [w.tenant.id]);
  const short = (await openSession(a)).body;
  assert.match(short.window, /^\d{4}-\d\d-\d\dT\d\d:\d[05]$/);
  assert.equal(new Date(short.expires_at).getTime() - Date.parse(`${short.window}:00Z`), 300_000);
  await sql().query("update tenant_master_keys set wrapped_key = null, status = 'revoked' where tenant_id = $1", [w.tenant.id]);
  keyring().evict(w.tenant.id);
  const sealed = await openSession(a);
  assert.deepEqual([sealed.status, sealed.body.error.type, sealed.headers.get('retry-after')], [503, 'tenant_sealed', '30']);
});

test('the manifest answers 304 until a route changes, and is signed', async () => {
  const w = await workspace();
  const a = await agent(w.live, 'intercept');
  const { session_token, control_plane_key } = (await openSession(a)).body;
  const headers = withToken(a, session_token);
  const route = await made(w.live, 'routes.create', {
    name: fresh('r'),
    slug: fresh('r'),
    target_base_url: 'https://api.stripe.com/v1',
    intercept_enabled: true,
  });
  const first = await ask('GET', '/agent/v1/manifest', undefined, { headers });
  assert.deepEqual(
    first.body.routes.map(({ host, base_path, slug }: Record<string, string>) => [host, base_path, slug]),
    [['api.stripe.com', '/v1', route.slug]],
  );
  const { sig, ...unsigned } = first.body;
  assert.ok(verify(null, Buffer.from(canonicalJson(unsigned)), createPublicKey(control_plane_key), Buffer.from(sig, 'base64')));
  const etag = first.headers.get('etag')!;
  const same = await ask('GET', '/agent/v1/manifest', undefined, { headers: { ...headers, 'if-none-match': etag } });
  assert.deepEqual([same.status, same.body, same.headers.get('etag')], [304, null, etag]);
  await made(w.live, 'routes.update', { id: route.id, intercept_enabled: false });
  const changed = await ask('GET', '/agent/v1/manifest', undefined, { headers: { ...headers, 'if-none-match': etag } });
  assert.deepEqual([changed.status, changed.body.routes], [200, []]);
});

test('captures become items, once each; denied names, other windows and migrations that capture nothing are refused', async () => {
  const w = await workspace();
  const a = await agent(w.live, 'intercept');
  const { window } = (await openSession(a)).body;
  const migration = (data: Record<string, unknown>) =>
    db().secret_migrations.create({
      data: {
        id: newId(),
        tenant_id: w.tenant.id,
        sandbox: false,
        provider: 'aws_secrets_manager',
        mode: 'capture',
        status: 'discovering',
        ...data,
      },
    });
  const { id } = await migration({});
  const item = (of: string, source_ref: string, value = VALUE) => ({
    ...{ source_ref, source_version: '1', provider_host: 'secretsmanager.eu-west-1.amazonaws.com', observed_at: new Date().toISOString() },
    value: wrapForAgent(keyOf(a, window), `${w.tenant.id}|${a.agent_id}|${of}|${source_ref}|${window}`, Buffer.from(value)),
  });
  const report = (of: string, items: unknown[], at = window) => signed(a, `/agent/v1/migrations/${of}/items`, { window: at, items });
  const first = await report(id, [item(id, 'prod/db'), item(id, 'rds!abc')]);
  assert.deepEqual(first.body, { accepted: 1, duplicates: 0, denylisted: 1 }, JSON.stringify(first.body));
  assert.deepEqual((await report(id, [item(id, 'prod/db')])).body, { accepted: 0, duplicates: 1, denylisted: 0 });
  const [row] = await db().secret_migration_items.findMany({ where: { migration_id: id } });
  assert.deepEqual([row?.source_name, row?.discovered_via, row?.value_length], ['prod/db', 'capture', VALUE.length]);
  assert.ok(!Buffer.from(row!.value_ct!).includes(VALUE));
  assert.equal((await report(id, [item(id, 'x')], '2020-01-01T00')).status, 400);
  const moved = await report(id, [{ ...item(id, 'a'), source_ref: 'b' }]);
  assert.equal(moved.status, 400, 'a value of another name');
  const pulled = await migration({ mode: 'pull' });
  assert.deepEqual((await report(pulled.id, [item(pulled.id, 'x')])).body.error.type, 'migration_not_capturing');
  const foreign = await workspace();
  const theirs = await db().secret_migrations.create({
    data: {
      id: newId(),
      tenant_id: foreign.tenant.id,
      sandbox: false,
      provider: 'aws_secrets_manager',
      mode: 'capture',
      status: 'discovering',
    },
  });
  assert.equal((await report(theirs.id, [item(theirs.id, 'x')])).status, 404);
});
