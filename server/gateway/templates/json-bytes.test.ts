import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { atOnce } from '#server/kernel/slices.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { injectBody } from './body-inject.ts';
import { scanBody, scannable } from './body-scan.ts';
import { HOSTILE_BODIES } from './hostile-bodies.fixture.ts';
import { isJson, planOf } from './json-bytes.ts';

const MIB = 1024 * 1024;
const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const injected = (text: string, more: Record<string, unknown>) => {
  const made = atOnce(injectBody(Buffer.from(text), 'application/json', more));
  return 'body' in made ? made.body.toString() : made.code;
};

test('texts are objects here exactly when they are for JSON.parse', () => {
  const words = [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"a"',
    '"b"',
    '"',
    '\\',
    '\\u00e9',
    '\\x',
    '0',
    '-',
    '1',
    '.',
    'e',
    '+',
    'true',
    'null',
    ' ',
    '\n',
    'é',
    '\u0001',
  ];
  const near = fc.array(fc.constantFrom(...words), { maxLength: 14 }).map((list) => `{"k":${list.join('')}}`);
  const verdict = (text: string) => {
    try {
      return isPlain(JSON.parse(text));
    } catch {
      return false;
    }
  };
  const isText = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(
      fc.oneof(
        near,
        near.map((text) => text.slice(5, -1)),
        fc.json({ maxDepth: 4 }),
        fc.string().map((text) => JSON.stringify({ [text]: text })),
      ),
      (text) => {
        assert.equal(atOnce(isJson(Buffer.from(text), 64)), isText(text), text);
        // Names that stand twice in the outermost object are refused here on purpose; the generator's object has one name.
        if (text.split('"k"').length <= 2) assert.equal(atOnce(planOf(Buffer.from(text))) !== undefined, verdict(text), text);
      },
    ),
    { numRuns: 3_000 },
  );
});

test('the merged body means what merging the values means, and what nobody changed is byte for byte the caller’s', () => {
  const merge = (a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries([
      ...Object.entries(a),
      ...Object.entries(b).map(([name, value]) => [name, isPlain(a[name]) && isPlain(value) ? merge(a[name], value) : value]),
    ]);
  const key = fc.constantFrom('a', 'b', 'c', 'é"\\', '__proto__x');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  const object = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true });
  fc.assert(
    fc.property(object, object, fc.constantFrom(undefined, 1), (caller, more, space) => {
      const text = injected(JSON.stringify(caller, null, space), more as Record<string, unknown>);
      assert.deepEqual(JSON.parse(text), merge(caller, more as Record<string, unknown>));
    }),
    { numRuns: 2_000 },
  );
  assert.equal(
    injected(' {"n": 1.50e+10,\t"s":"\\u00e9", "a":1 } ', { a: 2, z: true }),
    ' {"n": 1.50e+10,\t"s":"\\u00e9", "a":2 ,"z":true} ',
  );
  assert.equal(injected('{}', { a: 1 }), '{"a":1}');
});

test('a body of as many members as may be is added to, and the refusal of one more says how many these are', () => {
  const bodyOf = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`;
  assert.match(injected(bodyOf(100_000), { z: 1 }), /"k99999":1,"z":1}$/);
  const over = atOnce(injectBody(Buffer.from(bodyOf(100_001)), 'application/json', { z: 1 }));
  assert.match('message' in over ? over.message : '', /more than 100,000 of them/);
});

test('a body that says something twice where we put something in is refused, so that nobody reads another of the two', () => {
  for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"o":{"x":1,"x":2}}'])
    assert.equal(injected(text, { o: { y: 1 } }), 'invalid_body', text);
});

test('every body is read in linear time, so that none holds up the calls of everybody else', async () => {
  for (const [what, { type, text }] of Object.entries(HOSTILE_BODIES)) {
    const kind = scannable(type);
    const bodyOf = (size: number) => Buffer.from(text(size));
    if (kind) await assertGrowsLinearly(what, MIB / 8, bodyOf, (body) => atOnce(scanBody(body, kind, type)));
    await assertGrowsLinearly(`${what}, added to`, MIB / 8, bodyOf, (body) => atOnce(injectBody(body, type, { b: 'x' })));
  }
});
