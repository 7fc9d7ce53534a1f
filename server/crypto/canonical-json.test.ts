import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.ts';

test('RFC 8785 §3.2.2 example: literals, numbers and strings', () => {
  const input = JSON.parse(
    String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
  );
  assert.equal(
    canonicalJson(input),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test('RFC 8785 §3.2.3 example: members sort by UTF-16 code units', () => {
  const input = JSON.parse(
    String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
  );
  assert.deepEqual(sortedValues(canonicalJson(input)), [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ]);
});

/** Values in the order of the text; JSON.parse would move the key "1" to the front. */
function sortedValues(json: string): string[] {
  return [...json.matchAll(/":"([^"]+)"/g)].map((match) => match[1] ?? '');
}

test('RFC 8785 appendix B: numbers', () => {
  const samples: [string, string][] = [
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['44b52d02c7e14af6', '1e+23'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
  ];
  for (const [bits, expected] of samples) {
    assert.equal(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE()), expected);
  }
});

test('the text does not depend on the order members were written in, and reads back to the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value));
      let canonical: string;
      try {
        canonical = canonicalJson(plain);
      } catch {
        return !JSON.stringify(plain).isWellFormed() || /\\ud[89a-f]/.test(JSON.stringify(plain));
      }
      assert.deepEqual(JSON.parse(canonical), plain);
      assert.equal(canonicalJson(reversed(plain)), canonical);
      return true;
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

test('what JSON cannot hold is refused instead of guessed', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const refused = [
    undefined,
    Number.NaN,
    Infinity,
    1n,
    () => 1,
    Symbol('x'),
    new Date(0),
    Buffer.from('x'),
    new Map(),
    '\ud800',
    { '\udc00': 1 },
    [undefined],
    cyclic,
  ];
  for (const value of refused) assert.throws(() => canonicalJson(value), TypeError);
});

test('members that are undefined are absent', () => {
  assert.equal(canonicalJson({ b: undefined, a: 1 }), '{"a":1}');
});

test('integer mode refuses fractions and integers that lose precision', () => {
  for (const value of [0.5, 1e30, 2 ** 53, -(2 ** 53)]) assert.throws(() => canonicalJson({ value }, 'integers'), TypeError);
  assert.equal(canonicalJson([2 ** 53 - 1, -0, 1e3], 'integers'), '[9007199254740991,0,1000]');
});
