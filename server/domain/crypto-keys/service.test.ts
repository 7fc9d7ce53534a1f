import assert from 'node:assert/strict';
import test from 'node:test';
import { findKey } from '#server/custody/keys.ts';
import { material } from '#server/custody/material.ts';
import { sweepLeases } from '#server/domain/leases/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { keyActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { leases } from './leases.ts';
import { rotateDueKeys } from './schedules.ts';
import { createKey, destroyAllVersions } from './service.ts';
import { newVersion } from './versions.ts';

await ownDatabase();

/** A policy against everybody. */
async function deny(w: Workspace, name: string, actions: string[], resource: string): Promise<void> {
  const owner = w.member('owner');
  await verified(owner, 'policy.change');
  await made(owner, 'policies.create', { name, actions, resources: [resource], subjects: { all: true } });
}

const DAY = 24 * 3_600_000;
const create = (ctx: Ctx, input: Record<string, unknown> = {}) => made(ctx, 'crypto_keys.create', { name: fresh('key'), ...input });
const get = (ctx: Ctx, name: string) => made(ctx, 'crypto_keys.get', { name });
const rotate = (ctx: Ctx, name: string) => made(ctx, 'crypto_keys.rotate', { name });
const unlatch = (ctx: Ctx, name: string) => made(ctx, 'crypto_keys.update', { name, deletion_allowed: true });
const statesOf = async (ctx: Ctx, name: string): Promise<string[]> =>
  (await get(ctx, name)).versions.map((v: { version: number; status: string }) => `${v.version} ${v.status}`);

test('one workspace generates one RSA key at a time, and is refused when many wait', async () => {
  const [{ live }, other] = await Promise.all([workspace(), workspace()]);
  const many = Array.from({ length: 20 }, () => newVersion(live, 'rsa-2048').then(() => 'made', asRefusal));
  assert.ok((await newVersion(other.live, 'rsa-2048')).id, 'another workspace does not wait for them');
  const outcomes = (await Promise.all(many)).map((one) => (typeof one === 'string' ? one : one.type));
  assert.deepEqual([outcomes.filter((one) => one === 'made').length, new Set(outcomes).size], [9, 2]);
  assert.ok(outcomes.includes('dependency_unavailable'));
  assert.ok((await newVersion(live, 'rsa-2048')).id);
});

test('rotations at the same time give consecutive versions, and one of them is active', async () => {
  const { live } = await workspace();
  const { name } = await create(live);
  const made = await Promise.all([rotate(live, name), rotate(live, name), rotate(live, name)]);
  assert.deepEqual(made.map(({ new_version }) => new_version).sort(), [2, 3, 4]);
  assert.deepEqual(await statesOf(live, name), ['4 active', '3 retired', '2 retired', '1 retired']);
});

test('of keys created at the same time with one name, whatever its case, one is made', async () => {
  const { live } = await workspace();
  const name = fresh('Race');
  const results = await Promise.allSettled(
    [name, name.toLowerCase(), name.toUpperCase()].map((n) => create(live, { name: n, key_type: 'ecdsa-p256' })),
  );
  const lost = results.filter((r) => r.status === 'rejected').map((r) => r.reason.type);
  assert.deepEqual(lost, ['conflict', 'conflict']);
  assert.equal(await db().crypto_keys.count({ where: { tenant_id: live.tenant_id } }), 1);
  assert.equal(
    await db().crypto_key_versions.count({ where: { tenant_id: live.tenant_id } }),
    1,
    'the material of the others is discarded',
  );
});

test('names that look like an ID, are reserved, or could be a path are refused; a name with spaces is found by %20', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  for (const name of [
    '..',
    '.',
    'a/b',
    'a%2fb',
    ' a',
    'a ',
    '-a',
    'kc-default',
    'KC-x',
    'vault.x',
    'Vault.1',
    '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f',
    'ä',
    '',
    'a'.repeat(129),
  ]) {
    const { status, body } = await call('POST', '/crypto/keys', { key, body: { name } });
    assert.deepEqual([status, body.error?.type], [400, 'validation_error'], name);
  }
  await create(w.live, { name: 'order keys v1.2_b' });
  assert.equal((await call('GET', '/crypto/keys/order%20keys%20v1.2_b', { key })).status, 200);
  assert.equal((await call('GET', '/crypto/keys/order%2520keys%2520v1.2_b', { key })).status, 404, 'decoded once');
  assert.equal((await call('GET', '/crypto/keys/ORDER%20keys%20v1.2_b', { key })).status, 404, 'found as it is written');
});

