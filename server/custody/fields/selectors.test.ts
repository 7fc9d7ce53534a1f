import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { eachPicked, isDeeperThan, type Leaf, withReplaced } from './json-leaves.ts';
import { compileSelectors, SelectorRefused, stepsOf } from './selectors.ts';

/** JSON Pointers of the picked leaves. */
function picked(text: string, selectors?: string[], exclude?: string[]): string[] {
  const found: string[] = [];
  eachPicked(compileSelectors(selectors, exclude), text, ({ pointer }) => found.push(pointer));
  return found;
}

const CARD = '{"card":{"number":"4242","holder":"J D"},"items":[{"sku":"a","ssn":"1"},{"sku":"b"}],"note":"x"}';

test('picks the leaves of the example of the interface', () => {
  assert.deepEqual(picked(CARD, ['$.card.number', '$..ssn']), ['/card/number', '/items/0/ssn']);
});

test('picks by every kind of step, and every leaf below a picked object or array', () => {
  const cases: [string[], string[]][] = [
    [['$'], ['/card/number', '/card/holder', '/items/0/sku', '/items/0/ssn', '/items/1/sku', '/note']],
    [['$.card'], ['/card/number', '/card/holder']],
    [["$['card']['number']"], ['/card/number']],
    [['$["card"].holder'], ['/card/holder']],
    [['$.items[1]'], ['/items/1/sku']],
    [['$.items[*].sku'], ['/items/0/sku', '/items/1/sku']],
    [['$.items.*.sku'], ['/items/0/sku', '/items/1/sku']],
    [['$.*'], ['/card/number', '/card/holder', '/items/0/sku', '/items/0/ssn', '/items/1/sku', '/note']],
    [['$.items[7]', '$.nothing', '$.note.deeper', '$.items.sku', '$.card[0]'], []],
    [
      ['$..sku', '$.items[0]'],
      ['/items/0/sku', '/items/0/ssn', '/items/1/sku'],
    ],
    [['$..items.*.ssn'], ['/items/0/ssn']],
    [['$..card'], ['/card/number', '/card/holder']],
  ];
  for (const [selectors, expected] of cases) assert.deepEqual(picked(CARD, selectors), expected, selectors.join(' '));
});

test('exclude wins over selectors, at the node and below it', () => {
  assert.deepEqual(picked(CARD, ['$'], ['$.items', '$..holder']), ['/card/number', '/note']);
  assert.deepEqual(picked(CARD, ['$.card'], ['$.card']), []);
  assert.deepEqual(picked(CARD, undefined, ['$']), []);
  assert.deepEqual(picked('"x"', ['$']), ['']);
  assert.deepEqual(picked('"x"', ['$..a']), []);
});

test('names that reach prototypes, integer names and repeated names are names like any other', () => {
  const text = '{"__proto__":"a","constructor":{"prototype":1},"2":"two","1":"one","1":"again","":3,"a~b/c":4}';
  assert.deepEqual(picked(text), ['/__proto__', '/constructor/prototype', '/2', '/1', '/1', '/', '/a~0b~1c']);
  assert.deepEqual(picked(text, ['$.__proto__', '$..prototype']), ['/__proto__', '/constructor/prototype']);
  assert.deepEqual(picked(text, ["$['1']", "$['a~b/c']"]), ['/1', '/1', '/a~0b~1c']);
  assert.deepEqual(picked('{"toString":1}', ['$.hasOwnProperty', '$.valueOf']), []);
  assert.deepEqual(picked('{"it\'s":1,"a\\\\b":2,"\\u0061":3}', ["$['it\\'s']", '$["a\\\\b"]', '$.a']), ["/it's", '/a\\b', '/a']);
});

test('refuses what is no selector, and names it', () => {
  const faulty = [
    '',
    'card',
    '$.',
    '$card',
    '$[1:2]',
    '$[-1]',
    "$['']",
    '$["a\']',
    '$[?(@.a)]',
    '$.a b',
    '$..*',
    '$...a',
    '$..a..b',
    '$.1a',
    `$.${'a'.repeat(255)}`,
  ];
  for (const selector of [...faulty, "$['\\n']", '$["a\nb"]', '$[0x1]', '$.a.', '$[ 0 ]'])
    assert.throws(
      () => compileSelectors([selector]),
      (error: unknown) => error instanceof SelectorRefused && error.selector === selector,
      selector,
    );
});

test('an object of $b64 alone is one leaf of bytes, and anything else is an ordinary object', () => {
  const kinds = (text: string) => {
    const found: string[] = [];
    eachPicked(compileSelectors(), text, ({ kind, pointer }) => found.push(`${kind}${pointer}`));
    return found;
  };
  assert.deepEqual(kinds('{"a": { "$b64" : "AQID" } ,"b":{"$b64":"\\/+8="},"c":{"$b64":""}}'), ['bytes/a', 'bytes/b', 'bytes/c']);
  for (const other of ['"A"', '"AB=="', '"AQID\\n"', '"AQ_D"', '1', 'null'])
    assert.equal(kinds(`{"a":{"$b64":${other}}}`)[0]?.endsWith('/a/$b64'), true, other);
  assert.deepEqual(kinds('{"$b64":"AQID","x":1}'), ['string/$b64', 'number/x']);
  assert.deepEqual(picked('{"a":{"$b64":"AQID"}}', ["$.a['$b64']"]), ['/a']);
  assert.deepEqual(picked('{"a":{"$b64":"AQID"}}', ['$'], ["$.a['$b64']"]), []);
});

