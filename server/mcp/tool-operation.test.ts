import assert from 'node:assert/strict';
import test from 'node:test';
import { ArgumentProblem, parameterHeaderProblem, type ToolOperation, toolRequest } from './tool-operation.ts';

const operation = (over: Partial<ToolOperation> = {}): ToolOperation => ({
  method: 'POST',
  path_template: '/v1/users/{id}/files/{file}.json',
  param_map: [
    { arg: 'id', in: 'path', name: 'id' },
    { arg: 'file', in: 'path', name: 'file' },
    { arg: 'q', in: 'query', name: 'filter[q]' },
    { arg: 'trace', in: 'header', name: 'X-Trace' },
    { arg: 'body', in: 'body', name: '' },
  ],
  body_mode: 'json',
  result: 'json',
  timeout_ms: 1_000,
  ...over,
});

test('arguments go where the map says', () => {
  assert.deepEqual(toolRequest(operation(), { id: 7, file: 'a b', q: ['x', 'y&z'], trace: 'abc', body: { text: 'ü' }, other: 'ignored' }), {
    method: 'POST',
    target: '/v1/users/7/files/a%20b.json?filter%5Bq%5D=x&filter%5Bq%5D=y%26z',
    headers: [
      ['x-trace', 'abc'],
      ['content-type', 'application/json'],
    ],
    body: '{"text":"ü"}',
  });
  const form = operation({
    path_template: '/x',
    body_mode: 'form',
    param_map: [
      { arg: 'a', in: 'body', name: 'a' },
      { arg: 'b', in: 'body', name: 'b' },
    ],
  });
  assert.equal(toolRequest(form, { a: '1&2', b: [1, 2] }).body, 'a=1%262&b=1&b=2');
});

test('an argument in the path never leaves its segment', () => {
  for (const id of [
    '..',
    '.',
    '',
    '%2e%2e',
    '../admin',
    '..%2fadmin',
    'a/../../b',
    '\\..\\',
    'a?x=1',
    'a#b',
    '\r\nHost: evil',
    '\u0000',
    '//evil.example',
  ]) {
    let target: string;
    try {
      target = toolRequest(operation(), { id, file: 'f' }).target;
    } catch (error) {
      assert.ok(error instanceof ArgumentProblem, JSON.stringify(id));
      continue;
    }
    const path = new URL(target, 'https://route.example').pathname;
    assert.match(path, /^\/v1\/users\/[^/]+\/files\/f\.json$/, JSON.stringify(id));
    assert.equal(path, target, 'nothing is left for a parser to rewrite');
  }
  const pair = operation({
    path_template: '/a/{x}{y}/b',
    param_map: [
      { arg: 'x', in: 'path', name: 'x' },
      { arg: 'y', in: 'path', name: 'y' },
    ],
  });
  assert.throws(() => toolRequest(pair, { x: '.', y: '.' }), ArgumentProblem);
  assert.throws(() => toolRequest(operation(), { file: 'f' }), ArgumentProblem);
  assert.throws(() => toolRequest(operation(), { id: { a: 1 }, file: 'f' }), ArgumentProblem);
  assert.throws(() => toolRequest(operation(), { id: '\ud800', file: 'f' }), ArgumentProblem);
});

test('a header argument can neither end early nor be a credential', () => {
  for (const trace of ['a\r\nX-Evil: 1', 'a\nb', '\u0000', 'ü', 'x'.repeat(5_000)])
    assert.throws(() => toolRequest(operation(), { id: 1, file: 'f', trace }), ArgumentProblem);
  for (const name of [
    'Authorization',
    'Cookie',
    'Host',
    'X-Api-Key',
    'X-Auth-Token',
    'Proxy-Authorization',
    'X-Svc-Environment',
    'Content-Length',
    'Transfer-Encoding',
    'X-Forwarded-For',
    'DPoP',
    'x\r\ny',
    '',
  ])
    assert.ok(parameterHeaderProblem(name), name);
  for (const name of ['X-Trace', 'Accept', 'Accept-Language', 'Idempotency-Key', 'If-Match', 'X-Workspace'])
    assert.equal(parameterHeaderProblem(name), undefined, name);
});
