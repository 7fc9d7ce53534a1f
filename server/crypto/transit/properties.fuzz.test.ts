import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { THOROUGH } from '#server/testing/thorough.ts';
import { openLeaf, sealLeaf } from '../portable/seal.ts';
import { DATATYPES, type Datatype, parsePortable } from '../portable/text.ts';
import { DecryptFailed, decrypt, encrypt, encryptConvergent, parseCipherText, rewrap } from './cipher-text.ts';
import { type JwtKey, signJwt, verifyJwt } from './jwt.ts';
import { freshMaterial, materialOf, run } from './material.fixture.ts';
import { deriveMaterial, type Material } from './material.ts';
import { rawPoint } from './public-keys.ts';
import { parseSignature, sign, signingOptions, verify } from './signatures.ts';

const numRuns = THOROUGH ? 20_000 : 60;
const bytes = fc.uint8Array({ maxLength: 200 });
const version = fc.integer({ min: 1, max: 999_999_999 });
const keys = [materialOf('aes256-gcm', run(0, 32)), materialOf('aes256-gcm', run(1, 32))] as const;

/** The bytes with one bit turned, the place given as a fraction of them all. */
function flipped(source: Uint8Array, place: number): Buffer {
  const copy = Buffer.from(source);
  const bit = Math.floor(place * copy.length * 8);
  copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
  return copy;
}
const fraction = fc.double({ min: 0, max: 0.999_999, noNaN: true });

