import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type AnyNumber, compareNumbers, isMultipleOf, isWhole, NumberTooLong } from './decimals.ts';
import { parseExact } from './lossless-json.ts';
import { asSameDoubles } from './number-values.ts';

const number = (text: string) => parseExact(text) as AnyNumber;

/** A decimal as an integer and a power of ten, and as one of its spellings. */
const decimal = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).filter((integer) => integer !== 0n),
    fc.integer({ min: -30, max: 30 }),
    fc.nat({ max: 5 }),
  )
  .map(([integer, power, zeros]) => ({ integer, power, text: `${integer}${'0'.repeat(zeros)}e${power - zeros}` }));
const scaled = ({ integer, power }: { integer: bigint; power: number }) => integer * 10n ** BigInt(power + 30);

test('numbers are compared, divided and found whole by their values, whatever their spelling', () => {
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      const [x, y] = [scaled(a), scaled(b)];
      assert.equal(Math.sign(compareNumbers(number(a.text), number(b.text))), x < y ? -1 : x > y ? 1 : 0);
      assert.equal(isWhole(number(a.text)), x % 10n ** 30n === 0n);
      if (y > 0n) assert.equal(isMultipleOf(number(a.text), number(b.text)), x % y === 0n);
    }),
    { numRuns: 2_000 },
  );
});

test('a multiple is one of the decimals that are written, not of their doubles', () => {
  for (const [value, of, expected] of [
    ['0.3', '0.1', true],
    ['19.99', '0.01', true],
    ['19.995', '0.01', false],
    ['1e308', '0.123456789', false],
    ['12391239123', '1e-8', true],
    ['7615917337495251231', '3', true],
    ['7615917337495251232', '3', false],
    ['1e999999999999999', '7', false],
    ['0', '7615917337495251231', true],
  ] as const)
    assert.equal(isMultipleOf(number(value), number(of)), expected, `${value} of ${of}`);
});

test('what can’t be judged exactly is an error', () => {
  for (const text of ['9'.repeat(401), '1e1000000000000000000']) {
    assert.throws(() => compareNumbers(number(text), 1), NumberTooLong);
    assert.throws(() => isWhole(number(text)), NumberTooLong);
  }
});

test('a number that a double has exactly becomes this double, and no other does', () => {
  const value = parseExact('{"a":[1.0,1E2,0.10,-0,9007199254740993],"b":{"__proto__":9007199254740993.0,"c":1.5e-3}}');
  assert.equal(
    JSON.stringify(asSameDoubles(value)),
    '{"a":[1,100,0.1,0,9007199254740993],"b":{"__proto__":9007199254740993.0,"c":0.0015}}',
  );
  fc.assert(
    fc.property(decimal, ({ text }) => {
      const found = asSameDoubles([number(text)])[0] as AnyNumber;
      if (typeof found === 'number') assert.equal(compareNumbers(number(text), found), 0, text);
      else assert.notEqual(compareNumbers(found, Number(text)), 0, text);
    }),
  );
});