test('a key of another workspace, of the other space, a deleted one and one that never was are one answer, byte for byte', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const { text: key } = await w.key();
  const foreign = await create(other.live);
  const inTest = await create(w.test);
  const gone = await create(w.live);
  await unlatch(w.live, gone.name);
  await made(w.live, 'crypto_keys.delete', { name: gone.name });
  const refs = [foreign.id, foreign.name, inTest.id, inTest.name, gone.id, gone.name, 'never-was', '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f'];
  for (const [method, tail, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { description: 'x' }],
    ['DELETE', '', undefined],
    ['POST', '/rotate', {}],
    ['POST', '/trim', { min_available_version: 1 }],
    ['DELETE', '/versions/1', undefined],
    ['POST', '/versions/1/schedule-destruction', {}],
    ['GET', '/public-key', undefined],
    ['GET', '/jwks', undefined],
  ] as const) {
    const answers = new Set<string>();
    for (const ref of refs) {
      const { status, text, headers } = await call(method, `/crypto/keys/${ref}${tail}`, { key, body });
      answers.add(`${status} ${text.replace(headers.get('x-request-id') as string, '')}`);
    }
    assert.equal(answers.size, 1, [...answers].join('\n'));
    assert.match([...answers][0] as string, /^404 /);
  }
});

test('a destroyed version is erased, opens never again although it was opened before, and destroying it again changes nothing', async () => {
  const { live } = await workspace();
  const { name, id } = await create(live, { key_type: 'ed25519' });
  const opened = await findKey(live, name);
  assert.ok(opened && (await material(opened, 1)));
  const destroy = (n: string) => made(live, 'crypto_keys.destroy_version', { name, n });
  await assert.rejects(destroy('1'), { type: 'deletion_not_allowed', status: 409 });
  await unlatch(live, name);
  await assert.rejects(destroy('1'), { type: 'in_use', status: 409 });
  await rotate(live, name);
  for (const n of ['3', '0', '01', '1.0', '1e0', '-1', 'x']) await assert.rejects(destroy(n), { type: 'not_found' });
  assert.deepEqual(await destroy('1'), { deleted: true, destroyed: 1 });
  const row = await db().crypto_key_versions.findFirstOrThrow({ where: { key_id: id, version: 1 } });
  assert.deepEqual(
    [row.status, row.value_ct, row.cek_wrapped, row.tmk_version, row.public_key_spki],
    ['destroyed', null, null, null, null],
  );
  const now = await findKey(live, name);
  await assert.rejects(material(now as NonNullable<typeof now>, 1), { type: 'key_version_destroyed', status: 410 });
  await assert.rejects(made(live, 'crypto_keys.public_key', { name, version: 1 }), { type: 'key_version_destroyed' });
  assert.deepEqual(
    (await made(live, 'crypto_keys.jwks', { name })).keys.map((k: { kid: string }) => k.kid),
    [`${id}.v2`],
  );
  const before = await db().audit_logs.count({ where: { tenant_id: live.tenant_id } });
  await made(live, 'crypto_keys.update', { name, deletion_allowed: false });
  assert.deepEqual(await destroy('1'), { deleted: true, destroyed: 1 });
  assert.equal(await db().audit_logs.count({ where: { tenant_id: live.tenant_id } }), before + 1, 'only the latch was recorded');
  const entry = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: live.tenant_id, action: 'delete', resource_type: 'crypto_key' },
  });
  assert.deepEqual({ ...(entry.details as object), version: 1, affected_tokens: 0, name }, entry.details);
});

test('the database itself refuses a destroyed version that has material, and a live one without', async () => {
  const { live } = await workspace();
  const { id } = await create(live);
  for (const change of ["status = 'destroyed', destroyed_at = now()", 'value_ct = null', "status = 'retired', tmk_version = null"])
    await assert.rejects(sql().query(`update crypto_key_versions set ${change} where key_id = $1`, [id]), /crypto_key_versions_erased/);
});

