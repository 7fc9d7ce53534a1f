import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import type { SealedPlace } from '#server/crypto/aad.ts';
import { loadRootKeys } from '#server/crypto/root-key.ts';
import { publicKeyDocument } from '#server/domain/audit-logs/signing.ts';
import { withSeed } from '#server/domain/factors/seeds.ts';
import { openMail, postMail } from '#server/domain/mail/service.ts';
import { signInCode } from '#server/domain/mail/templates.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring, rootKeys, wipeKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { asPerson, enrolled } from '#server/testing/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { resumeRewraps, rewrap } from './rewrap.ts';
import { checkRootKey } from './root-check.ts';
import { rotateRootKey } from './root-rotation.ts';
import { SEALED_TABLES } from './sealed-tables.ts';
import { listTenantKeys, rotateTenantKey } from './service.ts';

await ownDatabase();

const placeOf = (ctx: Ctx, id: string): SealedPlace => ({
  tenant_id: ctx.tenant_id,
  space: ctx.sandbox ? 'test' : 'live',
  purpose: 'secret_value',
  row_id: id,
});

/** A sealed value as a secret has it. */
async function store(ctx: Ctx, text: string): Promise<string> {
  const [secretId, environmentId, id] = [newId(), newId(), newId()];
  const sealed = await keyring().sealValue(placeOf(ctx, id), Buffer.from(text));
  const at = { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox };
  await db().secrets.create({ data: { ...at, id: secretId, name: secretId, shortcode_name: secretId } });
  await db().secret_environments.create({ data: { ...at, id: environmentId, secret_id: secretId, environment_name: 'production' } });
  await db().secret_values.create({ data: { ...at, id, secret_environment_id: environmentId, value_version: 1, ...sealed } });
  return id;
}

async function open(ctx: Ctx, id: string): Promise<string> {
  const row = await db().secret_values.findUniqueOrThrow({ where: { id } });
  return (
    await keyring().openValue(placeOf(ctx, id), { value_ct: row.value_ct!, cek_wrapped: row.cek_wrapped!, tmk_version: row.tmk_version })
  ).toString();
}

const versionsOf = async (w: Workspace) =>
  (
    await db().secret_values.groupBy({
      by: ['tmk_version'],
      where: { tenant_id: w.tenant.id },
      _count: true,
      orderBy: { tmk_version: 'asc' },
    })
  ).map((g) => [g.tmk_version, g._count]);

test('the list of sealed tables is the catalogue of the database', async () => {
  const { rows } = await sql().query<{ table_name: string; column_name: string }>(
    // The values of vault_tokens are sealed by their vault's key, which is in the list.
    `select table_name, column_name from information_schema.columns where table_schema = 'public' and data_type = 'bytea'
       and (column_name like '%cek%' or column_name like '%wrapped%') and table_name not in ('tenant_master_keys', 'vault_tokens') order by 1`,
  );
  assert.deepEqual(
    rows.map((r) => `${r.table_name}.${r.column_name}`),
    SEALED_TABLES.map((t) => `${t.table}.${t.wrapped}`).sort(),
  );
  for (const t of SEALED_TABLES) {
    const needed = ['id', 'tenant_id', t.version, ...(t.space === 'by_row' ? ['sandbox'] : [])];
    const found = await sql().query<{ column_name: string }>(
      'select column_name from information_schema.columns where table_name = $1 and column_name = any($2)',
      [t.table, needed],
    );
    assert.equal(found.rows.length, needed.length, t.table);
  }
});

test('rotation during a hundred concurrent reads and writes: nothing fails and everything ends under the new key', async () => {
  const w = await workspace();
  const kept = await Promise.all(Array.from({ length: 20 }, (_, i) => store(i % 2 ? w.test : w.live, `value ${i}`)));
  const work = Array.from({ length: 100 }, (_, i) => {
    const ctx = i % 2 ? w.test : w.live;
    return i % 4 < 2
      ? store(ctx, `new ${i}`).then((id) => open(ctx, id))
      : open(kept.indexOf(kept[i % 20]!) % 2 ? w.test : w.live, kept[i % 20]!);
  });
  const { new_version, rewrap_lease_id } = await rotateTenantKey(w.live);
  await Promise.all(work);
  await rewrap(rewrap_lease_id!, { pause: 0 });
  await resumeRewraps({ pause: 0, stragglers: true });
  assert.equal(new_version, 2);
  assert.deepEqual(
    (await versionsOf(w)).map(([v]) => v),
    [2],
  );
  for (const [i, id] of kept.entries()) assert.equal(await open(i % 2 ? w.test : w.live, id), `value ${i}`);
  const keys = (await listTenantKeys(w.member('owner'))).keys;
  assert.deepEqual(
    keys.map((k) => [k.version, k.status, k.values > 0]),
    [
      [2, 'active', true],
      [1, 'retired', false],
    ],
  );
  assert.ok(keys[1]?.rewrap_completed_at);
});

