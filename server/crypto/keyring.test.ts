import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SealedPlace } from './aad.ts';
import { Keyring, type LoadTenantKey, type TenantKeyRow, TenantKeyUnavailable } from './keyring.ts';
import { randomBuffer } from './random.ts';
import { loadRootKeys } from './root-key.ts';
import { DecryptFailed } from './svt1.ts';
import { newTenantKey } from './tenant-key.ts';

const roots = loadRootKeys({ masterKeyB64: randomBuffer(32).toString('base64'), file: '' });
const tenant_id = '11111111-2222-4333-8444-555555555555';
const other_id = '99999999-2222-4333-8444-555555555555';
const place: SealedPlace = { tenant_id, space: 'live', purpose: 'secret_value', row_id: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' };
const plaintext = Buffer.from('plaintext');

/** The table tenant_master_keys in memory, with its reads counted and delayed as a database would. */
function keyTable() {
  const rows = new Map<string, TenantKeyRow[]>();
  const table = {
    reads: 0,
    rotate(tenantId: string) {
      const versions = rows.get(tenantId) ?? [];
      const version = versions.length + 1;
      rows.set(tenantId, [...versions, { version, wrap_method: 'global', ...newTenantKey(roots.current, tenantId, version) }]);
    },
    rows: (tenantId: string) => rows.get(tenantId) ?? [],
    load: (async (tenantId, version) => {
      table.reads += 1;
      await nextTurn();
      const versions = rows.get(tenantId) ?? [];
      return (version === 'active' ? versions.at(-1) : versions.find((row) => row.version === version)) ?? null;
    }) satisfies LoadTenantKey,
  };
  table.rotate(tenant_id);
  return table;
}

test('values and small values round-trip, also on the synchronous path once the key is known', async () => {
  const table = keyTable();
  const keyring = new Keyring(table.load, roots);
  const sealed = await keyring.sealValue(place, plaintext);
  assert.deepEqual(await keyring.openValue(place, sealed), plaintext);
  assert.deepEqual(keyring.openValueSync(place, sealed), plaintext);
  assert.deepEqual(await keyring.openSmall(place, await keyring.sealSmall(place, plaintext)), plaintext);
  assert.equal(table.reads, 1);
  const cold = new Keyring(table.load, roots);
  assert.equal(cold.openValueSync(place, sealed), undefined);
  await cold.tmk(tenant_id, 1);
  assert.deepEqual(cold.openValueSync(place, sealed), plaintext);
  assert.throws(() => cold.openValueSync({ ...place, space: 'test' }, sealed), DecryptFailed);
});

test('a hundred callers that miss together cause one read', async () => {
  const table = keyTable();
  const keyring = new Keyring(table.load, roots);
  const keys = await Promise.all(Array.from({ length: 100 }, () => keyring.activeTmk(tenant_id)));
  assert.equal(table.reads, 1);
  assert.equal(new Set(keys.map(({ key }) => key)).size, 1);
});

test('a key is dropped one hour after it was unwrapped, however often it is used', async () => {
  const table = keyTable();
  let now = 0;
  const keyring = new Keyring(table.load, roots, { now: () => now });
  const sealed = await keyring.sealValue(place, plaintext);
  for (now = 0; now < 3_600_000; now += 60_000) assert.ok(keyring.openValueSync(place, sealed));
  assert.equal(table.reads, 1);
  assert.equal(keyring.openValueSync(place, sealed), undefined);
  await keyring.openValue(place, sealed);
  assert.equal(table.reads, 2);
});

test("a key under a customer's KMS is dropped after five minutes, and its bytes are wiped at once", async () => {
  let now = 0;
  let calls = 0;
  const given: Uint8Array[] = [];
  const row: TenantKeyRow = { version: 1, wrap_method: 'customer_kms', wrapped_key: Buffer.from('opaque'), root_key_id: null };
  const unwrapByKms = async () => {
    calls += 1;
    const bytes = Uint8Array.from({ length: 32 }, (_, i) => i + 1);
    given.push(bytes);
    return bytes;
  };
  const keyring = new Keyring(async () => row, roots, { unwrapByKms, now: () => now });
  const sealed = await keyring.sealValue(place, plaintext);
  now = 299_999;
  assert.ok(keyring.openValueSync(place, sealed));
  now = 300_000;
  assert.equal(keyring.openValueSync(place, sealed), undefined);
  assert.deepEqual(await keyring.openValue(place, sealed), plaintext);
  assert.equal(calls, 2);
  assert.ok(given.every((bytes) => bytes.every((byte) => byte === 0)));
  await assert.rejects(new Keyring(async () => row, roots).activeTmk(tenant_id), { reason: 'no_kms' });
});

test('a failure is remembered for five seconds, then tried again', async () => {
  const table = keyTable();
  let now = 0;
  let down = true;
  const load: LoadTenantKey = (tenantId, version) => {
    if (!down) return table.load(tenantId, version);
    table.reads += 1;
    return Promise.reject(new Error('sealed'));
  };
  const keyring = new Keyring(load, roots, { now: () => now });
  await Promise.all(Array.from({ length: 20 }, () => assert.rejects(keyring.activeTmk(tenant_id), /sealed/)));
  down = false;
  now = 4_999;
  await assert.rejects(keyring.activeTmk(tenant_id), /sealed/);
  assert.equal(table.reads, 1);
  now = 5_000;
  assert.equal((await keyring.activeTmk(tenant_id)).version, 1);
});

test('eviction ends a remembered failure, so an unsealed tenant works at once', async () => {
  const table = keyTable();
  let down = true;
  const keyring = new Keyring((tenantId, version) => (down ? Promise.reject(new Error('sealed')) : table.load(tenantId, version)), roots);
  await assert.rejects(keyring.activeTmk(tenant_id), /sealed/);
  down = false;
  keyring.evict(tenant_id);
  assert.equal((await keyring.activeTmk(tenant_id)).version, 1);
});

test('a key fetched before an eviction is not kept after it', async () => {
  const table = keyTable();
  const keyring = new Keyring(table.load, roots);
  const running = keyring.tmk(tenant_id, 1);
  keyring.evict(tenant_id);
  const { version } = await running;
  assert.equal(version, 1);
  const sealed = await new Keyring(table.load, roots).sealValue(place, plaintext);
  assert.equal(keyring.openValueSync(place, sealed), undefined);
  await keyring.tmk(tenant_id, 1);
  keyring.wipe();
  assert.equal(keyring.openValueSync(place, sealed), undefined);
});

test('a revoked key, a missing version and a missing tenant are named, and nothing is decrypted', async () => {
  const table = keyTable();
  const keyring = new Keyring(table.load, roots);
  const sealed = await keyring.sealValue(place, plaintext);
  await assert.rejects(keyring.tmk(tenant_id, 7), { reason: 'missing' });
  await assert.rejects(keyring.activeTmk(other_id), TenantKeyUnavailable);
  const row = table.rows(tenant_id)[0];
  assert.ok(row);
  row.wrapped_key = null;
  keyring.evict(tenant_id);
  await assert.rejects(keyring.openValue(place, sealed), { reason: 'revoked' });
});

test("another tenant's key row, put in place of ours, opens nothing", async () => {
  const table = keyTable();
  table.rotate(other_id);
  const sealed = await new Keyring(table.load, roots).sealValue(place, plaintext);
  const mixed = new Keyring((_, version) => table.load(other_id, version), roots);
  await assert.rejects(mixed.openValue(place, sealed), DecryptFailed);
});

test('rotation during concurrent reads and writes loses nothing, and re-wrapping brings every row to the new version', async () => {
  const table = keyTable();
  const keyring = new Keyring(table.load, roots);
  const use = async (i: number) => {
    const here = { ...place, row_id: `aaaaaaaa-bbbb-4ccc-8ddd-${String(i).padStart(12, '0')}` };
    for (let turns = i % 40; turns > 0; turns--) await nextTurn();
    if (i === 20) {
      table.rotate(tenant_id);
      keyring.evict(tenant_id);
    }
    const sealed = await keyring.sealValue(here, Buffer.from(`value ${i}`));
    assert.equal((await keyring.openValue(here, sealed)).toString(), `value ${i}`);
    return { here, sealed, small: await keyring.sealSmall(here, plaintext) };
  };
  // One for certain before the rotation.
  const rows = [await use(0), ...(await Promise.all(Array.from({ length: 199 }, (_, i) => use(i + 1))))];
  assert.ok(rows.some(({ sealed }) => sealed.tmk_version === 1));
  for (const [i, { here, sealed, small }] of rows.entries()) {
    const current = { ...sealed, ...(await keyring.rewrapCek(here, sealed)) };
    assert.equal(current.tmk_version, 2);
    assert.equal((await keyring.openValue(here, current)).toString(), `value ${i}`);
    assert.equal(await keyring.rewrapCek(here, current), undefined);
    const moved = (await keyring.rewrapSmall(here, small)) ?? small;
    assert.equal(moved.tmk_version, 2);
    assert.deepEqual(await keyring.openSmall(here, moved), plaintext);
  }
});
