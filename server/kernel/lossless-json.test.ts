import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { parseExactWithin, parseLossless } from './bounded-text.ts';
import { compactJson, withMembers } from './json-text.ts';
import {
  columnJson,
  copyJson,
  isExact,
  isSameNumber,
  jsonOfColumn,
  LosslessNumber,
  MOST_MOVED,
  parseExact,
  parseExactSteps,
} from './lossless-json.ts';

const roundTrip = (text: string) => JSON.stringify(parseLossless(text, 64));

test('a number that a double would change stays what its author wrote', () => {
  for (const text of [
    '1299.10',
    '1152921504606846976',
    '9007199254740993',
    '0.1000',
    '-0',
    '1e400',
    '1E2',
    '3.141592653589793238',
    '{"price":1299.10,"ids":[1,1152921504606846976,2.5],"deep":{"n":-0.00}}',
  ])
    assert.equal(roundTrip(text), text);
  assert.deepEqual(parseLossless('[1,2.5,-3,1e21,true,null,"x"]', 64), [1, 2.5, -3, parseLossless('1e21', 64), true, null, 'x']);
});

test('every member name is data, and none of them reaches a prototype', () => {
  const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":2,"toJSON":3}';
  assert.equal(roundTrip(text), text);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.equal(Object.getPrototypeOf(parseLossless(text, 64)), Object.prototype);
});

test('data that looks like a number of the library stays data', () => {
  const text = '{"isLosslessNumber":true,"value":"1,\\"admin\\":true"}';
  assert.equal(roundTrip(text), text);
});

test('the last of two members of one name counts, as elsewhere', () => {
  assert.equal(roundTrip('{"a":1,"a":2.50}'), '{"a":2.50}');
});

test('what is no JSON is refused, and what is nested too deep before anything recurses over it', () => {
  for (const text of ['', '{', '{"a":01}', '[1,]', '{"a":.5}', "{'a':1}", '"\u0001"', 'NaN', '1 2'])
    assert.throws(() => parseLossless(text, 64), SyntaxError, text);
  assert.throws(() => parseLossless('['.repeat(500_000), 64), { type: 'validation_error' });
  assert.equal(roundTrip(`${'['.repeat(64)}"[[[[{{{\\"["${']'.repeat(64)}`).length, 64 * 2 + 12);
  assert.throws(() => parseLossless(`${'['.repeat(65)}${']'.repeat(65)}`, 64), { type: 'validation_error' });
});

test('a text is parsed as JSON.parse does, but for numbers that a double changes', () => {
  for (const text of [
    '{"a":"1.10","b":"\\"1.10","c":"\\\\","1.10":1.50}',
    '[1.10 ,-0.0,\n2E5]',
    ' 1.10 ',
    '"x"',
    '{"1e5":{"1e5":1e5}}',
    '{"a":"","b":[],"c":{},"d":null,"e":[[1.0]]}',
  ]) {
    assert.deepEqual(JSON.parse(JSON.stringify(parseExact(text))), JSON.parse(text), text);
    assert.equal(JSON.stringify(parseExact(text)), compactJson(text));
  }
  for (const text of [
    '{1e5:1}',
    '{1.10 :1}',
    '[00.10]',
    '[1.10.10]',
    '[1.10 1.10]',
    '[1.]',
    '[-]',
    '[--1.10]',
    'tru1.10',
    '1.10"',
    '["a]',
    '["\\"]',
  ])
    assert.throws(() => parseExact(text), SyntaxError, text);
});

test('a text with very many numbers that a double changes is read in linear time', async () => {
  await assertGrowsLinearly('1.10,', 400_000, (size) => `[${'1.10,'.repeat(size / 5)}1]`, parseExact);
});

test('a text of megabytes is read in steps: numbers, one long string, and one number', () => {
  for (const text of [`[${'1.10,'.repeat(20_000)}1]`, `["${'\\"1.10'.repeat(20_000)}",1.10]`, `{"${'1.10'.repeat(10_000)}":{"a":1.10}}`]) {
    const steps = parseExactSteps(text);
    let [count, step] = [0, steps.next()];
    for (; !step.done; step = steps.next()) count++;
    assert.ok(count > 0);
    assert.equal(JSON.stringify(step.value), text);
  }
});

test('a text may have so many numbers that a double would change, and any number of others', () => {
  assert.equal(JSON.stringify(parseExactWithin('[1.10,1e400,1,2.5]', 2)), '[1.10,1e400,1,2.5]');
  assert.throws(() => parseExactWithin('[1.10,1e400,1E2]', 2), { type: 'validation_error' });
});

test('every number is either written by a double as it was, or kept', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 20 });
  const number = fc
    .tuple(fc.constantFrom('', '-'), digits, digits, fc.constantFrom('', 'e5', 'E-7', 'e+400'))
    .map(([minus, whole, fraction, power]) => `${minus}${whole.replace(/^0+/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}${power}`);
  fc.assert(
    fc.property(number, (text) => {
      const value = parseExact(text);
      assert.equal(JSON.stringify(value), text);
      assert.equal(isExact(value), String(Number(text)) !== text);
    }),
    { numRuns: 3000, seed: 7 },
  );
});

