import assert from 'node:assert/strict';
import test from 'node:test';
import { requestHead } from './request-head.ts';

const base = { method: 'GET', path: '/a?b=c', headers: ['Host', 'api.example.com'] };

test('the framing says what the body is: nothing, its length, or chunks', () => {
  const source = { start() {}, resume() {} };
  assert.equal(requestHead(base), 'GET /a?b=c HTTP/1.1\r\nHost: api.example.com\r\n\r\n');
  assert.match(requestHead({ ...base, method: 'POST' }), /\r\nContent-Length: 0\r\n\r\n$/);
  assert.match(requestHead({ ...base, method: 'DELETE', body: Buffer.from('xy') }), /\r\nContent-Length: 2\r\n\r\n$/);
  assert.match(requestHead({ ...base, method: 'PUT', body: { source, length: 9 } }), /\r\nContent-Length: 9\r\n\r\n$/);
  assert.match(requestHead({ ...base, method: 'PUT', body: { source, length: null } }), /\r\nTransfer-Encoding: chunked\r\n\r\n$/);
});

test('nothing that a tenant or a caller says becomes a line of its own', () => {
  const bad: Partial<typeof base>[] = [
    { method: 'GET / HTTP/1.1\r\nX: y' },
    { method: 'get' },
    { path: '/a b' },
    { path: '/a\r\nX: y' },
    { path: '' },
    { headers: ['X', 'a\r\nY: b'] },
    { headers: ['X', 'a\nY: b'] },
    { headers: ['X', 'a\0'] },
    { headers: ['X', 'a\u0100'] },
    { headers: ['X: y\r\nZ', 'a'] },
    { headers: ['X ', 'a'] },
    { headers: ['', 'a'] },
  ];
  for (const one of bad) assert.throws(() => requestHead({ ...base, ...one }), { type: 'internal_error' }, JSON.stringify(one));
});
