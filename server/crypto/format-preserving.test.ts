import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { THOROUGH } from '#server/testing/thorough.ts';
import { formatPreserving, minLength } from './format-preserving.ts';

const digits = '0123456789';
const letters = `${digits}abcdefghijklmnopqrstuvwxyz`;
const keyOf = (hex: string) => createSecretKey(hex, 'hex');
const key256 = keyOf('2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94');
const runs = THOROUGH ? 5_000 : 60;

test('the nine samples of NIST SP 800-38G come out', () => {
  const keys = ['2b7e151628aed2a6abf7158809cf4f3c', '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f', key256.export().toString('hex')];
  const samples = [
    [digits, '', '0123456789', ['2433477484', '2830668132', '6657667009']],
    [digits, '39383736353433323130', '0123456789', ['6124200773', '2496655549', '1001623463']],
    [letters, '3737373770717273373737', '0123456789abcdefghi', ['a9tv40mll9kdu509eum', 'xbj3kv35jrawxv32ysr', 'xs8a0azh2avyalyzuwd']],
  ] as const;
  for (const [alphabet, tweak, plaintext, ciphertexts] of samples)
    keys.forEach((hex, index) => {
      const format = formatPreserving(keyOf(hex), { alphabet, tweak: Buffer.from(tweak, 'hex') });
      assert.equal(format.encrypt(plaintext), ciphertexts[index]);
      assert.equal(format.decrypt(ciphertexts[index] as string), plaintext);
    });
});

test('a text that fewer than a million share is refused, without showing it', () => {
  for (const [alphabet, length] of [
    [digits, 6],
    [letters, 4],
    ['01', 20],
    [Array.from({ length: 1_000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join(''), 2],
  ] as const) {
    assert.equal(minLength(alphabet.length), length);
    const format = formatPreserving(key256, { alphabet });
    const text = alphabet.slice(0, 1).repeat(length);
    assert.equal(format.decrypt(format.encrypt(text)), text);
    for (const verb of ['encrypt', 'decrypt'] as const) {
      assert.throws(() => format[verb](text.slice(1)), { type: 'validation_error' });
      assert.throws(() => format[verb](''), { type: 'validation_error' });
      assert.throws(
        () => format[verb](`${text}!`),
        (error: Error) => !error.message.includes(text),
      );
    }
  }
  assert.throws(() => formatPreserving(key256, { alphabet: digits }).encrypt('1'.repeat(1_025)), { type: 'validation_error' });
});

test('an alphabet has different characters, whole ones', () => {
  for (const alphabet of ['', '0', '00', '0120']) assert.throws(() => formatPreserving(key256, { alphabet }), RangeError);
  const emoji = formatPreserving(key256, { alphabet: '😀😁😂🤣😃😄😅😆😉😊' });
  const text = '😀😁😂🤣😃😄';
  assert.equal(Array.from(emoji.encrypt(text)).length, 6);
  assert.equal(emoji.decrypt(emoji.encrypt(text)), text);
});

test('any text comes back, keeps its format, and depends on key and tweak', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...letters), minLength: 8, maxLength: 40 }),
      fc.uint8Array({ maxLength: 20 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      (text, tweak, bytes) => {
        const format = formatPreserving(createSecretKey(bytes), { alphabet: letters, tweak });
        const encrypted = format.encrypt(text);
        assert.equal(format.decrypt(encrypted), text);
        assert.match(encrypted, /^[0-9a-z]+$/);
        assert.equal(encrypted.length, text.length);
        assert.notEqual(
          formatPreserving(createSecretKey(bytes), { alphabet: letters, tweak: Buffer.concat([tweak, tweak, Buffer.from([1])]) }).encrypt(
            text,
          ),
          encrypted,
        );
      },
    ),
    { numRuns: runs },
  );
});
