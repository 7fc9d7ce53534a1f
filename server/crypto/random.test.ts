import assert from 'node:assert/strict';
import test from 'node:test';
import { renewProcessState } from '#server/kernel/process-state.ts';
import { publicRandom, randomBase32, randomBase62, randomBase64url, randomBuffer, uuidV7 } from './random.ts';

/** Pearson's statistic of observed characters against the uniform distribution over `alphabet`. */
function chiSquare(text: string, alphabet: string): number {
  const expected = text.length / alphabet.length;
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...alphabet].reduce((sum, c) => sum + ((counts.get(c) ?? 0) - expected) ** 2 / expected, 0);
}

test('base62 characters are drawn without modulo bias', () => {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const text = randomBase62(620_000);
  assert.match(text, /^[0-9A-Za-z]{620000}$/);
  // 61 degrees of freedom: mean 61, standard deviation 11. `byte % 62` alone would give about 4,000 here.
  assert.ok(chiSquare(text, alphabet) < 150);
});

test('base32 characters are uniform and of the alphabet asked for', () => {
  const text = randomBase32(320_000);
  assert.match(text, /^[A-Z2-7]+$/);
  assert.ok(chiSquare(text, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567') < 90);
  assert.match(randomBase32(52, 'lower'), /^[a-z2-7]{52}$/);
});

test('lengths are exact for every size', () => {
  for (const length of [0, 1, 12, 43, 45, 200]) {
    assert.equal(randomBase62(length).length, length);
    assert.equal(randomBase32(length).length, length);
  }
  assert.match(randomBase64url(), /^[A-Za-z0-9_-]{43}$/);
});

test('a random buffer shares its memory with nobody', () => {
  const buffer = randomBuffer(32);
  assert.equal(buffer.buffer.byteLength, 32);
});

test('uuid version 7 sorts in order of creation, even within a millisecond and when the clock goes back', () => {
  const ids: string[] = [];
  for (let i = 0; i < 20_000; i++) ids.push(uuidV7());
  ids.push(uuidV7(Date.now() - 60_000));
  assert.deepEqual([...ids].sort(), ids);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('uuid version 7 begins with the Unix time in milliseconds, and within a process never goes back', () => {
  const madeAt = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  // Ahead of all that the process may make by its clock meanwhile.
  const later = madeAt(uuidV7()) + 60_000;
  assert.equal(madeAt(uuidV7(later)), later);
  const ahead = later + 3_600_000;
  uuidV7(ahead);
  assert.equal(madeAt(uuidV7(later)), ahead, 'when the clock goes back');
  renewProcessState();
  assert.equal(madeAt(uuidV7(later)), later, 'a new process believes its clock');
});

test('public random bytes are never handed out twice, and a caller may overwrite what it got', () => {
  const seen = new Set<string>();
  for (let i = 0; i < 20_000; i++) {
    const bytes = publicRandom(12);
    assert.equal(bytes.length, 12);
    seen.add(bytes.toString('hex'));
    bytes.fill(0);
  }
  assert.equal(seen.size, 20_000);
});
