import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { highlight, type Language } from './highlight.ts';

const languages: Language[] = ['bash', 'javascript', 'python', 'json', 'http', 'text'];

test('colouring never changes, drops or adds a character of the code a person copies', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom(...languages), (code, language) => {
      assert.equal(
        highlight(code, language)
          .map((token) => token.text)
          .join(''),
        code,
      );
    }),
  );
});

test('an unclosed quote on a very long line is coloured in linear time', async () => {
  for (const language of languages)
    await assertGrowsLinearly(
      language,
      50_000,
      (size) => `"${'\\a'.repeat(size)} '${'--a '.repeat(size / 2)}`,
      (line) => highlight(line, language),
    );
});

test('keys, strings, numbers and words of JSON are told apart', () => {
  const kinds = highlight('{"a": "b", "n": -1.5, "t": true}', 'json').filter((token) => token.kind !== 'plain');
  assert.deepEqual(
    kinds.map((token) => `${token.kind} ${token.text}`),
    ['key "a"', 'string "b"', 'key "n"', 'number -1.5', 'key "t"', 'word true'],
  );
});