/** The text with its character at a place exchanged for another one. */
const exchanged = (text: string, place: number, character: string) => {
  const at = Math.floor(place * text.length);
  return `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
};

test('decrypt(encrypt(x)) is x, and any flipped bit of ciphertext, associated data or key refuses', () => {
  fc.assert(
    fc.property(bytes, fc.option(bytes, { nil: undefined }), version, fraction, (plaintext, aad, number, place) => {
      const [key, other] = keys;
      const parsed = parseCipherText(encrypt(key, number, plaintext, aad));
      assert.equal(parsed.version, number);
      assert.deepEqual(decrypt(key, parsed, aad), Buffer.from(plaintext));
      assert.throws(() => decrypt(key, { ...parsed, bytes: flipped(parsed.bytes, place) }, aad), DecryptFailed);
      assert.throws(() => decrypt(other, parsed, aad), DecryptFailed);
      assert.throws(() => decrypt(key, parsed, Buffer.concat([aad ?? Buffer.alloc(0), Buffer.from([0])])), DecryptFailed);
      if (aad && aad.length > 0) {
        assert.throws(() => decrypt(key, parsed, flipped(aad, place)), DecryptFailed);
        assert.throws(() => decrypt(key, parsed), DecryptFailed);
      }
    }),
    { numRuns },
  );
});

test('a text that differs in one character from a ciphertext is refused or names another version', () => {
  fc.assert(
    fc.property(
      bytes,
      version,
      fraction,
      fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
      (plaintext, number, place, character) => {
        const text = encrypt(keys[0], number, plaintext);
        const changed = exchanged(text, place, character);
        if (changed === text) return;
        let parsed: ReturnType<typeof parseCipherText>;
        try {
          parsed = parseCipherText(changed);
        } catch {
          return;
        }
        if (parsed.version === number) assert.throws(() => decrypt(keys[0], parsed), DecryptFailed, changed);
      },
    ),
    { numRuns: numRuns * 4 },
  );
});

test('rewrap keeps plaintext and associated data and changes the version', () => {
  fc.assert(
    fc.property(bytes, fc.option(bytes, { nil: undefined }), version, (plaintext, aad, number) => {
      const moved = parseCipherText(rewrap(keys[0], parseCipherText(encrypt(keys[0], 1, plaintext, aad)), keys[1], number, aad));
      assert.equal(moved.version, number);
      assert.deepEqual(decrypt(keys[1], moved, aad), Buffer.from(plaintext));
      assert.throws(() => decrypt(keys[0], moved, aad), DecryptFailed);
    }),
    { numRuns },
  );
});

test('convergent ciphertexts are equal exactly when context and plaintext are', () => {
  fc.assert(
    fc.property(bytes, bytes, bytes, bytes, (contextA, contextB, a, b) => {
      const sealed = (context: Uint8Array, plaintext: Uint8Array) => encryptConvergent(deriveMaterial(keys[0], context), 1, plaintext);
      const same = Buffer.compare(a, b) === 0 && Buffer.compare(contextA, contextB) === 0;
      assert.equal(sealed(contextA, a) === sealed(contextB, b), same);
      assert.equal(sealed(contextA, a), sealed(contextA, a));
      assert.deepEqual(decrypt(deriveMaterial(keys[0], contextA), parseCipherText(sealed(contextA, a))), Buffer.from(a));
    }),
    { numRuns },
  );
});

test('a signature holds for its data and key, and no flipped bit of either does', async () => {
  for (const type of ['hmac-sha256', 'hmac-sha512', 'ecdsa-p256', 'ed25519'] as const) {
    const { material } = await freshMaterial(type);
    const options = signingOptions(type);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 100 }), version, fraction, async (data, number, place) => {
        const parsed = parseSignature(await sign(material, number, data, options));
        assert.equal(parsed.version, number);
        assert.equal(await verify(material, data, parsed.bytes, options), true);
        assert.equal(await verify(material, flipped(data, place), parsed.bytes, options), false);
        assert.equal(await verify(material, data, flipped(parsed.bytes, place), options), false);
      }),
      { numRuns: Math.ceil(numRuns / 4) },
    );
  }
});

test('a token is valid as it was signed, and with any other character it is not', async () => {
  const { material } = await freshMaterial('hmac-sha256');
  const id = '5b1c7d2e-8f40-4c1a-9a55-0d2f3c4b5a61';
  const key: JwtKey = { id, type: 'hmac-sha256', versions: [{ version: 1, state: 'usable' }], material: () => material };
  const claims = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
  const now = new Date();
  await fc.assert(
    fc.asyncProperty(claims, fraction, fc.constantFrom(...'AZaz09-_.=+/ \n'), async (given, place, character) => {
      const safe = Object.fromEntries(Object.entries(given).filter(([name]) => !['exp', 'nbf', 'iat'].includes(name)));
      const { token } = await signJwt(material, { key_id: id, version: 1 }, { claims: safe, ttl_seconds: 60 }, now);
      const verdict = await verifyJwt(key, token, {}, now);
      assert.ok(verdict.valid);
      assert.equal(
        JSON.stringify(verdict.claims),
        JSON.stringify({ ...safe, iat: Math.floor(now.getTime() / 1000), exp: Math.floor(now.getTime() / 1000) + 60 }),
      );
      const changed = exchanged(token, place, character);
      if (changed !== token) assert.equal((await verifyJwt(key, changed, {}, now)).valid, false);
    }),
    { numRuns },
  );
});

const sealing = freshMaterial('ecdh-p256');
const key_ref = { tenant_id: '0f8fad5b-d9cb-469f-a165-70867728950e', app_key_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7', key_version: 1 };

test('a sealed value opens to its bytes, and with any other character, tenant or role it does not', async () => {
  const { material, spki } = await sealing;
  const bundle = { public_key_raw: rawPoint(spki as Buffer).toString('base64url'), key_ref };
  const open = (text: string, as: { tenant_id: string; role: string | undefined }, by: Material = material) => {
    const parsed = parsePortable(text);
    if (!parsed) throw new DecryptFailed();
    return openLeaf(by, parsed, as);
  };
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(DATATYPES) as Datatype[])),
      bytes,
      fc.option(fc.constantFrom('pci', 'eu', 'a.b-c'), { nil: undefined }),
      fraction,
      fc.constantFrom(...'AZaz09-_:=$kc '),
      (datatype, plaintext, role, place, character) => {
        const text = sealLeaf({ datatype, bytes: plaintext, role, bundle });
        const as = { tenant_id: key_ref.tenant_id, role };
        assert.deepEqual(open(text, as), Buffer.from(plaintext));
        const changed = exchanged(text, place, character);
        if (changed !== text) assert.throws(() => open(changed, as), DecryptFailed, changed);
        assert.throws(() => open(text, { ...as, role: 'other' }), DecryptFailed);
        assert.throws(() => open(text, { ...as, tenant_id: key_ref.app_key_id }), DecryptFailed);
      },
    ),
    { numRuns: Math.ceil(numRuns / 2) },
  );
});
