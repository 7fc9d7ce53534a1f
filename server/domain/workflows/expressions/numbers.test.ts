import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { hardProblem } from '../definition.shared.ts';
import { jsonSize } from '../engine/json-size.ts';
import { holds, parseCondition } from './condition.shared.ts';
import { newMeter, TooLarge } from './meter.shared.ts';
import { compareNumbers, doubleOf, isTruthy, numberIn } from './numbers.shared.ts';
import { evaluateText } from './template.shared.ts';

const runs = { numRuns: THOROUGH ? 100_000 : 3_000, seed: 33 };
const scopeOf = (text: string) => () => parseExact(text);
const evaluated = (text: string, data: string) =>
  JSON.stringify(evaluateText(text, { scope: scopeOf(data), hash: String, meter: newMeter() }));
const is = (expression: string, data = 'null') => holds(parseCondition(expression), scopeOf(data), newMeter());

/** whole.fraction × 10^power as a fraction of two whole numbers. */
type Parts = { whole: bigint; fraction: string; power: number };
const parts: fc.Arbitrary<Parts> = fc.record({
  whole: fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
  fraction: fc.stringMatching(/^[0-9]{0,20}$/),
  power: fc.integer({ min: -30, max: 30 }),
});
const written = ({ whole, fraction, power }: Parts) => `${whole}${fraction === '' ? '' : `.${fraction}`}e${power}`;
/** Times 10^80. */
const scaled = ({ whole, fraction, power }: Parts) => BigInt(`${whole}${fraction}`) * 10n ** BigInt(80 + power - fraction.length);
const signOf = (value: bigint) => (value > 0n ? 1 : value < 0n ? -1 : 0);

test('numbers compare as the numbers that they are, however they are written', () => {
  fc.assert(
    fc.property(parts, parts, fc.integer({ min: 0, max: 20 }), (a, b, zeros) => {
      const [x, y] = [parseExact(written(a)), parseExact(written(b))] as [number, number];
      assert.equal(Math.sign(compareNumbers(x, y)), signOf(scaled(a) - scaled(b)));
      const same = parseExact(written({ ...a, fraction: a.fraction + '0'.repeat(zeros) })) as number;
      assert.equal(Math.sign(compareNumbers(x, same)), 0);
      assert.equal(isTruthy(x), scaled(a) !== 0n);
    }),
    runs,
  );
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.double({ noNaN: true, noDefaultInfinity: true }), (a, b) => {
      const [x, y] = [numberIn(a.toExponential()), parseExact(b.toExponential())] as [number, number];
      assert.equal(Math.sign(compareNumbers(x, y)), a === b ? 0 : Math.sign(a - b) || (a < b ? -1 : 1));
      assert.ok(doubleOf(x) === a);
    }),
    runs,
  );
});

test('a number is passed on with its digits, and its text has them', () => {
  for (const digits of ['7615917337495251231', '-0', '1e400', '1.10', '0.1000000000000000055']) {
    for (const text of ['{{trigger}}', '{{trigger|number}}', '{{trigger|default(1)}}', '{{none.x|default(1)|number}}'].slice(0, 3))
      assert.equal(evaluated(text, digits), digits, text);
    for (const text of ['{{trigger|string}}', '{{trigger|json}}', '{{trigger|trim}}', '{{trigger}}{{trigger.none}}'])
      assert.equal(evaluated(text, digits), JSON.stringify(digits), text);
    assert.equal(evaluated('{{trigger[0]|json}}', `[{"n":${digits}}]`), JSON.stringify(`{"n":${digits}}`));
    assert.equal(evaluated('{{trigger|first}} {{trigger|join("+")}}', `[${digits},${digits}]`), `"${digits} ${digits}+${digits}"`);
  }
  for (const [text, number] of [
    ['7615917337495251231', '7615917337495251231'],
    [' +007.50 ', '7.5'],
    ['.5', '0.5'],
    ['1e400', '1e400'],
    ['0x1fffffffffffff1', '144115188075855857'],
    ['twelve', 'null'],
    ['Infinity', 'null'],
    ['1'.repeat(401), 'null'],
  ] as const)
    assert.equal(evaluated('{{trigger|number}}', JSON.stringify(text)), number, text);
  assert.equal(evaluated('{{none.x|default(18446744073709551617)}}', 'null'), '18446744073709551617', 'a literal too');
  assert.equal(evaluated('{{trigger|date}}', '1700000000.000'), '"2023-11-14T22:13:20.000Z"');
});

test('conditions are exact, and say so when a number is too long for them', () => {
  assert.ok(is('trigger === 7615917337495251231 && trigger !== 7615917337495251230', '7615917337495251231'));
  assert.ok(is('trigger.a === trigger.b', '{"a":{"n":[1.10]},"b":{"n":[1.1]}}'));
  assert.ok(is('trigger.includes(18446744073709551617) && !trigger.includes(18446744073709551616)', '[18446744073709551617]'));
  assert.ok(is("'id 18446744073709551617'.includes(trigger)", '18446744073709551617'));
  assert.ok(is('!trigger', '0.00') && is('!trigger', '-0e5') && is('trigger && true', '0.10'));
  const long = '1'.repeat(401);
  assert.ok(is('trigger.a === trigger.b', `{"a":${long},"b":${long}}`), 'the same digits are the same number');
  for (const [data, message] of [
    [long, /a number has more than 400 characters, which is too precise to compute with: pass it on as it is/],
    ['1e9999999999999999', /an exponent of more than 15 digits, which is too large to compute with/],
  ] as const)
    assert.throws(
      () => is('trigger > 7', data),
      (error) => error instanceof TooLarge && message.test(error.message),
    );
});

test('what is no JSON is refused as before, and text that looks like a number stays text', () => {
  for (const text of [
    '01',
    '1.',
    '.5',
    '-',
    '1e',
    '+1',
    '{7615917337495251231:1}',
    '{1.10 :1}',
    '[1.10,]',
    '"\u0001"',
    'NaN',
    '1.10 1.10',
    '"1.10',
  ])
    assert.throws(() => parseExact(text), SyntaxError, text);
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.string(), (json, text) => {
      assert.deepEqual(
        parseExact(json.replaceAll('-0,', '0,').replaceAll(/-0(?=[\]}])|^-0$/g, '0')),
        JSON.parse(json.replaceAll('-0,', '0,').replaceAll(/-0(?=[\]}])|^-0$/g, '0')),
      );
      assert.deepEqual(parseExact(JSON.stringify({ [text]: [text] })), { [text]: [text] });
    }),
    runs,
  );
  assert.equal(JSON.stringify(parseExact('["number-1","\\"1.10",1.10]')), '["number-1","\\"1.10",1.10]');
});

test('sizes and the checks of a definition count a number by its digits', () => {
  for (const text of ['1e400', '[7615917337495251231,1.10]', '{"a":{"b":1.50}}'])
    assert.equal(jsonSize(parseExact(text)).bytes, text.length, text);
  assert.equal(jsonSize(parseExact('[1.10,1]')).values, 6, 'it takes the memory of four');
  const definition = (number: string) =>
    parseExact(`{"nodes":[{"id":"a","type":"transform","data":{"config":{"template":${number}}}}],"edges":[]}`);
  assert.equal(hardProblem(definition('7615917337495251231')), null);
  assert.equal(hardProblem(definition('7'.repeat(512 * 1024)))?.message, 'must be at most 512 KiB');
});