test('a rotation is recorded in the critical chain, and does not happen when it cannot be', async () => {
  const w = await workspace();
  await rotateTenantKey(w.member('owner'));
  const entries = await db().audit_log_critical.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    entries.map((e) => [e.action, e.resource_type, (e.details as { to_version: number }).to_version]),
    [['byok.kms.rotate', 'tenant_master_key', 2]],
  );
  await sql().query('revoke insert on audit_log_critical from sallyport_app');
  await assert.rejects(rotateTenantKey(w.live), { type: 'audit_unavailable' });
  await sql().query('grant insert on audit_log_critical to sallyport_app');
  assert.deepEqual(
    (await listTenantKeys(w.live)).keys.map((k) => k.version),
    [2, 1],
  );
});

test('of two rotations at once one is refused or comes after; there is always one active key', async () => {
  const w = await workspace();
  const results = await Promise.allSettled(Array.from({ length: 4 }, () => rotateTenantKey(w.live)));
  for (const r of results) if (r.status === 'rejected') assert.equal((r.reason as { type: string }).type, 'rotation_in_progress');
  const done = results.filter((r) => r.status === 'fulfilled').length;
  const keys = await db().tenant_master_keys.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual([keys.length, keys.filter((k) => k.status === 'active').length], [done + 1, 1]);
});

test('a worker killed in the middle leaves work that another one finishes, and nobody moves a row twice', async () => {
  const w = await workspace();
  for (let i = 0; i < 25; i++) await store(w.live, `v${i}`);
  const { rewrap_lease_id: lease } = await rotateTenantKey(w.live);
  const killed = new AbortController();
  killed.abort();
  assert.equal(await rewrap(lease!, { batch: 10, pause: 0, signal: killed.signal }), 10);
  assert.deepEqual(await versionsOf(w), [
    [1, 15],
    [2, 10],
  ]);
  // As a killed process leaves it: still owned, its minute not over.
  await sql().query("update rewrap_leases set owner = 'dead', expires_at = now() + interval '30 seconds' where id = $1", [lease]);
  assert.equal(await rewrap(lease!, { pause: 0 }), null, 'a living lease is respected');
  await sql().query('update rewrap_leases set expires_at = now() where id = $1', [lease]);
  assert.deepEqual(
    await Promise.all([resumeRewraps({ batch: 4, pause: 0 }), resumeRewraps({ batch: 4, pause: 0 })]).then((n) => n[0]! + n[1]!),
    15,
  );
  assert.deepEqual(await versionsOf(w), [[2, 25]]);
  assert.equal(await rewrap(lease!, { pause: 0 }), null, 'done is done');
});

test('re-wrapping touches neither values nor versions nor times', async () => {
  const w = await workspace();
  const id = await store(w.live, 'x');
  const before = await db().secret_values.findUniqueOrThrow({ where: { id } });
  const { rewrap_lease_id: lease } = await rotateTenantKey(w.live);
  await rewrap(lease!, { pause: 0 });
  const after = await db().secret_values.findUniqueOrThrow({ where: { id } });
  assert.deepEqual({ ...after, cek_wrapped: null, tmk_version: 0 }, { ...before, cek_wrapped: null, tmk_version: 0 });
  assert.notDeepEqual(after.cek_wrapped, before.cek_wrapped);
});

test('blobs swapped between two rows, or copied from Live into Test, open nowhere', async () => {
  const w = await workspace();
  const [one, two, copy] = [await store(w.live, 'one'), await store(w.live, 'two'), await store(w.test, 'in test')];
  const blobs = async (id: string) =>
    db().secret_values.findUniqueOrThrow({ where: { id }, select: { value_ct: true, cek_wrapped: true, tmk_version: true } });
  const [first, second] = [await blobs(one), await blobs(two)];
  await db().secret_values.update({ where: { id: one }, data: second });
  await db().secret_values.update({ where: { id: two }, data: first });
  await db().secret_values.update({ where: { id: copy }, data: first });
  for (const [ctx, id] of [
    [w.live, one],
    [w.live, two],
    [w.test, copy],
  ] as const)
    await assert.rejects(open(ctx, id), { name: 'DecryptFailed' });
  await db().secret_values.update({ where: { id: one }, data: first });
  assert.equal(await open(w.live, one), 'one', 'back in its own row it opens');
});

