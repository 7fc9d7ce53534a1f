import assert from 'node:assert/strict';
import test from 'node:test';
import { flushUses } from '#server/custody/uses.ts';
import { newId } from '#server/kernel/ids.ts';
import type { KeyType } from '#server/kernel/key-types.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { destroyVersion, storedKey } from '#server/testing/stored-keys.ts';
import { refuseAuditEntries } from '#server/testing/suites/audit.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, startGateway } from '../gateway.fixture.ts';
import { startWeb } from './web.fixture.ts';

// Uses of keys through a gateway: by itself when it is the plain success, by web otherwise, from one row.

await testDatabase({ SVC_GATEWAYS: '1' });
const web = await startWeb();
const gateway = await startGateway();
const port = (await gateway.gateway.listen('api', 0, '127.0.0.1')).port;

const w = await workspace();
const { text: key } = await w.key();

/** Uses a key; `asked` is how often web was. */
async function use(name: string, verb: string, body: unknown, headers: Record<string, string> = {}, credential = key) {
  const before = web.seen.length;
  const answer = await ask(port, 'api', `/v1/crypto/keys/${name}/${verb}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { host: `localhost:${port}`, 'content-type': 'application/json', authorization: `Bearer ${credential}`, ...headers },
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever a stranger would see
  return { status: answer.status, headers: answer.headers, asked: web.seen.length - before, body: JSON.parse(answer.body) as any };
}

test('every use is answered without web, and in the shape in which web answers it', async () => {
  const named = (key_type: KeyType, name: string) => storedKey(w.live, { key_type, name, versions: 2 });
  const [aes, hmac, rsa] = [
    await named('aes256-gcm', 'Card data. v2'),
    await named('hmac-sha256', 'macs'),
    await named('rsa-2048', 'rsa.rsc'),
  ];
  const path = aes.name.replaceAll(' ', '%20');
  const { ciphertext } = (await use(path, 'encrypt', { plaintext: 'a' })).body.data;
  const { signature } = (await use(rsa.name, 'sign', { data: 'a' })).body.data;
  const { token } = (await use(hmac.id, 'jwt', { claims: {} })).body.data;
  const calls: [string, string, unknown][] = [
    [path, 'encrypt', { plaintext: 'a', associated_data_b64: 'YQ==' }],
    [aes.id, 'encrypt', { batch: Array(250).fill({ plaintext: 'a\0b' }) }],
    [path, 'encrypt', { plaintext: 'x'.repeat(1_048_576) }],
    [path, 'decrypt', { ciphertext }],
    [path, 'decrypt?format=utf8', { ciphertext, unknown: 1 }],
    [path, 'rewrap', { ciphertext }],
    [path, 'datakey', { include_plaintext: true }],
    [hmac.name, 'sign', { data: 'a' }],
    [rsa.name, 'verify', { data: 'a', signature }],
    [rsa.name, 'verify', { data: 'b', signature }],
    [rsa.name, 'jwt', { claims: { sub: 'a' }, ttl_seconds: 60 }],
    [hmac.id, 'jwt/verify', { token }],
    [hmac.name, 'webhook-sign', { payload: '{}' }],
  ];
  /** Types in place of values: a ciphertext is another each time. */
  const shape = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(shape)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member)]))
        : typeof value;
  for (const [name, verb, body] of calls) {
    const hot = await use(name, verb, body);
    const odd = await use(name, verb, body, { 'if-none-match': '"x"' });
    assert.deepEqual([hot.status, hot.asked, odd.asked], [200, 0, 1], `${verb} ${JSON.stringify(hot.body).slice(0, 200)}`);
    assert.deepEqual([shape(hot.body), odd.status, Object.keys(hot.headers)], [shape(odd.body), 200, Object.keys(odd.headers)], verb);
    assert.equal(hot.headers['cache-control'], 'no-store');
  }
  assert.equal((await use(path, 'encrypt', { plaintext: 'a' }, { 'idempotency-key': 'k' })).asked, 1);
});

test('what is no plain success is web’s answer', async () => {
  const { name } = await storedKey(w.live);
  const editor = (await w.key('live', 'Key - Editor')).text;
  const ciphertext = (await use(name, 'encrypt', { plaintext: 'a' })).body.data.ciphertext as string;
  const table: [string, Promise<{ status: number; asked: number; body: { error: { type: string } } }>, number, string][] = [
    ['an unknown key', use('nothing', 'encrypt', { plaintext: 'a' }), 404, 'not_found'],
    ['no right', use(name, 'decrypt', { ciphertext }, {}, editor), 403, 'forbidden'],
    ['changed', use(name, 'decrypt', { ciphertext: ciphertext.replace(/v1:../, 'v1:AA') }), 400, 'decrypt_failed'],
    ['both fields', use(name, 'encrypt', { plaintext: 'a', plaintext_b64: 'YQ==' }), 400, 'validation_error'],
  ];
  for (const [what, asked, status, type] of table) {
    const { body, ...answer } = await asked;
    assert.deepEqual([answer.status, body.error.type], [status, type], what);
  }
});

test('a policy narrowed to one key holds in the gateway', async () => {
  const [open, closed] = [await storedKey(w.live), await storedKey(w.live)];
  await db().tenant_policies.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      name: 'not this key',
      actions: ['transit:encrypt', 'transit:decrypt'],
      subjects: { all: true },
      resources: [closed.name],
    },
  });
  await until(async () => (await use(closed.name, 'encrypt', { plaintext: 'a' })).status === 403);
  for (const ref of [closed.name, closed.id]) {
    const answer = await use(ref, 'encrypt', { plaintext: 'a' });
    assert.deepEqual([answer.status, answer.asked], [403, 1], ref);
    assert.match(answer.body.error.message, /not this key/);
  }
  const allowed = await use(open.name, 'encrypt', { plaintext: 'a' });
  assert.deepEqual([allowed.status, allowed.asked], [200, 0]);
  assert.equal((await use(open.name, 'datakey', { include_plaintext: true })).status, 200);
  assert.equal((await use(closed.name, 'datakey', { include_plaintext: true })).status, 403);
});

test('what was destroyed is refused by the next call', async () => {
  const { name, versions } = await storedKey(w.live, { versions: 2 });
  const { ciphertext } = (await use(name, 'encrypt', { plaintext: 'a' })).body.data;
  assert.equal((await use(name, 'decrypt', { ciphertext })).status, 200);
  await destroyVersion(versions[1] as string);
  const answer = await use(name, 'decrypt', { ciphertext });
  assert.deepEqual([answer.status, answer.body.error.type], [410, 'key_version_destroyed']);
});

test('every decryption that was answered is in the audit log, and none is answered without', async () => {
  const { name, id } = await storedKey(w.live);
  const { ciphertext } = (await use(name, 'encrypt', { plaintext: 'a' })).body.data;
  const answers = await Promise.all(Array.from({ length: 50 }, () => use(name, 'decrypt', { ciphertext })));
  assert.ok(answers.every(({ status, asked }) => status === 200 && asked === 0));
  const entries = () => db().audit_logs.count({ where: { resource_id: id, action: 'transit.decrypt' } });
  assert.equal(await entries(), 50);
  const release = await refuseAuditEntries(w);
  try {
    const answer = await use(name, 'decrypt', { ciphertext });
    assert.deepEqual([answer.status, answer.body.error.type, answer.headers['retry-after']], [503, 'audit_unavailable', '5']);
  } finally {
    await release();
  }
  assert.equal(await entries(), 50);
});

test('uses of a gateway that ends in order are all in the audit log', async () => {
  const { name, id } = await storedKey(w.live);
  for (let i = 0; i < 20; i++) await use(name, 'encrypt', { plaintext: 'a' });
  await Promise.all([gateway.flush(), flushUses()]);
  assert.equal(await db().audit_logs.count({ where: { resource_id: id } }), 20);
  const [version] = await db().crypto_key_versions.findMany({ where: { key_id: id } });
  assert.equal(Number(version?.encrypt_count), 20);
});
