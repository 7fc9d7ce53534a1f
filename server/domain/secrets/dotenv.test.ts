import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { parseDotenv } from './dotenv.ts';

const read = (text: string) => Object.fromEntries(parseDotenv(text).entries.map(({ name, value }) => [name, value]));

test('the usual shapes of .env files are read', () => {
  const text = `\uFEFF# comment
A=plain
export B = spaced out   # a comment
C='single $X \\n # kept'
D="double \\n \\"quoted\\" \\$X \\\\ # kept" # gone
E=
F="-----BEGIN
two
lines"
G=has#hash
H = "C:\\dir"
I.j-k=dotted\r
J='it''s'
nonsense
1K=digit
L="open
`;
  const { entries, faults } = parseDotenv(text);
  assert.deepEqual(Object.fromEntries(entries.map(({ name, value }) => [name, value])), {
    A: 'plain',
    B: 'spaced out',
    C: 'single $X \\n # kept',
    D: 'double \n "quoted" $X \\ # kept',
    E: '',
    F: '-----BEGIN\ntwo\nlines',
    G: 'has#hash',
    H: 'C:\\dir',
    'I.j-k': 'dotted',
  });
  assert.deepEqual(faults, [
    { line: 13, name: 'J', reason: "has text after the closing '" },
    { line: 14, name: null, reason: 'must be NAME=value' },
    { line: 15, name: null, reason: 'must be NAME=value' },
    { line: 16, name: 'L', reason: 'has no closing "' },
  ]);
});

test('a comment ends a value, whatever it holds, and only after a blank', () => {
  assert.deepEqual(read('A=x # y\u2028 z #\nB=x#y\nC=#y\nD="x" # \u2028'), { A: 'x', B: 'x#y', C: '', D: 'x' });
});

test('a value written in double quotes with escapes comes back equal', () => {
  const escaped = (v: string) =>
    v
      .replace(/[\\"$]/g, '\\$&')
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r');
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (v) => assert.equal(read(`X="${escaped(v)}"`).X, v)));
});

test('no fault ever quotes the text of the file', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const { reason } of parseDotenv(text).faults)
        assert.match(reason, /^(must be NAME=value|has (no closing|text after the closing) ["'])$/);
    }),
    { numRuns: 500 },
  );
});

test('a file with one quote too few is refused in linear time', async () => {
  await assertGrowsLinearly('one open quote', 100_000, (size) => `A="\n${'x\n'.repeat(size / 2)}`, parseDotenv);
  await assertGrowsLinearly('every quote open', 100_000, (size) => 'A="\n'.repeat(size / 4), parseDotenv);
  await assertGrowsLinearly('quotes of both kinds', 100_000, (size) => `A="\nB='\n`.repeat(size / 8), parseDotenv);
});
