import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { formatPreserving, minLength } from './format-preserving.ts';
import { bytesIn, type Case, type Group, type Judgement, throws, wycheproof } from './wycheproof.fixture.ts';

const alphabets = new Map<number, readonly string[]>();
/** So many different characters. */
function charactersOf(radix: number): readonly string[] {
  const characters = alphabets.get(radix) ?? Array.from({ length: radix }, (_, value) => String.fromCodePoint(0x20000 + value));
  alphabets.set(radix, characters);
  return characters;
}

const text = (values: readonly number[], characters: readonly string[]) => values.map((value) => characters[value] ?? '\u0000').join('');

function judge(alphabet: string, vector: Case, plaintext: string, ciphertext: string): Judgement {
  const format = formatPreserving(createSecretKey(bytesIn(vector, 'key')), { alphabet, tweak: bytesIn(vector, 'tweak') });
  if (Array.from(plaintext).length < minLength(Array.from(alphabet).length)) {
    assert.ok(throws(() => format.encrypt(plaintext)));
    return 'outside';
  }
  if (vector.result === 'invalid' && throws(() => format.encrypt(plaintext))) return 'refused';
  const right = format.encrypt(plaintext) === ciphertext && format.decrypt(ciphertext) === plaintext;
  return right ? 'accepted' : 'refused';
}

const strings = [10, 16, 26, 32, 36, 45, 62, 64, 85].map((radix) => `aes_ff1_base${radix}_test`);
wycheproof('FF1 on texts', strings, (group: Group, vector) =>
  judge(group.alphabet as string, vector, vector.msg as string, vector.ct as string),
);

const lists = [10, 16, 26, 32, 36, 45, 62, 64, 85, 255, 256, 65535].map((radix) => `aes_ff1_radix${radix}_test`);
wycheproof('FF1 on numbers', lists, (group, vector) => {
  const characters = charactersOf(group.radix as number);
  return judge(characters.join(''), vector, text(vector.msg as number[], characters), text(vector.ct as number[], characters));
});

let refused = false;
wycheproof('FF1 of a radix that is not supported', ['aes_ff1_radix65536_test'], (group) => {
  refused ||= throws(() => formatPreserving(createSecretKey(Buffer.alloc(16)), { alphabet: charactersOf(group.radix as number).join('') }));
  assert.ok(refused);
  return 'outside';
});
