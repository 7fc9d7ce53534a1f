import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { filledTexts, mapTexts, textsIn } from './texts.shared.ts';

test('every text of a value is found with its path, names of members included', () => {
  assert.deepEqual(textsIn({ a: 'x', b: [{ c: 'y' }, 1, null], '{{secret:N}}': true }, 'body'), [
    { path: 'body.a', text: 'a', place: 'name' },
    { path: 'body.a', text: 'x', place: 'value' },
    { path: 'body.b', text: 'b', place: 'name' },
    { path: 'body.b[0].c', text: 'c', place: 'name' },
    { path: 'body.b[0].c', text: 'y', place: 'value' },
    { path: 'body.{{secret:N}}', text: '{{secret:N}}', place: 'name' },
  ]);
});

test('names of members and objects of classes stay as they are', () => {
  const date = new Date(0);
  const value = JSON.parse('{"__proto__": {"x": "a"}, "constructor": "b"}');
  const changed = mapTexts({ value, date }, ({ text }) => `${text}!`) as { value: object; date: Date };
  assert.equal(JSON.stringify(changed.value), '{"__proto__":{"x":"a!"},"constructor":"b!"}');
  assert.equal(changed.date, date);
});

test('what is filled is what is listed as a value: of any JSON, and nothing else changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
      const listed = textsIn(value).filter(({ place }) => place === 'value');
      const asked: string[] = [];
      const filled = await filledTexts(value, async (text) => {
        asked.push(text);
        return { of: text };
      });
      assert.deepEqual(new Set(asked), new Set(listed.map(({ text }) => text)));
      const oracle = JSON.parse(JSON.stringify(value), (_, one) => (typeof one === 'string' ? { of: one } : one));
      assert.deepEqual(JSON.parse(JSON.stringify(mapTexts(value, ({ text }) => filled.get(text)))), oracle);
    }),
    { numRuns: 300 },
  );
});
