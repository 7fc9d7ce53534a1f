import assert from 'node:assert/strict';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { argumentFaults } from './arguments.ts';

const faults = (schema: object, args: unknown) => argumentFaults(schema as never, args, JSON.stringify(args).length);

test('arguments are held against the schema of their tool', () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { n: { type: 'integer' }, s: { type: 'string', pattern: '^a+$' } },
    required: ['n'],
    additionalProperties: false,
  };
  assert.deepEqual(faults(schema, { n: 1, s: 'aa' }), []);
  assert.deepEqual(faults(schema, { n: 'secret' }), [{ path: '/n', keyword: 'type', message: 'must be integer' }]);
  assert.deepEqual(
    faults(schema, { s: 'b', extra: 1 })?.map(({ path, keyword }) => [path, keyword]),
    [
      ['/', 'required'],
      ['/', 'additionalProperties'],
      ['/s', 'pattern'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(faults(schema, { n: 'top secret', s: 'hunter2' })), /secret|hunter2/, 'no value is repeated');
});

test('definitions are followed within the schema, and nowhere else', () => {
  const tree = {
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object', properties: { left: { $ref: '#/$defs/node' }, v: { type: 'number' } } } },
  };
  assert.deepEqual(faults(tree, { root: { left: { left: { v: 1 } } } }), []);
  assert.equal(faults(tree, { root: { left: { left: { v: 'x' } } } })?.length, 1);
  assert.equal(faults({ type: 'object', properties: { a: { $ref: 'https://evil.test/schema.json' } } }, { a: 1 }), null);
});

test('a schema that was made to take long is not run', async () => {
  const bomb: Record<string, unknown> = { n30: { type: 'string' } };
  for (let i = 29; i >= 0; i--) bomb[`n${i}`] = { allOf: [{ $ref: `#/$defs/n${i + 1}` }, { $ref: `#/$defs/n${i + 1}` }] };
  const branching = {
    type: 'object',
    anyOf: [{ properties: { a: { $ref: '#' } } }, { properties: { a: { $ref: '#' } }, required: ['b'] }],
  };
  const patterns = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, { type: 'string', pattern: 'a' }])),
  };
  for (const schema of [{ type: 'object', $ref: '#/$defs/n0', $defs: bomb }, branching, patterns])
    assert.equal(faults(schema, { a: 1 }), null);
  const slow = { type: 'object', properties: { s: { type: 'string', pattern: '^(a+)+$' }, list: { type: 'array', uniqueItems: true } } };
  const args = (size: number) => ({ s: `${'a'.repeat(size)}!`, list: Array.from({ length: size / 2 }, (_, i) => ({ i })) });
  assert.equal(faults(slow, args(50_000))?.length, 1);
  await assertGrowsLinearly('pattern and list', 10_000, args, (some) => faults(slow, some));
});
