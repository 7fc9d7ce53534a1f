import assert from 'node:assert/strict';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { argumentFaults } from './arguments.ts';

const faults = (schema: object, args: unknown) => argumentFaults(schema as never, args);

test('arguments are held against the schema of their tool', async () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { n: { type: 'integer' }, s: { type: 'string', pattern: '^a+$' } },
    required: ['n'],
    additionalProperties: false,
  };
  assert.deepEqual(await faults(schema, { n: 1, s: 'aa' }), []);
  assert.deepEqual(await faults(schema, { n: 'secret' }), [{ path: '/n', keyword: 'type', message: 'must be integer' }]);
  assert.deepEqual(
    (await faults(schema, { s: 'b', extra: 1 }))?.map(({ path, keyword }) => [path, keyword]),
    [
      ['/', 'required'],
      ['/', 'additionalProperties'],
      ['/s', 'pattern'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(await faults(schema, { n: 'top secret', s: 'hunter2' })), /secret|hunter2/, 'no value is repeated');
});

test('a schema whose preparation failed for another reason is prepared again', async () => {
  let failing = true;
  const schema = {
    get type() {
      if (failing) throw new Error('not now');
      return 'object';
    },
  };
  await assert.rejects(faults(schema, {}), /not now/);
  failing = false;
  assert.deepEqual(await faults(schema, {}), []);
});

test('definitions are followed within the schema, and nowhere else', async () => {
  const tree = {
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object', properties: { left: { $ref: '#/$defs/node' }, v: { type: 'number' } } } },
  };
  assert.deepEqual(await faults(tree, { root: { left: { left: { v: 1 } } } }), []);
  assert.equal((await faults(tree, { root: { left: { left: { v: 'x' } } } }))?.length, 1);
  assert.equal(await faults({ type: 'object', properties: { a: { $ref: 'https://evil.test/schema.json' } } }, { a: 1 }), null);
});

test('a schema that is too large to be run is not applied, and a check that takes too much work is given up', async () => {
  const bomb: Record<string, unknown> = { n30: { type: 'string' } };
  for (let i = 29; i >= 0; i--) bomb[`n${i}`] = { allOf: [{ $ref: `#/$defs/n${i + 1}` }, { $ref: `#/$defs/n${i + 1}` }] };
  const patterns = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, { type: 'string', pattern: 'a' }])),
  };
  for (const schema of [{ type: 'object', $ref: '#/$defs/n0', $defs: bomb }, patterns]) assert.equal(await faults(schema, { a: 1 }), null);
  const child = { properties: { a: { $ref: '#' } } };
  const branching = { type: 'object', anyOf: [child, { ...child, required: ['b'] }] };
  assert.deepEqual(await faults(branching, { a: { a: {} } }), []);
  let deep: object = { a: 1 };
  for (let i = 0; i < 60; i++) deep = { a: deep };
  assert.equal(await faults(branching, deep), null);
});

test('time is linear in the arguments', async () => {
  const slow = { type: 'object', properties: { s: { type: 'string', pattern: '^(a+)+$' }, list: { type: 'array', uniqueItems: true } } };
  const args = (size: number) => ({ s: `${'a'.repeat(size)}!`, list: Array.from({ length: size / 2 }, (_, i) => ({ i })) });
  assert.equal((await faults(slow, args(20_000)))?.length, 1);
  await assertGrowsLinearly('pattern and list', 10_000, args, (some) => faults(slow, some));
});