test('raising the latch takes the right to destroy, also where a policy denies that for this key', async () => {
  const w = await workspace();
  const { name } = await create(w.live);
  const editor = await w.key('live', 'Key - Editor');
  const patch = (key: string, body: object) => call('PATCH', `/crypto/keys/${name}`, { key, body });
  const refused = await patch(editor.text, { deletion_allowed: true });
  assert.deepEqual([refused.status, refused.body.error.type], [403, 'forbidden']);
  assert.match(refused.body.error.message, /transit:destroy/);
  assert.equal((await patch(editor.text, { description: 'x', deletion_allowed: false })).status, 200);
  await deny(w, 'keep it', ['transit:destroy'], name);
  const infrastructure = await w.key();
  assert.match((await patch(infrastructure.text, { deletion_allowed: true })).body.error.message, /keep it/);
  assert.equal((await get(w.live, name)).deletion_allowed, false);
});

test('a policy narrowed to a key holds for its name and its ID, hides it in the list, and for no other key', async () => {
  const w = await workspace();
  const [guarded, other] = [await create(w.live), await create(w.live)];
  for (const actions of [['transit:rotate', 'transit:update'], ['transit:read']]) await deny(w, fresh('p'), actions, guarded.name);
  const { text: key } = await w.key();
  for (const ref of [guarded.name, guarded.id, guarded.id.toUpperCase()]) {
    assert.equal((await call('POST', `/crypto/keys/${ref}/rotate`, { key, body: {} })).status, 403);
    assert.equal((await call('GET', `/crypto/keys/${ref}`, { key })).status, 403);
  }
  assert.equal((await call('POST', `/crypto/keys/${other.name}/rotate`, { key, body: {} })).status, 200);
  const { body } = await call('GET', '/crypto/keys', { key });
  assert.deepEqual(
    body.data.map((k: { id: string }) => k.id),
    [other.id],
  );
  const found = await made(w.member('viewer'), 'search.query', { q: 'key' });
  assert.deepEqual([JSON.stringify(found).includes(guarded.id), JSON.stringify(found).includes(other.id)], [false, true]);
});

test('a scheduled destruction disables at once, is undone by cancelling or by lowering the latch, and is carried out once when due', async () => {
  const { live } = await workspace();
  const { name, id } = await create(live, { key_type: 'ecdsa-p384' });
  await rotate(live, name);
  const schedule = (n: string, days = 7) => made(live, 'crypto_keys.schedule_destruction', { name, n, days });
  await assert.rejects(schedule('1'), { type: 'deletion_not_allowed' });
  await unlatch(live, name);
  await assert.rejects(schedule('2'), { type: 'in_use' });
  for (const days of [6, 31]) await assert.rejects(schedule('1', days), { type: 'validation_error' });
  const kids = async () => (await made(live, 'crypto_keys.jwks', { name })).keys.map((k: { kid: string }) => k.kid);
  const { destroy_after } = await schedule('1');
  assert.equal(Date.parse(destroy_after) - live.now.getTime(), 7 * DAY);
  assert.deepEqual(await kids(), [`${id}.v2`]);
  const key = await findKey(live, name);
  await assert.rejects(material(key as NonNullable<typeof key>, 1), { type: 'key_version_disabled' });
  await made(live, 'crypto_keys.cancel_destruction', { name, n: '1' });
  assert.deepEqual(await kids(), [`${id}.v2`, `${id}.v1`]);
  await schedule('1');
  await made(live, 'crypto_keys.update', { name, deletion_allowed: false });
  assert.deepEqual(await kids(), [`${id}.v2`, `${id}.v1`]);
  await unlatch(live, name);
  await schedule('1', 8);
  const sweep = (at: number) => sweepLeases(leases, { db: db(), now: new Date(live.now.getTime() + at) });
  await sweep(8 * DAY - 1_000);
  assert.deepEqual(await statesOf(live, name), ['2 active', '1 retired']);
  await Promise.all([sweep(8 * DAY + 1_000), sweep(8 * DAY + 1_000)]);
  assert.deepEqual(await statesOf(live, name), ['2 active', '1 destroyed']);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: live.tenant_id, action: 'delete', resource_type: 'crypto_key' } });
  assert.deepEqual(
    entries.map(({ actor_type, details }) => [
      actor_type,
      (details as { version: number }).version,
      (details as { trigger: string }).trigger,
    ]),
    [['system', 1, 'schedule']],
  );
  await assert.rejects(schedule('1'), { type: 'key_version_destroyed' });
  await assert.rejects(made(live, 'crypto_keys.cancel_destruction', { name, n: '1' }), { type: 'key_version_destroyed' });
});

