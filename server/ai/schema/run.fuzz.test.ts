import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import fc from 'fast-check';
import { THOROUGH } from '#server/testing/thorough.ts';
import { FORMATS } from './formats.ts';
import { preparedSchema } from './prepared.ts';
import { faultsOf } from './run.ts';
import { InvalidSchema } from './shape.ts';

// biome-ignore lint/suspicious/noExplicitAny: the package's types describe its CommonJS form
const addFormats: (ajv: Ajv2020, options: object) => void = (addFormatsModule as any).default ?? addFormatsModule;

const NAMES = ['a', 'b', 'ab', 'é'] as const;
const name = fc.constantFrom(...NAMES);
const scalar = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1, 1.5, -2, 1_000, '', 'a', 'ab', '😀', 'a@b.co', '2024-01-31'),
  fc.integer({ min: -3, max: 5 }),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const count = fc.integer({ min: 0, max: 4 });
const number = fc.constantFrom(-1, 0, 0.5, 1, 2, 3);
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const child = tie('schema');
  const children = fc.array(child, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(name, child, { maxKeys: 3, noNullPrototype: true });
  const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null');
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.boolean(),
      fc
        .array(
          fc.oneof(
            ...Object.entries({
              ...{ type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })), const: value },
              enum: fc.uniqueArray(value, { minLength: 1, maxLength: 4, comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b) }),
              ...{ minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number },
              ...{ multipleOf: fc.constantFrom(0.5, 1, 2), minLength: count, maxLength: count },
              ...{ pattern: fc.constantFrom('^a', 'b$', '^[ab]+$', ''), format: fc.constantFrom('email', 'date', 'int32', 'unknown') },
              ...{ minItems: count, maxItems: count, uniqueItems: fc.boolean(), items: child },
              contains: child,
              ...{ minContains: count, maxContains: count },
              ...{ required: fc.uniqueArray(name), minProperties: count, maxProperties: count },
              dependentRequired: fc.dictionary(name, fc.uniqueArray(name), { maxKeys: 2, noNullPrototype: true }),
              ...{ properties: named, additionalProperties: child, propertyNames: child },
              patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), child, { noNullPrototype: true }),
              ...{ allOf: children, anyOf: children, oneOf: children, not: child, dependentSchemas: named },
              ...Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, child])),
              $ref: fc.constantFrom('#/$defs/one', '#/$defs/two'),
              nullable: fc.constant(true),
            }).map(([keyword, given]) => given.map((one: unknown) => [keyword, one])),
          ),
          { minLength: 1, maxLength: 4 },
        )
        .map((keywords) => Object.fromEntries(keywords))
        // Ajv refuses it without a type.
        .map(({ nullable, ...others }) => (nullable === undefined || others.type === undefined ? others : { ...others, nullable })),
    ),
  };
});

test('a value fits for us when it fits for Ajv', async () => {
  const ajv = new Ajv2020({ strict: false, logger: false, addUsedSchema: false, ownProperties: true });
  addFormats(ajv, { mode: 'fast' });
  let [compared, unfit, failed] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(schema, schema, schema, fc.array(value, { minLength: 1, maxLength: 6 }), async (one, two, root, values) => {
      const given = { $defs: { one, two }, ...(typeof root === 'object' ? root : { allOf: [root] }) };
      const ready = await preparedSchema(given, { strict: true, formats: FORMATS }).catch((error: unknown) => {
        if (error instanceof InvalidSchema) return undefined;
        throw error;
      });
      if (!ready) return;
      const theirs = ajv.compile(given);
      for (const some of values) {
        const expected = told(theirs, some);
        if (expected === undefined) failed++;
        if (expected === undefined) continue;
        compared++;
        if (!expected) unfit++;
        assert.equal(faultsOf(ready, some).length === 0, expected, `${JSON.stringify(given)}\n${JSON.stringify(some)}`);
      }
    }),
    {
      numRuns: THOROUGH ? 50_000 : 1_500,
      // Ajv's own code for the second reads a variable that it never made.
      examples: [
        [true, true, { type: 'string' }, ['a']],
        [true, true, { oneOf: [{ allOf: [{ dependentSchemas: { a: { items: false } } }, false] }, true] }, [[null]]],
      ],
    },
  );
  assert.ok(failed < compared / 50, `Ajv failed on ${failed}, of which ours was judged on ${compared}`);
  assert.ok(unfit > compared / 20 && compared - unfit > compared / 20, `${unfit} of ${compared} did not fit`);
});

test('nullable adds null to a type, and to nothing else', async () => {
  const faults = async (given: object, value: unknown) =>
    faultsOf(await preparedSchema(given, { strict: true, formats: FORMATS }), value).map(({ keyword }) => keyword);
  assert.deepEqual(await faults({ type: 'string', nullable: true }, null), []);
  assert.deepEqual(await faults({ type: ['string', 'number'], nullable: true }, null), []);
  assert.deepEqual(await faults({ type: 'string', nullable: true }, 1), ['type']);
  assert.deepEqual(await faults({ type: 'string', nullable: false }, null), ['type']);
  assert.deepEqual(await faults({ type: 'string', nullable: true, enum: ['a'] }, null), ['enum']);
});

/** What Ajv says, or nothing when the code that it made throws. */
function told(validate: (value: unknown) => unknown, value: unknown): boolean | undefined {
  try {
    return validate(value) as boolean;
  } catch {
    return undefined;
  }
}

const vectors = path.join(process.env.VECTORS_DIR ?? '', 'draft2020-12');
const skip = process.env.VECTORS_DIR && fs.existsSync(vectors) ? false : 'no tests/draft2020-12 of JSON-Schema-Test-Suite in VECTORS_DIR';

test('the cases of JSON-Schema-Test-Suite that need one schema only', { skip }, async () => {
  let cases = 0;
  for (const file of fs.readdirSync(vectors).filter((one) => one.endsWith('.json')))
    for (const { schema: given, tests, description } of JSON.parse(fs.readFileSync(path.join(vectors, file), 'utf8'))) {
      // Needs a dialect of its own; needs properties of Unicode that RE2 doesn't name.
      if (/custom metaschema|Unicode property escape/.test(description)) continue;
      const ready = await preparedSchema(given, { strict: false, formats: new Map() }).catch((error: unknown) => {
        assert.match(String(error), /must begin with #|only the whole schema has an address/, description);
        return undefined;
      });
      if (!ready) continue;
      for (const { data, valid, description: about } of tests) {
        cases++;
        assert.equal(faultsOf(ready, data).length === 0, valid, `${file}: ${description}: ${about}`);
      }
    }
  assert.ok(cases > 1_000);
});
