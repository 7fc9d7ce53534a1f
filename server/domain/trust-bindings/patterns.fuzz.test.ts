import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { LONGEST_PATTERN, LONGEST_TEXT, matchesPattern } from './patterns.shared.ts';

// Against the definition, read as literally as it can be written down: exponential, and obviously right.

const seed = THOROUGH ? Date.now() % 2 ** 31 : 20_261_123;

function naive(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern.startsWith('**')) return naive(pattern.slice(2), text) || (text !== '' && naive(pattern, text.slice(1)));
  if (pattern.startsWith('*'))
    return naive(pattern.slice(1), text) || (text !== '' && !':/'.includes(text[0] as string) && naive(pattern, text.slice(1)));
  return pattern[0] === text[0] && naive(pattern.slice(1), text.slice(1));
}

const letters = (of: string[], maxLength: number) => fc.array(fc.constantFrom(...of), { maxLength }).map((all) => all.join(''));
const TEXT = ['a', 'b', ':', '/'];

test('patterns match what their definition says', () => {
  let matched = 0;
  fc.assert(
    fc.property(letters([...TEXT, '*', '*', '**'], 7), letters(TEXT, 9), (pattern, text) => {
      const expected = naive(pattern, text);
      matched += expected ? 1 : 0;
      assert.equal(matchesPattern(pattern, text), expected, `${pattern} on ${text}`);
    }),
    { numRuns: THOROUGH ? 200_000 : 4_000, seed },
  );
  assert.ok(matched > 100, 'the generator finds texts that match');
});

test('a text made from a pattern matches it, unless * had to cross a separator', () => {
  const part = fc.oneof(letters(['a', 'b', ':'], 3), fc.constant('*'), fc.constant('**'));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), fc.array(letters(TEXT, 4), { minLength: 6, maxLength: 6 }), (parts, fills) => {
      // Neighbouring stars would be read as one wildcard.
      const apart = parts.flatMap((one, i) => (i > 0 && one.startsWith('*') ? ['x', one] : [one]));
      const filled = apart.map((one, i) => (one.startsWith('*') ? (fills[i % 6] as string) : one));
      const legal = apart.every((one, i) => one !== '*' || !/[:/]/.test(filled[i] as string));
      if (legal) assert.ok(matchesPattern(apart.join(''), filled.join('')), `${apart.join('')} on ${filled.join('')}`);
    }),
    { numRuns: THOROUGH ? 20_000 : 1_000, seed },
  );
});

test('the worst pattern takes linear time on a text of any length', async () => {
  const pattern = `${'**a'.repeat(84)}*b`;
  assert.ok(pattern.length <= LONGEST_PATTERN);
  await assertGrowsLinearly(
    pattern,
    LONGEST_TEXT,
    (size) => 'a'.repeat(size),
    (text) => assert.equal(matchesPattern(pattern, text), false),
  );
});
