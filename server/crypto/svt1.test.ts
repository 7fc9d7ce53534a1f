import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { placeAad, purposes, type SealedPlace, tenantKeyAad } from './aad.ts';
import { subKey } from './derive.ts';
import { openSmallUnder, openUnder, rewrapUnder, sealSmallUnder, sealUnder, smallLimit } from './envelope.ts';
import { parseRootKey } from './root-key.ts';
import { DecryptFailed, type Kind, kinds, open, seal, sealWithIv } from './svt1.ts';
import { wrappingKey } from './tenant-key.ts';

const tenant_id = '11111111-2222-4333-8444-555555555555';
const row_id = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const place: SealedPlace = { tenant_id, space: 'live', purpose: 'secret_value', row_id };
const run = (first: number, length: number) => Buffer.from(Array.from({ length }, (_, i) => first + i));
const root = parseRootKey('AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', 'test');
const tmk = { version: 1, key: createSecretKey(run(0x20, 32)) };
const cek = createSecretKey(run(0x40, 32));
const published = {
  tmk: '535654310100000001a0a1a2a3a4a5a6a7a8a9aaab1a7e8c64c116a142864de88927e2377daa70eb78575c6ccfebc941559c0d7da478ec1ed0f7079103f059e14d27a6b516',
  cek: '535654310200000001b0b1b2b3b4b5b6b7b8b9babbf8c597ab8e04659e4ce180adee7ef59476bb6804d6668e497a4457b14f70d379c662f0c8de1dc266b81df503897a5380',
  value: '535654310300000000c0c1c2c3c4c5c6c7c8c9cacb4989d657697448c4230c44787f21ea632c2f6fa213ec58b441886c0ecedbc3a0ef993b',
};

test('the published vectors come out byte for byte and open again', () => {
  assert.equal(root.id, '630dcd29');
  const kek = wrappingKey(root, tenant_id);
  assert.equal(kek.export().toString('hex'), 'ec6e48ff817ef01925c474471fb34d460161c31e594e8cddb44da36fb5f714f5');
  const rows: [string, Buffer, Kind, typeof kek, number, string, Buffer][] = [
    [published.tmk, run(0xa0, 12), kinds.tenantKey, kek, 1, tenantKeyAad(tenant_id, 1), run(0x20, 32)],
    [published.cek, run(0xb0, 12), kinds.contentKey, tmk.key, 1, placeAad('cek', place), run(0x40, 32)],
    [published.value, run(0xc0, 12), kinds.value, cek, 0, placeAad('val', place), Buffer.from('sk_live_51H8example')],
  ];
  for (const [hex, iv, kind, key, version, aad, plaintext] of rows) {
    assert.equal(sealWithIv(iv, kind, key, version, aad, plaintext).toString('hex'), hex);
    assert.deepEqual(open(kind, key, version, aad, Buffer.from(hex, 'hex')), plaintext);
  }
});

test('the published sub-keys come out byte for byte', () => {
  assert.equal(
    subKey(tmk.key, 'svc/capability-hmac/v1').export().toString('hex'),
    'aa5383013ff23f2ae82639283e99cf8075a99e83698f648a47258041460bf962',
  );
  assert.equal(
    subKey(tmk.key, 'svc/idempotency-fp/v1').export().toString('hex'),
    'cbc508f2d284c95c2f4524ba28a8c4dc13e6653cfaed222ac9363bac5484cf78',
  );
  assert.equal(subKey(tmk.key, 'svc/capability-hmac/v1'), subKey(tmk.key, 'svc/capability-hmac/v1'));
});

test('AAD strings are the documented text, and an id that could forge one is refused', () => {
  assert.equal(placeAad('dir', { ...place, space: '-', purpose: 'totp_seed' }), `svt1|dir|${tenant_id}|-|totp_seed|${row_id}`);
  assert.throws(() => placeAad('val', { ...place, row_id: `${row_id}|x` }), TypeError);
  assert.throws(() => placeAad('val', { ...place, tenant_id: tenant_id.toUpperCase().replace('1', 'A') }), TypeError);
  assert.throws(() => tenantKeyAad('', 1), TypeError);
  assert.equal(new Set(purposes).size, purposes.length);
});

test('any single flipped bit of a published blob is refused', () => {
  const blob = Buffer.from(published.value, 'hex');
  for (let bit = 0; bit < blob.length * 8; bit++) {
    const damaged = Buffer.from(blob);
    damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.throws(() => open(kinds.value, cek, 0, placeAad('val', place), damaged), DecryptFailed, `bit ${bit}`);
  }
});

test('every truncation and extension of a blob is refused', () => {
  const blob = Buffer.from(published.value, 'hex');
  const aad = placeAad('val', place);
  for (let length = 0; length < blob.length; length++)
    assert.throws(() => open(kinds.value, cek, 0, aad, blob.subarray(0, length)), DecryptFailed);
  assert.throws(() => open(kinds.value, cek, 0, aad, Buffer.concat([blob, Buffer.alloc(1)])), DecryptFailed);
});

