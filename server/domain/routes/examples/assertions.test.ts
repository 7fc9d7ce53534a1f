import assert from 'node:assert/strict';
import test from 'node:test';
import { type Answer, type Assertion, judge } from './assertions.shared.ts';

const answer: Answer = {
  status: 200,
  total_ms: 120.4,
  headers: [{ name: 'Content-Type', value: 'application/json; charset=utf-8' }],
  body: '{"data":{"id":7,"tags":["a","b"],"name":"x","none":null}}',
  body_encoding: 'text',
  truncated: false,
};
const verdict = (assertion: Assertion, over: Partial<Answer> = {}) => judge(assertion, { ...answer, ...over }).verdict;

test('each kind of assertion holds when the answer has it and fails when it has not', () => {
  const pairs: [Assertion, Assertion][] = [
    [
      { kind: 'status', equals: 200 },
      { kind: 'status', equals: 201 },
    ],
    [
      { kind: 'time', at_most_ms: 121 },
      { kind: 'time', at_most_ms: 120 },
    ],
    [
      { kind: 'header', name: 'content-type', contains: 'JSON' },
      { kind: 'header', name: 'etag', contains: '' },
    ],
    [
      { kind: 'body', contains: '"tags"' },
      { kind: 'body', contains: 'tagz' },
    ],
    [
      { kind: 'json', path: 'data.id', equals: '7' },
      { kind: 'json', path: 'data.id', equals: '8' },
    ],
    [
      { kind: 'json', path: 'data.tags.1', equals: 'b' },
      { kind: 'json', path: 'data.tags.2', equals: 'b' },
    ],
    [
      { kind: 'json', path: 'data.none', equals: 'null' },
      { kind: 'json', path: 'data.none.deeper', equals: 'null' },
    ],
  ];
  for (const [holds, fails] of pairs) assert.deepEqual([verdict(holds), verdict(fails)], ['holds', 'fails'], JSON.stringify(holds));
});

test('what is not in the answer itself is not there: neither inherited names nor a body that is no JSON', () => {
  for (const path of ['constructor.name', '__proto__', 'data.tags.length.toString', 'toString'])
    assert.equal(verdict({ kind: 'json', path, equals: 'Object' }), 'fails', path);
  assert.equal(verdict({ kind: 'json', path: 'data', equals: '1' }, { body: '<html>' }), 'fails');
});

test('nothing is claimed about a body that was cut or cannot be read', () => {
  assert.equal(verdict({ kind: 'body', contains: 'later' }, { truncated: true }), 'unknown');
  assert.equal(verdict({ kind: 'body', contains: 'data' }, { truncated: true }), 'holds');
  assert.equal(verdict({ kind: 'json', path: 'data.id', equals: '7' }, { truncated: true }), 'unknown');
  for (const body_encoding of ['base64', 'withheld'])
    assert.equal(verdict({ kind: 'body', contains: 'data' }, { body_encoding }), 'unknown');
});

test('an answer of the largest size and any depth is judged', () => {
  const levels = (256 * 1024) / 2 - 10;
  const body = `{"data":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  assert.equal(verdict({ kind: 'json', path: 'data', equals: '[]' }, { body }), 'fails');
  assert.equal(verdict({ kind: 'json', path: 'data.0.0', equals: '[]' }, { body }), 'fails');
  assert.equal(verdict({ kind: 'json', path: 'data', equals: '1' }, { body: `{"data":[${'1,'.repeat(levels)}1]}` }), 'fails');
});
