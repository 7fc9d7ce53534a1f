import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { compileSelectors } from '#server/custody/fields/selectors.ts';
import { atOnce } from '#server/kernel/slices.ts';
import { pickJson } from './json-picks.ts';
import { spliced, Unwalkable } from './picks.ts';

const picker = (selectors: string[], whole = false) => ({ root: compileSelectors(selectors).root, whole });
const found = (text: string, selectors: string[], whole = false) => {
  const bytes = Buffer.from(text);
  return atOnce(pickJson(bytes, [picker(selectors, whole)])).picks.map(({ from, to, at }) => [at, bytes.toString('utf8', from, to)]);
};

test('picks values by their place in the text, whatever stands around them', () => {
  const text = ' {"card" : {"number":"4242","holder":"J D", "n":1299.10e2},\n"items":[{"ssn":"1"},{"ssn":null,"x":[true]}], "note":"x"} ';
  assert.deepEqual(found(text, ['$.card.number']), [['/card/number', '"4242"']]);
  assert.deepEqual(found(text, ['$..ssn', '$.card.n']), [
    ['/card/n', '1299.10e2'],
    ['/items/0/ssn', '"1"'],
    ['/items/1/ssn', 'null'],
  ]);
  assert.deepEqual(
    found(text, ['$.card']).map(([at]) => at),
    ['/card/number', '/card/holder', '/card/n'],
  );
  assert.deepEqual(found(text, ['$.card'], true), [['/card', '{"number":"4242","holder":"J D", "n":1299.10e2}']]);
  assert.deepEqual(found(text, ['$.nothing', '$.note.deeper', '$.items.name']), []);
  assert.deepEqual(found('"alone"', ['$']), [['', '"alone"']]);
});

test('a name is the same however it is escaped, and each of two equal names is picked', () => {
  assert.deepEqual(found('{"\\u0073sn":"a","ssn":"b","ss\\u006e":"c"}', ['$.ssn']), [
    ['/ssn', '"a"'],
    ['/ssn', '"b"'],
    ['/ssn', '"c"'],
  ]);
  assert.deepEqual(found('{"__proto__":{"ssn":"a"},"constructor":"b"}', ['$.__proto__.ssn', '$.constructor']), [
    ['/__proto__/ssn', '"a"'],
    ['/constructor', '"b"'],
  ]);
});

test('refuses whatever is not one JSON text, also where no selector leads', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '{"ssn":"a"',
    '{"ssn":"a"}}',
    '{"ssn":"a"} x',
    '{"ssn":"a",}',
    "{'ssn':'a'}",
    '{ssn:"a"}',
    '{"ssn":01}',
    '{"ssn":+1}',
    '{"ssn":1.}',
    '{"ssn":NaN}',
    '{"ssn":tru}',
    '{"ssn":"a\u0001"}',
    '{"ssn":"\\x"}',
    '{"ssn":"\\u12"}',
    '{"other":{"deep":[1,]},"ssn":"a"}',
    '\ufeff{"ssn":"a"}',
    '/**/{"ssn":"a"}',
    '{"ssn":"a"}\n{"ssn":"b"}',
    '[1 2]',
  ])
    assert.throws(() => found(text, ['$.ssn']), Unwalkable, text);
});

test('nesting is bounded where selectors lead, skipped where they do not, and no depth exhausts the stack', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
  assert.deepEqual(found(`{"deep":${nested(5_000)},"ssn":1}`, ['$.ssn']), [['/ssn', '1']]);
  assert.throws(() => found(nested(65), ['$..ssn']), /nested deeper than 64/);
  assert.throws(() => found(nested(200_000), ['$.ssn']), Unwalkable);
  assert.equal(found(nested(64), ['$']).length, 1);
});

test('a name of up to 64 KiB is read, and a longer one refused by its length', () => {
  const named = (length: number) => `{"${'n'.repeat(length)}":{"ssn":"a"},"${'m'.repeat(length)}":1}`;
  for (const length of [20_000, 64 * 1024 - 2]) assert.deepEqual(found(named(length), ['$..ssn']), [[`/${'n'.repeat(length)}/ssn`, '"a"']]);
  for (const length of [64 * 1024 - 1, 200_000]) assert.throws(() => found(named(length), ['$..ssn']), /longer than 64 KiB/);
  assert.throws(() => found(named(20_000).slice(0, 18_000), ['$..ssn']), /not valid JSON/);
});

test('no body has an unbounded number of values processed', () => {
  const many = (n: number) => JSON.stringify(Array.from({ length: n }, () => ({ ssn: '1' })));
  assert.equal(found(many(2_000), ['$..ssn']).length, 2_000);
  assert.throws(() => found(many(2_001), ['$..ssn']), /more than 2,000/);
});

test('what is not picked leaves byte for byte as it came', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 0, max: 3 }), (value, space) => {
      const bytes = Buffer.from(JSON.stringify({ a: value, ssn: 'x', b: [value, { ssn: value }] }, null, space));
      const { picks } = atOnce(pickJson(bytes, [picker(['$..ssn']), picker(['$.b'], true)]));
      assert.ok(Buffer.concat(spliced(bytes, picks, 'now')).equals(bytes));
      for (const pick of picks) if (pick.actions & 1) pick.now = '"*"';
      const changed = JSON.parse(Buffer.concat(spliced(bytes, picks, 'now')).toString());
      assert.deepEqual(changed.a, replaced(JSON.parse(JSON.stringify(value))));
    }),
    { numRuns: 300 },
  );
});

/** The value with every scalar below a member `ssn` replaced, found by a walk that shares nothing with ours. */
function replaced(value: unknown, inside = false): unknown {
  if (Array.isArray(value)) return value.map((one) => replaced(one, inside));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, inside || name === 'ssn')]));
  return inside ? '*' : value;
}
