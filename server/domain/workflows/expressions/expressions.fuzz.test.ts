import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { holds, parseCondition } from './condition.shared.ts';
import { FILTERS } from './filters.shared.ts';
import { newMeter, TooLarge } from './meter.shared.ts';
import { type Scope, SyntaxProblem } from './reference.shared.ts';
import { satisfies } from './rules.shared.ts';
import { evaluateText, evaluateValue, parseTemplate, Unresolved } from './template.shared.ts';

const runs = THOROUGH ? 50_000 : 3_000;
const data = { n: 7, text: 'abc', list: [1, { deep: 'x' }], empty: '', nothing: null, 'a b': true, constructor: 'mine' };
const scope: Scope = (node) => (node === 'trigger-node' ? data : node === 'none' ? undefined : { length: node.length });
const evaluate = (text: string) => evaluateText(text, { scope, hash: (given) => `#${given.length}`, meter: newMeter() });
const quiet = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    if (error instanceof SyntaxProblem || error instanceof Unresolved || error instanceof TooLarge) return undefined;
    throw error;
  }
};

test('a placeholder alone keeps its type, several become text, and what is missing is null', () => {
  assert.deepEqual(
    ['{{trigger.n}}', '{{ trigger.list }}', '{{trigger.list[1].deep}}', '{{trigger["a b"]}}', '{{none.x}}', '{{trigger.list.length}}'].map(
      evaluate,
    ),
    [7, data.list, 'x', true, null, 2],
  );
  assert.equal(evaluate('n={{trigger.n}}, {{trigger.list}} {{trigger.nothing}}|'), 'n=7, [1,{"deep":"x"}] |');
  assert.deepEqual(evaluateValue({ a: ['{{trigger.n}}', { b: '{{trigger.text}}!' }], c: 1 }, { scope, hash: String, meter: newMeter() }), {
    a: [7, { b: 'abc!' }],
    c: 1,
  });
});

test('filters do what they say', () => {
  for (const [text, value] of [
    ['{{none.x|default("d")}}', 'd'],
    ['{{trigger.empty|default(1)}}', ''],
    ['{{trigger.text|upper|lower|length}}', 3],
    ['{{trigger.list|first}}', 1],
    ['{{trigger.list|last|json}}', '{"deep":"x"}'],
    ['{{trigger.text|split("b")|join("-")}}', 'a-c'],
    ['{{trigger.text|base64}}', 'YWJj'],
    ['{{trigger.text|replace("b","é&")|urlencode}}', 'a%C3%A9%26c'],
    ['{{trigger.text|sha256}}', '#3'],
    ['{{trigger|keys|length}}', 7],
    ['{{trigger.text|number}}', null],
    ['{{trigger.n|string|number}}', 7],
    ['{{trigger.n|date("YYYY-MM-DD HH:mm:ss")}}', '1970-01-01 00:00:07'],
    ['{{none.x|default("2026-11-24T01:02:03+01:00")|date}}', '2026-11-24T00:02:03.000Z'],
  ] as const)
    assert.deepEqual(evaluate(text), value, text);
  assert.equal(Object.keys(FILTERS).length, 18);
});

test('nothing inherited can be reached', () => {
  const names = ['__proto__', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__', 'constructor'];
  for (const name of names)
    for (const path of [
      `trigger.text.${name}`,
      `trigger.list.${name}`,
      `trigger.n.${name}`,
      `trigger.list[0].${name}`,
      `trigger["${name}"].${name}`,
    ]) {
      const value = evaluate(`{{${path}}}`);
      assert.ok(value === null, `${path}: ${String(value)}`);
    }
  assert.equal(evaluate('{{trigger.constructor}}'), 'mine', 'a member of that name is a member');
  for (const name of names.slice(0, -1)) assert.equal(holds(parseCondition(`trigger.${name} === null`), scope, newMeter()), true);
});

test('conditions of the reference read as JavaScript does', () => {
  const sides = ['7', '-2.5', "'abc'", '"b"', 'true', 'false', 'trigger.n', 'trigger.text'];
  const side = fc.constantFrom(...sides);
  const simple = fc.oneof(
    fc
      .tuple(
        fc.constantFrom('trigger.n', '7', '-2.5'),
        fc.constantFrom('<', '>', '<=', '>=', '===', '!=='),
        fc.constantFrom('trigger.n', '7', '3'),
      )
      .map((parts) => parts.join(' ')),
    fc.tuple(side, fc.constantFrom('===', '!=='), side).map((parts) => parts.join(' ')),
    fc
      .tuple(fc.constantFrom('includes', 'startsWith', 'endsWith'), fc.constantFrom("'a'", '"bc"', '"x"'))
      .map(([method, argument]) => `trigger.text.${method}(${argument})`),
    side,
  );
  const { condition } = fc.letrec<{ condition: string }>((tie) => ({
    condition: fc.oneof(
      { maxDepth: 4 },
      simple,
      fc.tuple(tie('condition'), fc.constantFrom('&&', '||'), tie('condition')).map(([a, b, c]) => `(${a}) ${b} ${c}`),
      tie('condition').map((inner) => `!(${inner})`),
    ),
  }));
  const judge = (text: string) => Boolean(new Function('trigger', `return ${text}`)(data));
  fc.assert(
    fc.property(condition, (text) => {
      if (text.length > 1_000) return;
      assert.equal(holds(parseCondition(text), scope, newMeter()), judge(text), text);
    }),
    { numRuns: runs },
  );
});

test('whatever is written either has a value or a problem', () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    'trigger',
    '.',
    '[',
    ']',
    '|',
    '(',
    ')',
    "'",
    '"',
    '\\',
    'default',
    'join',
    'replace',
    'secret:',
    'secret_id:',
    '__proto__',
    '&&',
    '||',
    '!',
    '===',
    '<',
    '-',
    '1',
    'a',
    ' ',
    ',',
    '\n',
    '\0',
    'é',
  );
  const text = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.array(piece, { maxLength: 60 }).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, (written) => {
      quiet(() => evaluate(written));
      quiet(() => holds(parseCondition(written), scope, newMeter()));
    }),
    { numRuns: runs },
  );
});