test('trim destroys all versions below one, never the active one', async () => {
  const { live } = await workspace();
  const { name } = await create(live);
  for (let i = 0; i < 3; i++) await rotate(live, name);
  const trim = (n: number) => made(live, 'crypto_keys.trim', { name, min_available_version: n });
  await assert.rejects(trim(3), { type: 'deletion_not_allowed' });
  await unlatch(live, name);
  await assert.rejects(trim(5), { type: 'validation_error' });
  assert.deepEqual(await trim(3), { destroyed: [1, 2] });
  assert.deepEqual(await trim(3), { destroyed: [] });
  assert.deepEqual(await trim(4), { destroyed: [3] });
  assert.deepEqual(await statesOf(live, name), ['4 active', '3 destroyed', '2 destroyed', '1 destroyed']);
});

test('deleting a key erases every version, frees the name, the plan and the palette, and leaves a tombstone', async () => {
  const w = await workspace({ plan: 'free' });
  const names = ['one', 'two', 'three'];
  for (const name of names) await create(w.live, { name });
  await assert.rejects(create(w.live), { type: 'plan_limit', status: 402 });
  await assert.rejects(made(w.live, 'crypto_keys.delete', { name: 'one' }), { type: 'deletion_not_allowed' });
  await unlatch(w.live, 'one');
  const { id } = await get(w.live, 'one');
  assert.deepEqual(await made(w.live, 'crypto_keys.delete', { name: 'one' }), { deleted: true });
  const versions = await db().crypto_key_versions.findMany({ where: { key_id: id } });
  assert.deepEqual(
    versions.map((v) => [v.status, v.value_ct]),
    [['destroyed', null]],
  );
  assert.ok((await db().crypto_keys.findUniqueOrThrow({ where: { id } })).deleted_at);
  assert.equal(await db().search_documents.count({ where: { ref_id: id } }), 0);
  assert.notEqual((await create(w.live, { name: 'ONE' })).id, id);
  assert.deepEqual(
    (await made(w.live, 'crypto_keys.list')).map((k: { name: string }) => k.name),
    ['ONE', 'three', 'two'],
  );
});

test("keys of vaults and of the service aren't counted, rotated, set up or deleted here, but their versions can be destroyed", async () => {
  const w = await workspace({ plan: 'free' });
  const keys = await inTransaction(w.live, async (tx) => {
    const vault = await createKey(tx, w.live, { name: 'vault.x', key_type: 'aes256-gcm', managed_by: 'vault' });
    const service = await createKey(tx, w.live, { name: 'kc-default', key_type: 'ecdh-p256', managed_by: 'service' });
    return [vault.key, service.key];
  });
  for (const name of ['a', 'b', 'c']) await create(w.live, { name });
  await unlatch(w.live, 'vault.x');
  await unlatch(w.live, 'kc-default');
  await assert.rejects(rotate(w.live, 'vault.x'), { type: 'key_managed', status: 409 });
  await assert.rejects(made(w.live, 'crypto_keys.update', { name: 'vault.x', auto_rotate_days: 3 }), { type: 'key_managed' });
  await made(w.live, 'crypto_keys.update', { name: 'vault.x', description: 'ours' });
  for (const name of ['vault.x', 'kc-default']) await assert.rejects(made(w.live, 'crypto_keys.delete', { name }), { type: 'key_managed' });
  assert.deepEqual(await rotate(w.live, 'kc-default'), { new_version: 2 });
  assert.deepEqual(await made(w.live, 'crypto_keys.destroy_version', { name: 'kc-default', n: '1' }), { deleted: true, destroyed: 1 });
  // The vault goes, latch or not.
  await inTransaction(w.live, (tx) => destroyAllVersions(tx, w.live, (keys[0] as { id: string }).id));
  await assert.rejects(get(w.live, 'vault.x'), { type: 'not_found' });
});

