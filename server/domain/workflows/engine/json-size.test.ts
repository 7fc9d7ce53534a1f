import assert from 'node:assert/strict';
import test from 'node:test';
import { fitting, jsonSize } from './json-size.ts';

const TEXTS = ['', 'plain', 'a"b\\c', '\u0000\b\t\n\f\r\u001f', 'é漢𝄞', '\ud800', '\udc00\ud800', 'x\ud834', '\u2028'];

test('a value is measured as it is written', () => {
  const values = [null, true, 1.5, -0, 1e21, [], {}, [[], {}], TEXTS, Object.fromEntries(TEXTS.map((text, i) => [text, i]))];
  for (const value of [...values, ...TEXTS, { a: { b: [1, 'x', null] } }])
    assert.equal(jsonSize(value).bytes, Buffer.byteLength(JSON.stringify(value)), JSON.stringify(value));
  assert.equal(jsonSize({ a: [1, 2], b: 'x' }).values, 5);
});

test('a value that no run may have is measured until that is known', () => {
  const big = Array.from({ length: 60_000 }, (_, i) => ({ id: i }));
  const { values } = jsonSize(Array.from({ length: 9_000 }, () => big));
  assert.ok(values > 320_000 && values < 320_010, String(values));
  assert.equal(jsonSize(Array.from({ length: 9_000 }, () => 'a'.repeat(4_000_000))).values, 3);
  const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  assert.deepEqual([jsonSize(deep(500)).tooDeep, jsonSize(deep(501)).tooDeep], [undefined, true]);
});

test('what fits of a text is the most that does', () => {
  for (const text of TEXTS)
    for (let most = 2; most < 40; most++) {
      const n = fitting(text, most);
      assert.ok(jsonSize(text.slice(0, n)).bytes <= most + 8, `${JSON.stringify(text)} ${most}`);
      if (n < text.length) assert.ok(jsonSize(text).bytes > most);
    }
});