// An independent reading of the grammar: all nodes that a selector takes, by RFC 9535's semantics, over parsed values.
type Node = { pointer: string; value: unknown };
const childrenOf = ({ pointer, value }: Node): { node: Node; by: string | number }[] => {
  if (Array.isArray(value)) return value.map((one, i) => ({ node: { pointer: `${pointer}/${i}`, value: one }, by: i }));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([name, one]) => ({ node: { pointer: `${pointer}/${name}`, value: one }, by: name }));
};
const below = (node: Node): Node[] => [node, ...childrenOf(node).flatMap((child) => below(child.node))];
function judge(document: unknown, selectors: string[], exclude: string[]): string[] {
  const nodes = (selector: string) =>
    stepsOf(selector).reduce<Node[]>(
      (held, step) =>
        held
          .flatMap((node) => (step.to === 'descendant' ? below(node) : [node]))
          .flatMap((node) => childrenOf(node).filter(({ by }) => step.to === 'every' || step.of === by))
          .map(({ node }) => node),
      [{ pointer: '', value: document }],
    );
  const under = (list: string[]) => new Set(list.flatMap(nodes).flatMap((node) => below(node).map(({ pointer }) => pointer)));
  const [taken, barred] = [under(selectors), under(exclude)];
  return below({ pointer: '', value: document })
    .filter(({ value }) => typeof value !== 'object' || value === null)
    .map(({ pointer }) => pointer)
    .filter((pointer) => taken.has(pointer) && !barred.has(pointer));
}
const name = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  name.map((n) => `.${n}`),
  name.map((n) => `['${n}']`),
  fc.nat({ max: 2 }).map((n) => `[${n}]`),
  fc.constantFrom('.*', '[*]'),
);
const selector = fc
  .tuple(fc.array(step, { maxLength: 3 }), fc.option(name), fc.array(step, { maxLength: 2 }))
  .map(([before, deep, after]) => `$${before.join('')}${deep === null ? '' : `..${deep}`}${after.join('')}`);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ maxDepth: 5, withCrossShrink: true }, fc.constantFrom(1, 'x', null, true), tie('list'), tie('object')),
  list: fc.array(tie('tree'), { maxLength: 3 }),
  object: fc.dictionary(name, tie('tree'), { maxKeys: 3 }),
}));

test('picks what an independent reading of RFC 9535 picks', () => {
  fc.assert(
    fc.property(
      tree,
      fc.array(selector, { minLength: 1, maxLength: 4 }),
      fc.array(selector, { maxLength: 2 }),
      (document, selectors, exclude) => {
        assert.deepEqual(picked(JSON.stringify(document, null, 1), selectors, exclude), judge(document, selectors, exclude));
      },
    ),
    { numRuns: 400 },
  );
});

test('leaves are exactly their text, and replacing each with itself changes nothing', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat({ max: 2 }), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      const replaced: Parameters<typeof withReplaced>[1][number][] = [];
      eachPicked(compileSelectors(), text, (leaf) => replaced.push({ leaf, by: text.slice(leaf.from, leaf.to) }));
      for (const { by } of replaced) JSON.parse(by);
      assert.equal(withReplaced(text, replaced), text);
    }),
    { numRuns: 300 },
  );
});

test('hostile selectors and documents cost no more than their size', async () => {
  const selectors = Array.from({ length: 50 }, (_, i) => `$..${'ab'[i % 2]}${'.*'.repeat(120 + (i % 5))}`);
  const chain = (bits: number) => Array.from({ length: 58 }, (_, i) => `{"${(bits >> (i % 12)) & 1 ? 'a' : 'b'}":`).join('');
  const rows = (count: number) => `[${Array.from({ length: count }, (_, i) => `${chain(i)}1${'}'.repeat(58)}`).join(',')}]`;
  await assertGrowsLinearly('rows', 250, rows, (text) => eachPicked(compileSelectors(selectors), text, () => {}));
});

test('leaves below a name as long as the document cost no more than their size', async () => {
  const text = `{"${'~'.repeat(200_000)}":[${Array(2_000).fill(1).join(',')}]}`;
  const found: Leaf[] = [];
  eachPicked(compileSelectors(), text, (leaf) => found.push(leaf));
  assert.equal(found.length, 2_000);
  assert.equal(found[1_999]?.pointer, `/${'~0'.repeat(200_000)}/1999`);
  await assertGrowsLinearly(
    'name and leaves',
    500,
    (size) => `{"${'~'.repeat(size * 100)}":[${Array(size).fill(1).join(',')}]}`,
    (document) => eachPicked(compileSelectors(), document, () => {}),
  );
});

test('depth is counted by brackets outside of strings', () => {
  assert.equal(isDeeperThan('[[{"a":"[[[[\\"["}]]', 3), false);
  assert.equal(isDeeperThan('[[{"a":[]}]]', 3), true);
  assert.equal(isDeeperThan('"[[["', 0), false);
});