test('hostile text is read in linear time', async () => {
  const shapes: [string, number, (size: number) => string][] = [
    ['placeholders that never close', 150_000, (size) => '{{a'.repeat(size / 3)],
    ['filters that never come', 200_000, (size) => '{{a|'.repeat(size / 4)],
    ['a long path', 100_000, (size) => `{{a${'.b'.repeat(size / 2)}}}`],
    ['backslashes', 100_000, (size) => `{{a|default("${'\\'.repeat(size)}")}}`],
    ['open brackets', 1_000, (size) => '('.repeat(size)],
    ['negations', 1_000, (size) => '!'.repeat(size)],
    ['conjunctions', 1_000, (size) => 'a&&'.repeat(size / 3)],
  ];
  for (const [what, largest, text] of shapes)
    await assertGrowsLinearly(what, largest, text, (hostile) => {
      quiet(() => evaluate(hostile));
      quiet(() => holds(parseCondition(hostile), scope, newMeter()));
    });
});

test('no value grows beyond 5 MiB', () => {
  const large: Scope = () => 'a'.repeat(1_000_000);
  for (const text of [
    '{{a.x}}{{a}}{{a}}{{a}}{{a}}{{a}}{{a}}',
    '{{a|replace("a","bbbbbbbbbb")}}',
    '{{a|json|json|replace("a","bb")|replace("b","cccc")}}',
  ])
    assert.throws(() => evaluateText(text, { scope: large, hash: String, meter: newMeter() }), TooLarge);
});

test('a secret is a part that evaluation only masks, whatever filters or quotes surround it', () => {
  assert.equal(evaluate('Bearer {{secret:API.TOKEN-1}}'), 'Bearer [secret:API.TOKEN-1]');
  assert.equal(evaluate('{{ secret_id:01A20AE2-e39f-7000-a19e-6509f649428c }}'), '[secret_id:01a20ae2-e39f-7000-a19e-6509f649428c]');
  for (const text of ['{{secret:X|upper}}', '{{secret:X|default("")}}', '{{secret:}}', '{{secret_id:x}}', '{{secret:X.y[0]}}'])
    assert.throws(() => parseTemplate(text), SyntaxProblem, text);
  assert.deepEqual(
    parseTemplate('{{secrets.a}}').map(({ kind }) => kind),
    ['reference'],
  );
});

test('operators of rules compare as JSON, and numbers with numeric texts', async () => {
  const matches = async (pattern: string, text: string) => new RegExp(pattern).test(text);
  for (const [left, operator, right, result] of [
    [5, 'equals', '5', true],
    ['5', 'equals', 5, true],
    ['5', 'equals', '5.0', false],
    [{ a: [1] }, 'equals', { a: [1] }, true],
    [null, 'equals', null, true],
    ['', 'equals', 0, false],
    [5, 'not_equals', 6, true],
    ['10', 'gt', 9, true],
    ['10', 'gt', '9', false],
    [undefined, 'gt', 1, false],
    [undefined, 'lte', 1, false],
    [3, 'gte', 3, true],
    [3, 'lt', 'x', false],
    ['abc', 'contains', 'b', true],
    [[1, 2], 'contains', 2, true],
    ['abc', 'not_contains', 'z', true],
    ['abc', 'starts_with', 'ab', true],
    ['abc', 'ends_with', 'bc', true],
    [5, 'starts_with', '5', false],
    [0, 'exists', null, true],
    [null, 'exists', null, false],
    [undefined, 'not_exists', null, true],
    [[], 'is_empty', null, true],
    [0, 'is_empty', null, false],
    ['a-1', 'matches', '^a', true],
    [2, 'in', [1, 2], true],
    ['b', 'in', 'a, b', true],
    [2, 'in', '1,2', true],
    ['x', 'in', [], false],
  ] as const)
    assert.equal(
      await satisfies(left, operator, right, { matches, meter: newMeter() }),
      result,
      `${JSON.stringify(left)} ${operator} ${JSON.stringify(right)}`,
    );
});