test('a number has the value of a double, or none has it', () => {
  const same = (text: string) => isSameNumber(new LosslessNumber(text), Number(text));
  for (const text of ['1.0', '1E2', '0.10', '-0', '0e5', '1.5e-3', '100000000000000000000000', '9007199254740992.0'])
    assert.ok(same(text), text);
  for (const text of ['9007199254740993', '1e400', '1e-400', '0.1000000000000000055511151231257827', `1e${'9'.repeat(500)}`])
    assert.ok(!same(text), text);
});

test('a copy keeps its digits', () => {
  const value = parseExact('{"a":[1.10],"__proto__":1e400}');
  assert.notEqual(copyJson(value), value);
  assert.equal(JSON.stringify(copyJson(value)), '{"a":[1.10],"__proto__":1e400}');
});

test('a column keeps exact numbers as text, and plain values as they are', () => {
  const plain = { a: [1, 'x', null, { b: true }] };
  assert.equal(columnJson(plain), plain);
  assert.equal(jsonOfColumn(plain), plain);
  for (const text of ['{"a":[{"id":7615917337495251231}],"rate":1.10}', '{"a":[{"__proto__":{"b":1}}]}']) {
    assert.equal(columnJson(parseExact(text)), text);
    assert.equal(JSON.stringify(jsonOfColumn(text)), text);
  }
});

test('members are put behind those of a text, which keeps its order and names', () => {
  assert.equal(withMembers('{"2":1,"1":1e400,"__proto__":{}}', { iat: 5 }), '{"2":1,"1":1e400,"__proto__":{},"iat":5}');
  assert.equal(withMembers('{}', { iat: 5 }), '{"iat":5}');
  assert.equal(withMembers('{"a":1}', {}), '{"a":1}');
});

const ORDERED = '{"b":1,"2":{"x":1.10,"1":[{"a":true,"0":null}]},"1":1e400,"__proto__":{"7":1,"a":2},"4294967295":1,"3":2}';

test('names that are whole numbers stay where they stood, in a copy and in a column too', () => {
  for (const text of [ORDERED, `[${ORDERED},{"10":1,"9":2},{"1":1,"2":2}]`, '{"a":{"1":1},"0":0}']) {
    assert.equal(JSON.stringify(parseExact(text)), text);
    assert.equal(JSON.stringify(copyJson(parseExact(text))), text);
    assert.equal(columnJson(parseExact(text)), text);
  }
  assert.equal(JSON.stringify(parseExact('{"a":1,"\\u0031" : 2}')), '{"a":1,"1":2}');
  assert.equal(JSON.stringify(parseExact('{"b":1,"1":2,"1":3,"b":4}')), '{"b":4,"1":3}');
});

test('an object in an order of its own is one like others', () => {
  const value = parseExact('{"b":{},"2":1,"1":2}') as Record<string, unknown>;
  assert.deepEqual(Object.entries(value), [
    ['b', {}],
    ['2', 1],
    ['1', 2],
  ]);
  value.c = 3;
  value[2] = 4;
  delete value.b;
  assert.equal(JSON.stringify(value), '{"2":4,"1":2,"c":3}');
  value.b = 5;
  assert.deepEqual([Object.keys(value).length, '2' in value, value.constructor, Object.hasOwn(value, 'c')], [4, true, Object, true]);
});

test('a text may have so many names out of order, and any number of them in order', () => {
  const names = (count: number, name: (i: number) => number) => `{${Array.from({ length: count }, (_, i) => `"${name(i)}":1`).join(',')}}`;
  assert.equal(Object.keys(parseExact(names(50_000, (i) => i)) as object).length, 50_000);
  assert.throws(() => parseExact(names(MOST_MOVED + 2, (i) => 60_000 - i)), RangeError);
  assert.throws(
    () =>
      parseExactWithin(
        names(MOST_MOVED + 2, (i) => 60_000 - i),
        10,
      ),
    { type: 'validation_error' },
  );
});

test('any JSON comes back as it was, with numbers and names in their places', () => {
  const name = fc.oneof(
    fc.constantFrom('0', '1', '2', '10', '01', '4294967294', '4294967295', 'a', 'b', '__proto__'),
    fc.string({ maxLength: 3 }),
  );
  const tree = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('1.10', '7615917337495251231', 'null', '"1"', '"2:"'),
      fc
        .uniqueArray(fc.tuple(name, tie('text')), { selector: ([of]) => of, maxLength: 6 })
        .map((members) => `{${members.map(([of, text]) => `${JSON.stringify(of)}:${text}`).join(',')}}`),
      fc.array(tie('text'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    ),
  }));
  fc.assert(fc.property(tree.text, (text) => assert.equal(JSON.stringify(parseExact(text)), text)));
});
