import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { outlineOf } from './openapi-outline.ts';
import { essenceOfYaml } from './openapi-outline-yaml.ts';

/** What an import reads of a text, by way of a parser that reads all of it. */
const readOf = (text: string): unknown => JSON.parse(outlineOf(JSON.stringify(parse(text, { logLevel: 'silent' }))) ?? 'null');
const same = (text: string) => {
  const essence = essenceOfYaml(text);
  assert.ok(essence !== undefined, text);
  assert.deepEqual(readOf(essence), readOf(text), text);
  return essence;
};

const written = `%HEAD%# paths: of a comment
openapi: 3.1.0   # the version
info:
  title: "Grand: \\"quoted\\""
  description: |
    get:
      security: []
    # not a comment
  x-logo: {url: x}
servers:
- url: https://{region}.example.com/v1
  variables: {region: {default: eu}}

security:
- bearer: []
tags:
  - name: paths
    description: >-
      folded

      paths:
        /no: {get: {}}
"paths":
  # the orders
  '/orders/{id}:cancel':
    parameters:
    - name: id
      description: 'it''s
        two lines'
    get:   # reads
      description: long
      security:
        - key: []
      responses:
        '200':
          description: security
    post: {security: [{bearer: []}], description: inline}
    x-other:
      get: {}
  /shared:
    $ref: '#/components/pathItems/shared'
  /empty:
  /trace:
    trace: {}
    delete:
      description: alone
components:
  schemas:
    Order:
      type: object
      properties:
        securitySchemes: {type: string}
  securitySchemes:
    bearer:
      type: http
      scheme: bearer
      description: |
        kept, with a
        - list
    key: &key {type: apiKey, in: query, name: k}
    other: *key
  pathItems:
    shared:
      delete:
        description: prose
`;

test('a description in YAML without its prose and models reads exactly as the whole one, however it is indented and quoted', () => {
  for (const text of [written, written.replaceAll('\n', '\r\n'), `\uFEFF\n# first\n---\n${written}`]) {
    const essence = same(text.replace('%HEAD%', ''));
    assert.doesNotMatch(essence, /schemas|prose|folded|two lines|Order/);
  }
});

test('whatever the prose holds and however a writer lays it out, nothing that an import reads is lost or taken from it', () => {
  const prose = fc.oneof(
    fc.string(),
    fc
      .array(
        fc.constantFrom(
          'paths:',
          '  /a:',
          '    get:',
          '- x',
          '# y',
          '',
          'servers: [{url: z}]',
          '"',
          "'",
          '*b',
          '&c',
          '|',
          '---',
          'openapi: 2',
        ),
      )
      .map((lines) => lines.join('\n')),
  );
  const security = fc.array(fc.dictionary(fc.constantFrom('a', 'b: c', '#d'), fc.constant([]), { maxKeys: 2 }), { maxLength: 2 });
  const operation = fc.record(
    { description: prose, security, parameters: fc.array(fc.record({ description: prose }), { maxLength: 2 }) },
    { requiredKeys: [] },
  );
  const item = fc.dictionary(fc.constantFrom('get', 'post', 'x-y', 'summary', '$ref', 'trace'), fc.oneof(operation, prose), { maxKeys: 3 });
  const document = fc.record(
    {
      openapi: fc.constantFrom('3.1.0', 3.1),
      info: fc.record({ title: prose, description: prose }),
      tags: fc.array(prose),
      servers: fc.array(fc.record({ description: prose, url: fc.webUrl() })),
      security,
      paths: fc.dictionary(fc.oneof(fc.constantFrom('/a', '/b:c', '/"d', "/e'", '- f', '? g', '#h', ' i '), fc.string()), item),
      components: fc.record({
        schemas: fc.dictionary(prose, item),
        securitySchemes: fc.dictionary(prose, item),
        pathItems: fc.dictionary(prose, item),
      }),
    },
    { requiredKeys: ['openapi'] },
  );
  const layout = fc.record({
    indent: fc.constantFrom(2, 3, 4),
    indentSeq: fc.boolean(),
    lineWidth: fc.constantFrom(0, 20, 80),
    blockQuote: fc.boolean(),
  });
  let read = 0;
  fc.assert(
    fc.property(document, layout, (value, options) => {
      const text = stringify(value, options);
      const essence = essenceOfYaml(text);
      // Keys that take more than a line leave the text as it is.
      if (essence === undefined) return;
      read++;
      assert.deepEqual(readOf(essence), readOf(text), text);
    }),
    { numRuns: 30 },
  );
  assert.ok(read > 15, `${read} of 30`);
});

test('what is written in another way is left as it is, and so is what would name an anchor that went with the prose', () => {
  for (const text of ['{openapi: 3.1.0}', '[]', '', 'just text', 'a: 1\n---\nb: 2', '- openapi: 3.1.0', '? x\n: y', '\topenapi: 3.1.0'])
    assert.equal(essenceOfYaml(text), undefined, text);
  assert.equal(essenceOfYaml('tags: &t [x]\nsecurity: *t\n'), undefined);
  assert.equal(essenceOfYaml('security: &t [x]\nservers: *t # *bold*\n'), 'security: &t [x]\nservers: *t # *bold*\n');
});

test('megabytes are shortened in linear time, hostile ones too', async () => {
  const path = (i: number) =>
    `  /orders/${i}:\n    get:\n      description: |\n${'        words and words\n'.repeat(60)}      security: []\n`;
  const described = (paths: number) => `openapi: 3.1.0\npaths:\n${Array.from({ length: paths }, (_, i) => path(i)).join('')}`;
  const large = described(3_000);
  const essence = essenceOfYaml(large);
  assert.ok(essence && essence.length < 160_000 && large.length > 2 ** 22, `${essence?.length} of ${large.length}`);
  await assertGrowsLinearly('paths', 1_000, described, essenceOfYaml);
  for (const text of [
    (size: number) => `a${' '.repeat(size)}`,
    (size: number) => `"${' '.repeat(size)}`,
    (size: number) => `paths:\n  a${' '.repeat(size)}b\n`,
    (size: number) => 'a: '.repeat(size / 3),
    (size: number) => `x: ${'*a &a '.repeat(size / 6)}`,
  ])
    await assertGrowsLinearly(text(20), 500_000, text, essenceOfYaml);
});
