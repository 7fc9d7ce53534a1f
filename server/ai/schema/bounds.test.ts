import assert from 'node:assert/strict';
import test from 'node:test';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { outputSchema } from './output-schema.ts';
import { InvalidSchema } from './shape.ts';

const range = <T>(n: number, one: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => one(i));
const named = (n: number, one: (i: number) => unknown, name = 'a') => Object.fromEntries(range(n, (i) => [`${name}${i}`, one(i)]));
const chain = (n: number, one: (next: object) => unknown) => ({
  $ref: '#/$defs/d0',
  $defs: { ...named(n, (i) => one({ $ref: `#/$defs/d${i + 1}` }), 'd'), [`d${n}`]: { type: 'integer' } },
});
const nested = (levels: number, inside: string) => `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`;

const TOO_MUCH: Record<string, { schema: object; says: RegExp }> = {
  'a hundred thousand keywords': { schema: named(100_000, () => 1), says: /more than 10,000 values/ },
  'a hundred thousand allowed values': { schema: { enum: range(100_000, (i) => i) }, says: /more than 10,000 values/ },
  'a thousand levels': { schema: JSON.parse(`${'{"not":'.repeat(1_000)}{}${'}'.repeat(1_000)}`), says: /at most 64 levels deep/ },
  'definitions that double': { schema: chain(40, (next) => ({ allOf: [next, next] })), says: /held against more than 100,000 schemas/ },
  'a long way of references': { schema: chain(1_500, (next) => next), says: /a way through its references is longer than 300/ },
  'many references': {
    schema: { allOf: range(2_001, () => ({ $ref: '#/$defs/a' })), $defs: { a: true } },
    says: /more than 2,000 references/,
  },
  'a reference to itself': { schema: { allOf: [{ $ref: '#' }] }, says: /never ends/ },
  'a way around to itself': {
    schema: { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { anyOf: [{ not: { $ref: '#/$defs/a' } }] } } },
    says: /never ends/,
  },
  'many patterns': { schema: { patternProperties: named(101, () => true) }, says: /more than 100 patterns/ },
  'a pattern of 200,000 instructions': {
    schema: { properties: { x: { pattern: '(a?){1000}'.repeat(50) } } },
    says: /\/properties\/x\/pattern is too large/,
  },
  'a pattern of 20,000 characters': { schema: { pattern: `[${'ab'.repeat(10_000)}]` }, says: /\/pattern is longer than 10,000 characters/ },
  'wide ranges without case': { schema: { pattern: `(?i)${'[a-\u{10ffff}]'.repeat(160)}` }, says: /\/pattern takes too long to compile/ },
  'wide ranges by their numbers': { schema: { pattern: `(?i)${'[a-\\x{10FFFF}]'.repeat(160)}` }, says: /takes too long to compile/ },
  'hundreds of Unicode classes': { schema: { pattern: `(?i)[${'\\pL'.repeat(330)}]` }, says: /takes too long to compile/ },
  'nested repetitions': { schema: { pattern: '((((a{10}){10}){10}){10}){10}' }, says: /too large/ },
};

for (const [what, { schema, says }] of Object.entries(TOO_MUCH))
  test(`a schema is refused before anything of it runs: ${what}`, async () => {
    const error = await neverBlocks(() => outputSchema(schema).then(undefined, (reason: unknown) => reason));
    assert.ok(error instanceof InvalidSchema, String(error));
    assert.match(error.message, says);
  });

/** The largest that is accepted of each kind, each with the answer that takes the most work. */
const LARGEST: Record<string, { schema: object; text: string }> = {
  'a thousand branches to itself': {
    schema: { oneOf: range(1_000, () => ({ type: 'array', items: { $ref: '#' } })) },
    text: nested(60, '1'),
  },
  'branches at every level': {
    schema: { $defs: { n: { type: 'array', items: { anyOf: range(3, () => ({ $ref: '#/$defs/n' })) } } }, $ref: '#/$defs/n' },
    text: nested(60, '1'),
  },
  'unique items at every level': {
    schema: { type: 'array', uniqueItems: true, items: { $ref: '#' } },
    text: nested(200, range(60_000, String).join()),
  },
  'a hundred patterned properties': {
    schema: { patternProperties: Object.fromEntries(range(100, (i) => [`(a|b)*a(a|b){9}${i}`, {}])) },
    text: JSON.stringify(named(8_000, () => 1, 'ababab')),
  },
  'a pattern whose states are all new': {
    schema: { items: { pattern: '(a|b)*a(a|b){300}[cd]' } },
    text: JSON.stringify(range(2_000, (k) => range(100, (i) => 'ab'[((k * 7919 + i * 104_729) >> 3) & 1]).join(''))),
  },
  'thousands of dependent schemas': {
    schema: { dependentSchemas: named(3_000, () => ({ minProperties: 1 })) },
    text: JSON.stringify(named(20_000, () => 1)),
  },
  'a thousand conditions for each item': {
    schema: { items: { allOf: range(900, (i) => ({ if: { required: [`a${i}`] }, else: { required: [`b${i}`] } })) } },
    text: JSON.stringify(range(20_000, () => ({ z: 1 }))),
  },
  'unevaluated properties under many schemas': {
    schema: { allOf: range(2_000, (i) => ({ properties: { [`a${i}`]: true } })), unevaluatedProperties: false },
    text: JSON.stringify(named(10_000, () => 1)),
  },
  'long constants for each item': {
    schema: { items: { enum: range(8, () => range(1_000, (i) => i)) } },
    text: JSON.stringify(range(60, () => range(1_000, (i) => (i === 999 ? 0 : i)))),
  },
  'an address of 8,000 characters': {
    schema: { items: { format: 'url' } },
    text: JSON.stringify(range(30, () => `http://a${':1'.repeat(4_000)}`)),
  },
  'the most items': { schema: { items: { type: 'integer', minimum: 0 } }, text: `[${'1,'.repeat(130_000)}1]` },
};

for (const [what, { schema, text }] of Object.entries(LARGEST))
  test(`a check ends at its bound: ${what}`, async () => {
    const faults = await neverBlocks(async () => (await outputSchema(schema)).faults(text));
    assert.ok(faults.length <= 5);
    for (const { path, keyword } of faults) if (keyword === 'work') assert.equal(path, '');
  });

test('an answer as large as one may be passes a schema of the usual kind', async () => {
  const item = { type: 'object', required: ['id'], properties: { id: { type: 'integer' }, name: { type: 'string', maxLength: 40 } } };
  const { faults } = await outputSchema({ type: 'array', items: { ...item, additionalProperties: false } });
  const text = JSON.stringify(range(8_000, (id) => ({ id, name: `member ${id}` })));
  assert.ok(text.length > 230_000);
  assert.deepEqual(faults(text), []);
});

test('a long list of words is one pattern, and a class may be long', async () => {
  const words = range(220, (i) => `SKU${1_000 + i}`);
  const { faults } = await neverBlocks(() => outputSchema({ pattern: `^(${words.join('|')})$` }));
  assert.deepEqual([faults('"SKU1219"').length, faults('"SKU1220"').map(({ keyword }) => keyword)], [0, ['pattern']]);
  await outputSchema({ pattern: `(?i)^[${range(2_000, (i) => String.fromCodePoint(0x4e00 + i)).join('')}à-ü]+$` });
  await outputSchema({ pattern: '^[\\p{L}\\p{M}\\p{N} ._-]{1,80}$' });
});
