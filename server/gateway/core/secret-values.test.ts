import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Keyring, type TenantKeyRow } from '#server/crypto/keyring.ts';
import { randomBuffer } from '#server/crypto/random.ts';
import { loadRootKeys } from '#server/crypto/root-key.ts';
import { newTenantKey } from '#server/crypto/tenant-key.ts';
import { newId } from '#server/kernel/ids.ts';
import { secretValues } from './secret-values.ts';

const TEXT = 'a value that many calls need at once';

/** A stored value, and a keyring that must fetch its tenant key first, as after a start or a rotation. */
async function cold() {
  const roots = loadRootKeys({ masterKeyB64: randomBuffer(32).toString('base64'), file: '' });
  const [tenant_id, id] = [newId(), newId()];
  const row: TenantKeyRow = { version: 1, wrap_method: 'global', ...newTenantKey(roots.current, tenant_id, 1) };
  const load = async () => {
    await nextTurn();
    return row;
  };
  const place = { tenant_id, space: 'live', purpose: 'secret_value', row_id: id } as const;
  const { value_ct, cek_wrapped, tmk_version } = await new Keyring(load, roots).sealValue(place, Buffer.from(TEXT));
  const sealed = { value_ct: Buffer.from(value_ct), cek_wrapped: Buffer.from(cek_wrapped), tmk_version };
  const values = secretValues(new Keyring(load, roots));
  const read = () => values.open(tenant_id, 'live', { id, sealed }, (bytes) => bytes.toString());
  return { values, read };
}

test('all calls that wait for the same tenant key read the value, none a wiped buffer', async () => {
  const { values, read } = await cold();
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 20 }, read))), new Set([TEXT]));
  assert.equal(read(), TEXT, 'and later ones at once');
  values.wipe();
});