test('the entry of a destruction says how many values of a vault go with it', async () => {
  const { live } = await workspace();
  const vault = await made(live, 'vaults.create', { name: fresh('vault') });
  for (const value of ['one', 'two']) await made(live, 'vaults.tokenize', { vault: vault.name, value });
  await made(live, 'vaults.rotate', { vault: vault.name });
  await made(live, 'vaults.tokenize', { vault: vault.name, value: 'three' });
  const name = `vault.${vault.id}`;
  await unlatch(live, name);
  const activity = await made(live, 'crypto_keys.activity', { name });
  assert.deepEqual(
    [activity.tokens, activity.used_by],
    [
      [
        { version: 2, count: 1 },
        { version: 1, count: 2 },
      ],
      [`vault ${vault.name}`],
    ],
  );
  await made(live, 'crypto_keys.destroy_version', { name, n: '1' });
  const where = { tenant_id: live.tenant_id, action: 'delete', resource_type: 'crypto_key' };
  const { details } = await db().audit_logs.findFirstOrThrow({ where });
  assert.equal((details as { affected_tokens: number }).affected_tokens, 2);
});

test('bundled takes the plan feature, may be tried in Test, and only for keys that agents can use', async () => {
  const w = await workspace({ plan: 'starter' });
  await assert.rejects(create(w.live, { mode: 'bundled' }), { type: 'plan_feature', status: 402 });
  assert.equal((await create(w.test, { mode: 'bundled', key_type: 'hmac-sha256' })).mode, 'bundled');
  await assert.rejects(create(w.test, { mode: 'bundled', key_type: 'ed25519' }), { type: 'validation_error' });
  for (const mode of ['encrypt', 'sign', 'hmac']) await assert.rejects(create(w.test, { mode }), { type: 'validation_error' });
});

test('name, type and mode never change, and settings fit the type and the versions', async () => {
  const { live } = await workspace();
  const { name } = await create(live);
  const update = (input: object) => made(live, 'crypto_keys.update', { name, ...input });
  for (const input of [
    { key_type: 'ed25519' },
    { mode: 'bundled' },
    { mode: 'cloud-only', description: 'x' },
    { derived: true },
    { jwks_public: true },
    { min_decryption_version: 2 },
    { min_encryption_version: 2 },
    { min_decryption_version: 0 },
    { auto_rotate_days: 0 },
    { auto_rotate_days: 3651 },
    {},
  ])
    await assert.rejects(update(input), { type: 'validation_error' }, JSON.stringify(input));
  await rotate(live, name);
  assert.equal((await update({ min_decryption_version: 2 })).min_decryption_version, 2);
  assert.equal((await update({ min_decryption_version: 1, auto_rotate_days: null })).min_decryption_version, 1);
});

test('only keys that encrypt are derived, and only derived ones convergent', async () => {
  const { live } = await workspace();
  for (const input of [{ convergent: true }, { derived: true, key_type: 'ed25519' }, { derived: true, key_type: 'hmac-sha256' }])
    await assert.rejects(create(live, input), { type: 'validation_error' });
  const { derived, convergent } = await create(live, { derived: true, convergent: true });
  assert.deepEqual([derived, convergent], [true, true]);
});

test('after a rotation JWTs stay with the version that verifiers know for as long as they may hold the old set', async () => {
  const { live } = await workspace();
  const { name } = await create(live, { key_type: 'ed25519' });
  const row = () => db().crypto_keys.findFirstOrThrow({ where: { tenant_id: live.tenant_id, name, deleted_at: null } });
  await rotate(live, name);
  assert.equal((await row()).jwt_version_from, null, 'without a public set nobody holds one');
  await made(live, 'crypto_keys.update', { name, jwks_public: true });
  await rotate(live, name);
  const first = await row();
  assert.deepEqual([first.jwt_version, (first.jwt_version_from?.getTime() ?? 0) - live.now.getTime()], [2, 300_000]);
  const soon = { ...live, now: new Date(live.now.getTime() + 100_000) };
  await rotate(soon, name);
  assert.equal((await row()).jwt_version, 2, 'version 3 may be unknown to some still');
  const late = { ...live, now: new Date(live.now.getTime() + 500_000) };
  await rotate(late, name);
  assert.equal((await row()).jwt_version, 4);
  await made(late, 'crypto_keys.update', { name, min_decryption_version: 5 });
  assert.deepEqual([(await row()).jwt_version, (await row()).jwt_version_from], [null, null], 'never with a version that verifies nothing');
});

