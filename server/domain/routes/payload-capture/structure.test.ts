import assert from 'node:assert/strict';
import test from 'node:test';
import { formFields, type Structure, structureOf } from './structure.shared.ts';

test('a structure has the names and types of a body, and none of its values', () => {
  const body = { card: { number: '4111' }, amount: 12, ok: true, none: null, items: [{ sku: 'a' }, { sku: null, n: 1 }], empty: [] };
  assert.deepEqual(structureOf(body), {
    card: { number: 'string' },
    amount: 'number',
    ok: 'boolean',
    none: 'null',
    items: [{ sku: 'string', n: 'number' }],
    empty: [],
  });
  assert.deepEqual(structureOf([[1], ['a'], []]), [['number']]);
  assert.deepEqual(structureOf(formFields('a=1&b=2&b=3&user%5Bname%5D=x')), { a: 'string', b: ['string'], 'user[name]': 'string' });
});

test('it stays small, whatever was sent, and touches no prototype', () => {
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, { v: i }]));
  const count = (shape: Structure): number =>
    typeof shape === 'object' ? Object.entries(shape).reduce((n, [, child]) => n + 1 + count(child as Structure), 0) : 0;
  assert.equal(count(structureOf(wide)), 500);
  let deep: unknown = 'x';
  for (let i = 0; i < 10_000; i++) deep = { a: deep };
  assert.ok(JSON.stringify(structureOf(deep)).length < 200);
  const shape = structureOf(JSON.parse('[{"__proto__":{"polluted":true},"a":1},{"__proto__":{"x":1}}]'));
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  assert.match(JSON.stringify(shape), /"__proto__":/);
});