test('a damaged row is left, reported, and keeps the retired key from being called done', async () => {
  const w = await workspace();
  const [good, bad] = [await store(w.live, 'good'), await store(w.live, 'bad')];
  await db().secret_values.update({ where: { id: bad }, data: { cek_wrapped: new Uint8Array(60) } });
  const { rewrap_lease_id: lease } = await rotateTenantKey(w.live);
  await rewrap(lease!, { pause: 0, batch: 1 });
  assert.equal(await open(w.live, good), 'good');
  const { keys, rewrap: state } = await listTenantKeys(w.live);
  assert.deepEqual([keys[1]?.values, keys[1]?.rewrap_completed_at, state?.rows_total], [1, null, 2]);
});

test('a value sealed by a process that had not heard of the rotation is moved by the hourly sweep', async () => {
  const w = await workspace();
  const { rewrap_lease_id: lease } = await rotateTenantKey(w.live);
  await rewrap(lease!, { pause: 0 });
  const id = await store(w.live, 'late');
  const row = await db().secret_values.findUniqueOrThrow({ where: { id } });
  const v1 = await keyring().tmk(w.tenant.id, 1);
  const { rewrapUnder } = await import('#server/crypto/envelope.ts');
  const old = rewrapUnder(await keyring().tmk(w.tenant.id, 2), v1, placeOf(w.live, id), { cek_wrapped: row.cek_wrapped!, tmk_version: 2 });
  await db().secret_values.update({ where: { id }, data: old });
  assert.equal(await open(w.live, id), 'late');
  await resumeRewraps({ pause: 0 });
  assert.deepEqual(await versionsOf(w), [[1, 1]]);
  await resumeRewraps({ pause: 0, stragglers: true });
  assert.deepEqual(await versionsOf(w), [[2, 1]]);
});

test('a root key that does not fit the database is refused by name before anything runs, and root rotation makes it fit', async () => {
  const w = await workspace();
  const id = await store(w.live, 'precious');
  const before = await publicKeyDocument();
  const mailId = await postMail(db(), {
    to: 'a@example.test',
    kind: 'sign_in',
    letter: signInCode('123456', 'https://x.test'),
    now: new Date(),
  });
  const { user_id } = await asPerson(w.member('owner'));
  const { seed } = await enrolled(user_id);
  const old = process.env.MASTER_KEY_B64!;
  const oldId = rootKeys().current.id;
  await checkRootKey();
  const fresh = randomBytes(32).toString('base64');
  // The settings of this process are read once, so the module's keys are replaced as a restart would.
  const restart = async (current: string, previous?: string) => {
    wipeKeys();
    const roots = loadRootKeys({ masterKeyB64: current, previousB64: previous, file: '/nonexistent' });
    Object.assign(rootKeys(), { previous: undefined }, roots);
  };
  await restart(fresh);
  await assert.rejects(
    checkRootKey(),
    (error: Error) =>
      error.name === 'RootKeyRefused' &&
      error.message.includes(oldId) &&
      error.message.includes(rootKeys().current.id) &&
      !error.message.includes(old),
  );
  const client = await sql().connect();
  await client.query('create temp table tenant_master_keys (like public.tenant_master_keys)');
  await assert.rejects(checkRootKey(client), /the keys of the service are sealed by root key/, 'an installation without workspaces');
  client.release(true);
  await assert.rejects(rotateTenantKey(w.live), { type: 'conflict' }, 'a foreign root key wraps no new key');
  assert.equal(await db().tenant_master_keys.count({ where: { tenant_id: w.tenant.id } }), 1);
  const stuck = await rotateRootKey();
  assert.ok(stuck.moved === 0 && stuck.remaining > 0, 'without the previous key nothing moves and nothing breaks');
  await restart(fresh, old);
  await checkRootKey();
  const { moved, remaining } = await rotateRootKey();
  assert.ok(moved > 1 && remaining === 0);
  assert.deepEqual(await rotateRootKey(), { moved: 0, remaining: 0 }, 'safe to run twice');
  await restart(fresh);
  await checkRootKey();
  assert.match(openMail(await db().mails.findUniqueOrThrow({ where: { id: mailId } })).text, /123456/);
  assert.equal(await open(w.live, id), 'precious');
  const app = await db().totp_secrets.findFirstOrThrow({ where: { user_id } });
  assert.deepEqual(
    withSeed(app, (moved) => Buffer.from(moved)),
    seed,
  );
  assert.deepEqual(await publicKeyDocument(), before, 'the audit signing key moved with it');
});
