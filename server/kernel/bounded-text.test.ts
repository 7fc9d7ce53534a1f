import assert from 'node:assert/strict';
import test from 'node:test';
import { assertJsonShape, BODY_SHAPE, parseKept } from './bounded-text.ts';
import { Refusal } from './errors.ts';

const SHAPE = { levels: 8, values: 300_000, members: 50_000 };
const rows = (name: (row: number) => string, count: number): string =>
  JSON.stringify(
    Array.from({ length: count / 10 }, (_, row) => Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`${name(row)}${i}`, i]))),
  );

test('names that come again are counted as values, and new ones as what costs the most', () => {
  assertJsonShape(
    rows(() => 'name', 200_000),
    SHAPE,
  );
  assertJsonShape(
    rows((row) => `name ${row} `, 40_000),
    SHAPE,
  );
  assert.throws(
    () =>
      assertJsonShape(
        rows((row) => `name ${row} `, 60_000),
        SHAPE,
      ),
    /50,000 members/,
  );
});

test('names of one length and of escapes are told apart', () => {
  const numbered = (prefix: string) =>
    `{${Array.from({ length: 60_000 }, (_, i) => `"${prefix}${String(100_000 + i).slice(1)}":1`).join(',')}}`;
  for (const prefix of ['\\u00', 'ab']) assert.throws(() => assertJsonShape(numbered(prefix), SHAPE), /50,000 members/);
});

test('what a text says inside strings counts for nothing', () => {
  assertJsonShape(JSON.stringify({ text: '{"a":[1,2],"b":'.repeat(50_000) }), { levels: 1, values: 2 });
});

test('a string ends at the first quote that is not escaped', () => {
  const one = { levels: 1, values: 2 };
  for (const text of ['\\', '"', '\\"', 'a\\\\"[[[', '"'.repeat(1_000), '\\'.repeat(1_001)]) {
    assertJsonShape(JSON.stringify({ text }), one);
    assert.throws(() => assertJsonShape(JSON.stringify({ text, more: [1] }), one), Refusal, text.slice(0, 9));
  }
  assertJsonShape('{"never ended', one);
});

test('a document that is kept has no name twice in an object, but in members that are kept as texts', () => {
  const same = '{"a":1,"b":[{"a":2},{"a":"\\"a\\":1"}],"c":{"d":{"a":1.10}},"e":"{}"}';
  assert.equal(JSON.stringify(parseKept(same, BODY_SHAPE)), same);
  const twice = (text: string, texts?: readonly string[]) => () => parseKept(text, BODY_SHAPE, texts);
  assert.throws(twice('{"a":1,"a":2}'), /^Refusal: a: must not have the same member twice/);
  assert.throws(twice('{"c":[{"d":{"x":1,"y":2,"x":3}}]}'), /c: must not/);
  assert.throws(twice('{"A secret":{"x":1,"\\u0078":3}}'), /body: must not/);
  const kept = '{"claims":{"x":1,"x":2}}';
  assert.doesNotThrow(twice(kept, ['claims']));
  assert.throws(twice('{"claims":{},"claims":{}}', ['claims']), /claims: must not/);
});