test('another key, kind, version or AAD gives one and the same failure, without a cause', () => {
  const blob = Buffer.from(published.value, 'hex');
  const aad = placeAad('val', place);
  const attempts = [
    () => open(kinds.value, tmk.key, 0, aad, blob),
    () => open(kinds.small, cek, 0, aad, blob),
    () => open(kinds.value, cek, 1, aad, blob),
    () => open(kinds.value, cek, 0, `${aad} `, blob),
    () => open(kinds.value, cek, 0, aad, Buffer.alloc(0)),
  ];
  const seen = attempts.map((attempt) => {
    try {
      attempt();
    } catch (error) {
      assert.ok(error instanceof DecryptFailed);
      assert.equal(error.cause, undefined);
      return `${error.name} ${error.message} ${Object.keys(error).sort()}`;
    }
    return 'opened';
  });
  assert.equal(new Set(seen).size, 1);
  assert.notEqual(seen[0], 'opened');
});

test('whatever is sealed opens again, and never twice to the same bytes', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 2_000 }),
      fc.constantFrom(...purposes),
      fc.constantFrom('live', 'test', '-'),
      (plaintext, purpose, space) => {
        const here: SealedPlace = { ...place, purpose, space };
        const sealed = sealUnder(tmk, here, plaintext);
        assert.deepEqual(Uint8Array.from(openUnder(tmk, here, sealed)), plaintext);
        assert.notDeepEqual(sealUnder(tmk, here, plaintext).value_ct, sealed.value_ct);
        assert.deepEqual(Uint8Array.from(openSmallUnder(tmk, here, sealSmallUnder(tmk, here, plaintext))), plaintext);
      },
    ),
  );
});

test('a sealed value opens nowhere but in its own row, space, purpose and tenant', () => {
  const sealed = sealUnder(tmk, place, Buffer.from('plaintext'));
  const small = sealSmallUnder(tmk, place, Buffer.from('plaintext'));
  const other = 'cccccccc-bbbb-4ccc-8ddd-eeeeeeeeeeee';
  for (const elsewhere of [{ row_id: other }, { tenant_id: other }, { space: 'test' }, { space: '-' }, { purpose: 'totp_seed' }] as const) {
    assert.throws(() => openUnder(tmk, { ...place, ...elsewhere }, sealed), DecryptFailed);
    assert.throws(() => openSmallUnder(tmk, { ...place, ...elsewhere }, small), DecryptFailed);
  }
});

test('the parts of two rows cannot be mixed, and a content key is not a value', () => {
  const one = sealUnder(tmk, place, Buffer.from('one'));
  const two = sealUnder(tmk, place, Buffer.from('two'));
  assert.throws(() => openUnder(tmk, place, { ...one, value_ct: two.value_ct }), DecryptFailed);
  assert.throws(() => openUnder(tmk, place, { ...one, cek_wrapped: one.value_ct }), DecryptFailed);
  assert.throws(() => openUnder(tmk, place, { ...one, tmk_version: 2 }), DecryptFailed);
  assert.throws(() => openSmallUnder(tmk, place, { ct: one.value_ct, tmk_version: 1 }), DecryptFailed);
});

test('re-wrapping keeps the plaintext and the value blob, changes the version and closes the old key out', () => {
  const next = { version: 2, key: createSecretKey(run(0x60, 32)) };
  const sealed = sealUnder(tmk, place, Buffer.from('kept'));
  const wrapped = rewrapUnder(tmk, next, place, sealed);
  assert.equal(wrapped.tmk_version, 2);
  assert.equal(openUnder(next, place, { ...sealed, ...wrapped }).toString(), 'kept');
  assert.throws(() => openUnder(tmk, place, { ...sealed, ...wrapped }), DecryptFailed);
  assert.throws(() => openUnder({ ...next, key: tmk.key }, place, { ...sealed, ...wrapped }), DecryptFailed);
});

test('a small value has a limit', () => {
  assert.equal(openSmallUnder(tmk, place, sealSmallUnder(tmk, place, Buffer.alloc(smallLimit, 1))).length, smallLimit);
  assert.throws(() => sealSmallUnder(tmk, place, Buffer.alloc(smallLimit + 1)), RangeError);
});

test('an iv of another length is refused and ivs do not repeat', () => {
  assert.throws(() => sealWithIv(Buffer.alloc(8), kinds.value, cek, 0, 'x', Buffer.alloc(1)), RangeError);
  const ivs = Array.from({ length: 2_000 }, () => seal(kinds.value, cek, 0, 'x', Buffer.alloc(0)).subarray(9, 21).toString('hex'));
  assert.equal(new Set(ivs).size, ivs.length);
});
