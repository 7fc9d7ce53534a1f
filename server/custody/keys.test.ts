import assert from 'node:assert/strict';
import test from 'node:test';
import { decrypt, encrypt, parseCipherText } from '#server/crypto/transit/cipher-text.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { ownSql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { destroyVersion, storedKey } from '#server/testing/stored-keys.ts';
import { workspace } from '#server/testing/workspace.ts';
import { findKey, keyById, type UsableKey } from './keys.ts';
import { material } from './material.ts';

await testDatabase();

const found = async (key: Promise<UsableKey | null>): Promise<UsableKey> => {
  const one = await key;
  assert.ok(one);
  return one;
};

test('finds a key by name and by ID in its own space only', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const { id, name } = await storedKey(w.live, { name: 'Card data. v2', versions: 2, extra: { min_decryption_version: 2 } });
  for (const ref of [id, name, id.toUpperCase()]) assert.equal((await findKey(w.live, ref))?.id, id, ref);
  const key = await found(keyById(w.live, id));
  assert.deepEqual(
    [key.key_type, key.current_version, key.min_decryption_version, key.min_encryption_version, key.jwt, key.derived, key.managed_by],
    ['aes256-gcm', 2, 2, 1, null, false, 'tenant'],
  );
  assert.deepEqual(
    key.versions.map(({ version, status, scheduled, worn }) => [version, status, scheduled, worn]),
    [
      [2, 'active', false, false],
      [1, 'retired', false, false],
    ],
  );
  for (const ref of ['card data. v2', 'unknown', '', '\0', "' or 1=1", 'x'.repeat(200)])
    assert.equal(await findKey(w.live, ref), null, ref);
  assert.equal(await keyById(w.live, name), null);
  for (const space of [w.test, other.live, other.test]) {
    assert.equal(await findKey(space, id), null);
    assert.equal(await findKey(space, name), null);
  }
  await db().crypto_keys.update({ where: { id }, data: { deleted_at: new Date() } });
  assert.equal(await findKey(w.live, name), null);
});

test('questions that arrive together share one statement, and each has its own answer', async (t) => {
  const w = await workspace();
  const keys = await Promise.all([1, 2, 3].map(() => storedKey(w.live)));
  const query = t.mock.method(ownSql(), 'query');
  const asked = Array.from({ length: 300 }, (_, i) => keys[i % 3]?.[i % 2 ? 'name' : 'id'] as string);
  const answers = await Promise.all([...asked, 'nothing'].map((ref) => findKey(w.live, ref)));
  assert.deepEqual(
    answers.map((key) => key?.id ?? null),
    [...asked.map((_, i) => keys[i % 3]?.id), null],
  );
  assert.equal(query.mock.callCount(), 1);
});

test('a change of a key holds for the next use', async () => {
  const w = await workspace();
  const { id, name, versions } = await storedKey(w.live, { versions: 2 });
  assert.equal((await found(findKey(w.live, name))).versions[0]?.worn, false);
  await db().crypto_key_versions.update({ where: { id: versions[1] as string }, data: { encrypt_count: 2n ** 31n } });
  await db().crypto_keys.update({
    where: { id },
    data: { min_decryption_version: 2, jwt_version: 1, jwt_version_from: new Date(1_767_225_600_000) },
  });
  const key = await found(findKey(w.live, name));
  assert.deepEqual([key.versions[0]?.worn, key.min_decryption_version], [true, 2]);
  assert.deepEqual(key.jwt, { version: 1, until: new Date(1_767_225_600_000) });
});

test('a version that was destroyed is never used again, not even from memory', async () => {
  const w = await workspace();
  const { name, versions } = await storedKey(w.live, { versions: 2 });
  const before = await found(findKey(w.live, name));
  const text = encrypt(await material(before, 1), 1, Buffer.from('x'));
  await destroyVersion(versions[0] as string);
  const after = await found(findKey(w.live, name));
  await assert.rejects(material(after, 1), { type: 'key_version_destroyed' });
  assert.throws(() => decrypt(undefined as never, parseCipherText(text)));
  // A use that read the state before finishes with what it opened, and can open nothing that wasn't open.
  const [other] = [await storedKey(w.live)];
  const early = await found(findKey(w.live, other.name));
  await destroyVersion(other.versions[0] as string);
  await assert.rejects(material(early, 1), { type: 'key_version_destroyed' });
});

test('a version whose destruction is scheduled refuses every use until that is undone', async () => {
  const w = await workspace();
  const { name, versions } = await storedKey(w.live, { versions: 2 });
  const where = { id: versions[0] as string };
  await db().crypto_key_versions.update({ where, data: { destroy_after: new Date(Date.now() + 86_400_000) } });
  await assert.rejects(material(await found(findKey(w.live, name)), 1), { type: 'key_version_disabled' });
  await db().crypto_key_versions.update({ where, data: { destroy_after: null } });
  assert.equal((await material(await found(findKey(w.live, name)), 1)).type, 'aes256-gcm');
});

test('material is opened once, and again when the tenant key was dropped; without the tenant key nothing is used', async () => {
  const w = await workspace();
  const key = await found(findKey(w.live, (await storedKey(w.live)).name));
  const [first, second] = await Promise.all([material(key, 1), material(key, 1)]);
  assert.ok(first === second && first === (await material(key, 1)));
  keyring().evict(w.tenant.id);
  const again = await material(key, 1);
  assert.ok(again !== first);
  const text = encrypt(first, 1, Buffer.from('the same key'));
  assert.equal(decrypt(again, parseCipherText(text)).toString(), 'the same key');

  await db().tenant_master_keys.updateMany({ where: { tenant_id: w.tenant.id }, data: { wrapped_key: null } });
  keyring().evict(w.tenant.id);
  await assert.rejects(material(key, 1), (error: { type?: string; retryAfter?: number }) => {
    assert.deepEqual([error.type, error.retryAfter], ['tenant_sealed', 30]);
    return true;
  });
});
