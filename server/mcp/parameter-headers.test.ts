import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeHeaderValue, encodeHeaderValue } from './header-values.ts';
import { headerParameters, parameterHeaders, parameterMismatch } from './parameter-headers.ts';

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    nested: { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    rest: { type: 'string' },
  },
};

test('annotated arguments become headers, and headers are held against arguments', () => {
  const parameters = headerParameters(schema);
  assert.ok(parameters);
  const args = { region: 'Zürich', nested: { count: 42 }, dry: false, rest: 'x' };
  const list = parameterHeaders(parameters, args);
  assert.deepEqual(list, ['Mcp-Param-Region', '=?base64?WsO8cmljaA==?=', 'Mcp-Param-Count', '42', 'Mcp-Param-Dry', 'false']);
  const sent = new Map<string, string>();
  for (let i = 0; i < list.length; i += 2) sent.set((list[i] as string).toLowerCase(), list[i + 1] as string);
  const header = (name: string) => sent.get(name);
  assert.equal(parameterMismatch(parameters, args, header), undefined);
  assert.equal(
    parameterMismatch(parameters, { ...args, nested: {} }, header),
    undefined,
    'a header without an argument is nobody’s business',
  );
  sent.set('mcp-param-count', '42.0');
  assert.equal(parameterMismatch(parameters, args, header), undefined, 'integers are compared as numbers');
  sent.set('mcp-param-count', '43');
  assert.match(parameterMismatch(parameters, args, header) ?? '', /Mcp-Param-Count differs/);
  sent.delete('mcp-param-count');
  assert.match(parameterMismatch(parameters, args, header) ?? '', /Mcp-Param-Count is missing/);
});

test('an annotation that is not valid makes the tool unusable', () => {
  const of = (property: object, more: object = {}) => headerParameters({ type: 'object', properties: { a: property }, ...more });
  const annotated = { type: 'string', 'x-mcp-header': 'A' };
  assert.equal(of(annotated)?.length, 1);
  for (const name of ['', 'a b', 'a:b', 'a\r\nX: y', 3, 'é'])
    assert.equal(of({ type: 'string', 'x-mcp-header': name }), undefined, String(name));
  for (const type of ['number', 'object', 'array', undefined, ['string']]) assert.equal(of({ type, 'x-mcp-header': 'A' }), undefined);
  assert.equal(
    headerParameters({ type: 'object', properties: { a: annotated, b: { ...annotated, 'x-mcp-header': 'a' } } }),
    undefined,
    'twice',
  );
  assert.equal(of({ type: 'array', items: annotated }), undefined, 'not always in the same place');
  assert.equal(of({ oneOf: [annotated] }), undefined);
  assert.equal(of({ type: 'string' }, { $defs: { x: annotated } }), undefined);
  assert.equal(headerParameters({ type: 'object', 'x-mcp-header': 'Root' }), undefined);
});

test('header values come back as they were', () => {
  for (const text of [
    'plain',
    'two words',
    ' leading',
    'trailing ',
    '',
    'tab\there',
    'line\nbreak',
    'ünïcødé 🚀',
    '=?base64?YQ==?=',
    '=?base64?',
  ])
    assert.equal(decodeHeaderValue(encodeHeaderValue(text)), text, JSON.stringify(text));
  assert.match(encodeHeaderValue('a\r\nb'), /^[\x21-\x7e]+$/);
  for (const broken of ['=?base64?YQ?=', '=?base64?Y Q==?=', '=?base64?/w==?=', '=?base64?YR==?='])
    assert.equal(decodeHeaderValue(broken), undefined, broken);
});
