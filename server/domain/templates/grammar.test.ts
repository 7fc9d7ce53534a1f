import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { CONTEXT_NAMES, listReferences, type Part, parseTemplate, printTemplate } from './grammar.ts';

const id = '7b0e3c52-0f6b-4b4e-9d3a-0a1b2c3d4e5f';
const parts = (text: string, options?: { context?: boolean }) => {
  const parsed = parseTemplate(text, options);
  assert.ok(parsed.ok, text);
  return parsed.template;
};

test('every kind is recognised, blanks inside the braces included', () => {
  assert.deepEqual(parts(`a{{ secret : A.b-c_1 }}b{{secret_id:\t${id.toUpperCase()}}}{{var:region}}{{ var: shared-eu.ver }}c`), [
    { kind: 'literal', text: 'a' },
    { kind: 'secret', name: 'A.b-c_1' },
    { kind: 'literal', text: 'b' },
    { kind: 'secret_id', id },
    { kind: 'var', collection: null, key: 'region' },
    { kind: 'var', collection: 'shared-eu', key: 'ver' },
    { kind: 'literal', text: 'c' },
  ]);
});

test('context names are placeholders in configuration and plain text in a caller body', () => {
  for (const name of CONTEXT_NAMES) assert.deepEqual(parts(`{{ ${name} }}`), [{ kind: 'context', name, parameter: '' }]);
  assert.deepEqual(parts('{{vars.page[size]}}'), [{ kind: 'context', name: 'vars', parameter: 'page[size]' }]);
  assert.deepEqual(parts('{{environment}} {{vars.x}}', { context: false }), [{ kind: 'literal', text: '{{environment}} {{vars.x}}' }]);
});

test('text that is none of the kinds survives untouched', () => {
  const texts = [
    '',
    '{{',
    '}}',
    '{{}}',
    '{{name}}',
    '{{#if secret}}x{{/if}}',
    '{{secret}}',
    '{{Secret:X}}',
    '{{secretive:X}}',
    '{ {secret:X}}',
    '{{\nsecret:X}}',
    '{{vars.}}',
    '{{route.names}}',
    '{{environment',
    '{{{}}}',
  ];
  for (const text of texts) assert.deepEqual(parts(text), text ? [{ kind: 'literal', text }] : [], text);
});

test('a known kind with a bad argument is an error, never text', () => {
  const bad = [
    '{{secret:}}',
    '{{secret:a b}}',
    '{{secret:é}}',
    '{{secret_id:nope}}',
    `{{secret_id:${id}0}}`,
    '{{var:a.b.c}}',
    '{{var:.k}}',
    '{{var:k-1}}',
    '{{secret:X',
    '{{secret:X}',
    `{{secret:${'x'.repeat(129)}}}`,
    '{{secret:{{secret:X}}}}',
    '{{var:a\nb}}',
    '{{{{secret:}}',
  ];
  for (const text of bad) assert.equal(parseTemplate(`before ${text}`).ok, false, text);
  const parsed = parseTemplate(`{{secret:${'x y'.repeat(500)}}}`);
  assert.ok(!parsed.ok && parsed.message.length < 120);
});

test('a brace before the opening belongs to the text, not to the placeholder', () => {
  assert.deepEqual(parts('{{{secret:X}}}'), [
    { kind: 'literal', text: '{' },
    { kind: 'secret', name: 'X' },
    { kind: 'literal', text: '}' },
  ]);
  assert.deepEqual(parts('{{ {{secret:X}}').at(-1), { kind: 'secret', name: 'X' });
});

const word = fc.stringMatching(/^[A-Za-z0-9_]{1,20}$/);
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.string({ minLength: 1 }).map((text): Part => ({ kind: 'literal', text: text.replaceAll(/[{}]/g, '#') })),
  word.map((name): Part => ({ kind: 'secret', name })),
  fc.uuid().map((uuid): Part => ({ kind: 'secret_id', id: uuid })),
  fc.tuple(fc.option(word), word).map(([collection, key]): Part => ({ kind: 'var', collection, key })),
  fc.constantFrom(...CONTEXT_NAMES).map((name): Part => ({ kind: 'context', name, parameter: '' })),
  word.map((parameter): Part => ({ kind: 'context', name: 'vars', parameter })),
);
/** Two literals in a row print as one. */
const joined = (list: Part[]) =>
  list.reduce<Part[]>((done, next) => {
    const last = done.at(-1);
    if (last?.kind === 'literal' && next.kind === 'literal') done[done.length - 1] = { kind: 'literal', text: last.text + next.text };
    else done.push(next);
    return done;
  }, []);

test('parsing what was printed gives the same parts', () => {
  fc.assert(fc.property(fc.array(part, { maxLength: 12 }).map(joined), (list) => assert.deepEqual(parts(printTemplate(list)), list)));
});

test('any text is either refused or printed back without loss of its literal text', () => {
  const noisy = fc
    .array(fc.constantFrom('{', '{{', '}}', '}', 'secret', ':', 'X', ' ', 'var', '.', 'environment', 'é', id, 'secret_id'))
    .map((a) => a.join(''));
  fc.assert(
    fc.property(noisy, (text) => {
      const parsed = parseTemplate(text);
      if (!parsed.ok) return;
      assert.deepEqual(parts(printTemplate(parsed.template)), parsed.template);
      if (listReferences(parsed.template).length === 0) assert.equal(printTemplate(parsed.template), text);
    }),
    { numRuns: 2000 },
  );
});

test('a hostile text is parsed in linear time', async () => {
  for (const unit of ['{{', '{{secret', '{{ '.padEnd(40), '{{vars.', '{{a.'])
    await assertGrowsLinearly(
      unit,
      200_000,
      (size) => unit.repeat(size / unit.length),
      (text) => parseTemplate(text),
    );
});

test('megabytes of blanks, braces and half placeholders from a caller are taken apart in linear time', async () => {
  const shapes: [string, (n: number) => string][] = [
    ['blanks in a placeholder', (n) => `{{secret:x${' '.repeat(n)}y}}`],
    ['blanks without an end', (n) => `{{${' '.repeat(n)}`],
    ['open braces', (n) => '{{'.repeat(n)],
    ['a long name', (n) => `{{${'a'.repeat(n)}`],
    ['tabs', (n) => `{{secret${'\t'.repeat(n)}`],
    ['half closed placeholders', (n) => '{{environment }'.repeat(n / 10)],
  ];
  for (const [what, text] of shapes) await assertGrowsLinearly(what, 1_000_000, text, (given) => parseTemplate(given, { context: false }));
});
