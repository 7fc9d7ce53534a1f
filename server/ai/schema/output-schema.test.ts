import assert from 'node:assert/strict';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { outputSchema } from './output-schema.ts';
import { InvalidSchema } from './shape.ts';

const person = {
  type: 'object',
  required: ['email'],
  properties: {
    email: { type: 'string', format: 'email' },
    tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, uniqueItems: true },
  },
};

test('an answer that fits has no faults, also inside of a fence', async () => {
  const { faults } = await outputSchema(person);
  for (const text of [
    '{"email":"a@example.com","tags":["a","b"]}',
    ' ```json\n{"email":"a@example.com"}\n``` ',
    '```\n{"email":"a@example.com"}\n```',
  ])
    assert.deepEqual(faults(text), [], text);
});

test('faults name places, keywords and why in words, never values', async () => {
  const schema = await outputSchema(person);
  const faults = (text: string) => schema.faults(text).map(({ path, keyword }) => ({ path, keyword }));
  assert.deepEqual(schema.faults('{}')[0]?.message, "must have required property 'email'");
  assert.ok(!JSON.stringify(schema.faults('{"email":"secret"}')).includes('secret'));
  assert.deepEqual(faults('not json'), [{ path: '', keyword: 'json' }]);
  assert.deepEqual(faults('{}'), [{ path: '', keyword: 'required' }]);
  assert.deepEqual(faults('{"email":"secret"}'), [{ path: '/email', keyword: 'format' }]);
  assert.deepEqual(faults('{"email":"a@example.com","tags":["a","a"]}'), [{ path: '/tags', keyword: 'uniqueItems' }]);
  assert.deepEqual(faults('{"email":"a@example.com","tags":["A"]}'), [{ path: '/tags/0', keyword: 'pattern' }]);
});

test('schemas that need something from elsewhere, or patterns outside of the linear engine, are refused', async () => {
  for (const schema of [
    { $ref: 'https://example.com/schema.json' },
    { type: 'string', pattern: '(a)\\1' },
    { type: 'string', pattern: '(?=a)' },
    { type: 'nothing' },
  ])
    await assert.rejects(outputSchema(schema), InvalidSchema);
});

test('neither a hostile pattern nor branches that refer to themselves take the process', async () => {
  const pattern = await outputSchema({ type: 'string', pattern: '^(a+)+$' });
  await assertGrowsLinearly(
    'pattern',
    50_000,
    (size) => JSON.stringify(`${'a'.repeat(size)}b`),
    (text) => pattern.faults(text),
  );
  const branches = {
    $defs: { n: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/n' }, { $ref: '#/$defs/n' }, { $ref: '#/$defs/n' }] } } },
    $ref: '#/$defs/n',
  };
  assert.deepEqual(
    (await outputSchema(branches)).faults(`${'['.repeat(60)}1${']'.repeat(60)}`).map(({ path, keyword }) => ({ path, keyword })),
    [{ path: '', keyword: 'work' }],
  );
  const unique = await outputSchema({ type: 'array', uniqueItems: true });
  const items = (size: number) => JSON.stringify(Array.from({ length: size }, (_, i) => ({ i })));
  await assertGrowsLinearly('unique items', 10_000, items, (text) => unique.faults(text));
});
