import assert from 'node:assert/strict';
import test from 'node:test';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { outputSchema } from './output-schema.ts';
import { InvalidSchema } from './shape.ts';

const keywords = async (schema: string, text: string) =>
  (await outputSchema(parseExact(schema) as object)).faults(text).map(({ keyword }) => keyword);

/** Schema, values that fit, and values that don't but would when both were rounded. */
const CASES: [schema: string, fit: string[], unfit: string[]][] = [
  ['{"maximum":9007199254740992}', ['9007199254740992', '9007199254740992.0'], ['9007199254740993', '9007199254740992.5']],
  ['{"minimum":9007199254740993}', ['9007199254740993', '1e400'], ['9007199254740992', '9007199254740992.9', '-1e400']],
  ['{"exclusiveMaximum":7615917337495251231}', ['7615917337495251230'], ['7615917337495251231', '7615917337495251232']],
  ['{"exclusiveMinimum":0.1}', ['0.10000000000000000001'], ['0.1', '0.10', '1e-1']],
  ['{"multipleOf":0.01}', ['19.99', '19.990', '7615917337495251231.01'], ['19.995', '7615917337495251231.001']],
  ['{"multipleOf":3}', ['7615917337495251231'], ['7615917337495251232']],
  ['{"const":7615917337495251231}', ['7615917337495251231', '7615917337495251231.0', '7615917337495251231000e-3'], ['7615917337495251232']],
  ['{"const":{"a":[7615917337495251231]}}', ['{"a":[7615917337495251231]}'], ['{"a":[7615917337495251000]}']],
  [
    '{"enum":[1,1.10,7615917337495251231]}',
    ['1.0', '1.1', '7615917337495251231'],
    ['7615917337495251232', '"7615917337495251231"', '1.10000000000000000001'],
  ],
  ['{"type":"integer"}', ['7615917337495251231', '1.0', '1e400'], ['9007199254740993.5', '0.99999999999999999999']],
  ['{"type":"object"}', ['{}'], ['7615917337495251231', '1.10']],
  ['{"type":"string"}', [], ['7615917337495251231']],
  ['{"format":"int32"}', ['1.0'], ['1.00000000000000000001', '7615917337495251231']],
  ['{"uniqueItems":true}', ['[9007199254740992,9007199254740993]'], ['[1,1.0]', '[{"a":7615917337495251231},{"a":7615917337495251231.0}]']],
  ['{"not":{"const":9007199254740993}}', ['9007199254740992'], ['9007199254740993']],
  ['{"maxLength":9223372036854775807,"minItems":0.0}', ['"a"', '[]'], []],
  ['{"minLength":9223372036854775807}', [], ['"a"']],
];

for (const [schema, fit, unfit] of CASES)
  test(`numbers are judged to the last digit: ${schema}`, async () => {
    for (const text of fit) assert.deepEqual(await keywords(schema, text), [], text);
    for (const text of unfit) assert.notDeepEqual(await keywords(schema, text), [], text);
  });

test('a number that is too long to be compared is a fault where it is compared, and no bound of a schema', async () => {
  const long = `1.${'3'.repeat(400)}`;
  assert.deepEqual(await keywords('{"properties":{"n":{"maximum":2}}}', `{"n":${long}}`), ['number']);
  assert.deepEqual(await keywords('{"not":{"maximum":2}}', long), ['number']);
  assert.deepEqual(await keywords('{"properties":{"n":{"maximum":2}}}', `{"m":${long}}`), []);
  for (const schema of [`{"maximum":${long}}`, '{"multipleOf":-7615917337495251231}', '{"minItems":7615917337495251231.5}'])
    await assert.rejects(outputSchema(parseExact(schema) as object), InvalidSchema, schema);
});

test('a text of many numbers with digits of their own is refused before it takes long', async () => {
  const { faults } = await outputSchema({ items: { multipleOf: 0.01, maximum: 100 } });
  const prices = (n: number) => `[${Array.from({ length: n }, (_, i) => `${i % 100}.10`).join()}]`;
  assert.deepEqual(faults(prices(2_000)), []);
  const [fault] = await neverBlocks(async () => faults(prices(40_000)));
  assert.deepEqual([fault?.keyword, fault?.path], ['work', '']);
  const hostile = Array.from({ length: 600 }, (_, i) => `0.${'1'.repeat(380)}${i}`).join();
  await neverBlocks(async () => assert.ok(faults(`[${hostile}]`).length > 0));
});