test('a key has at most a hundred live versions', async () => {
  const { live } = await workspace();
  const { name, id } = await create(live);
  await sql().query(
    `insert into crypto_key_versions (id, key_id, tenant_id, sandbox, version, status, value_ct, cek_wrapped, tmk_version)
     select gen_random_uuid(), key_id, tenant_id, sandbox, n + 1, 'retired', value_ct, cek_wrapped, tmk_version from crypto_key_versions, generate_series(1, 99) n where key_id = $1`,
    [id],
  );
  await sql().query('update crypto_keys set current_version = 100 where id = $1', [id]);
  await assert.rejects(rotate(live, name), { type: 'in_use', status: 409 });
  await sql().query(
    "update crypto_key_versions set status = 'destroyed', value_ct = null, cek_wrapped = null, tmk_version = null, destroyed_at = now() where key_id = $1 and version = 50",
    [id],
  );
  assert.deepEqual(await rotate(live, name), { new_version: 101 });
});

test('the hourly job rotates what is due, once for two workers, and a key that cannot be rotated holds up no other', async () => {
  const w = await workspace();
  const [due, young, worn, gone] = await Promise.all([
    create(w.live, { auto_rotate_days: 30 }),
    create(w.live, { auto_rotate_days: 31 }),
    create(w.test),
    create(w.live, { auto_rotate_days: 1 }),
  ]);
  await sql().query('update crypto_key_versions set encrypt_count = 4294967296 where key_id = $1', [worn.id]);
  await unlatch(w.live, gone.name);
  await made(w.live, 'crypto_keys.delete', { name: gone.name });
  const broken = await create(w.live, { auto_rotate_days: 1 });
  await sql().query("update crypto_keys set key_type = 'of-tomorrow' where id = $1", [broken.id]);
  const at = new Date(w.live.now.getTime() + 30 * DAY + 5_000);
  await Promise.all([rotateDueKeys(db(), at), rotateDueKeys(db(), at)]);
  const versions = await db().crypto_keys.findMany({ where: { tenant_id: w.tenant.id }, select: { id: true, current_version: true } });
  const now = new Map(versions.map((k) => [k.id, k.current_version]));
  assert.deepEqual(
    [due, young, worn, gone, broken].map(({ id }) => now.get(id)),
    [2, 1, 2, 1, 1],
  );
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'rotate' }, orderBy: { seq: 'asc' } });
  assert.deepEqual(entries.map((e) => [e.actor_type, (e.details as { trigger: string }).trigger]).sort(), [
    ['system', 'encryption_limit'],
    ['system', 'schedule'],
  ]);
  await db().crypto_keys.delete({ where: { id: broken.id } });
});

test('a key that encrypted too often says so, and machines see neither usage of others nor material', async () => {
  const w = await workspace();
  const { name, id } = await create(w.live);
  await sql().query('update crypto_key_versions set encrypt_count = 2147483648 where key_id = $1', [id]);
  await sql().query(
    "insert into crypto_key_uses values ($1, false, $2, (now() at time zone 'UTC')::date, 'encrypt', 7), ($1, false, $2, (now() at time zone 'UTC')::date, 'decrypt', 2)",
    [w.tenant.id, id],
  );
  const { text: key } = await w.key();
  const answer = await call('GET', `/crypto/keys/${name}`, { key });
  assert.match(answer.body.meta.warnings[0], /2\^31/);
  assert.deepEqual(Object.keys(answer.body.data.versions[0]).sort(), [
    'created_at',
    'created_by',
    'destroy_after',
    'destroyed_at',
    'encrypt_count',
    'retired_at',
    'status',
    'version',
  ]);
  const [usage] = await made(w.member('viewer'), 'crypto_keys.usage');
  assert.deepEqual([usage.id, usage.live_versions, usage.encryptions, usage.uses], [id, 1, 7, 9]);
  const activity = await made(w.member('viewer'), 'crypto_keys.activity', { name });
  assert.deepEqual(
    activity.days.map((d: { operations: unknown }) => d.operations),
    [{ decrypt: 2, encrypt: 7 }],
  );
});

test('who created a key: the person, and nobody for a machine', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  assert.equal((await create(owner)).created_by, owner.actor.id);
  assert.equal((await create(w.ctx('live', keyActor('Key - Editor')))).created_by, null);
});
