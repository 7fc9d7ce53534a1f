import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { concatHead, type SignedCall, v1Message } from './canonical.ts';
import { type HttpMessage, readHttpSignature, signatureBase } from './http-message.ts';

/** Whatever a request line or a header can hold: no line feed, and few characters, so that two calls are often nearly the same. */
const text = (maxLength = 6) => fc.string({ unit: fc.constantFrom(...'ab/?v1:|\r "'), maxLength });
const call = fc.record({
  timestamp: fc.constantFrom('1767225600', '1767225601'),
  nonce: text(),
  host: fc.constantFrom('a.example', 'b.example'),
  reference: text(),
  environment: text(),
  method: fc.constantFrom('GET', 'POST'),
  path: text().map((path) => `/${path}`),
  query: text(),
  body: text().map((body) => Buffer.from(body)),
});
const signed = ({ body, ...one }: SignedCall & { body: Buffer }) => v1Message(one, body).toString('latin1');

test('two different calls never have the same string to sign', () => {
  fc.assert(
    fc.property(call, call, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      assert.equal(signed(one) === signed(other), same);
    }),
    { numRuns: 5_000 },
  );
  // Nor does moving text from one line to the next make the same string.
  fc.assert(
    fc.property(call, text(), (one, moved) => {
      const order = ['nonce', 'reference', 'environment', 'path', 'query'] as const;
      for (let i = 0; i + 1 < order.length; i++) {
        const [from, to] = [order[i] as 'nonce', order[i + 1] as 'reference'];
        const left = { ...one, [from]: `${one[from]}${moved}` };
        const right = { ...one, [to]: `${moved}${one[to]}` };
        assert.equal(signed(left) === signed(right), moved === '');
      }
    }),
    { numRuns: 500 },
  );
});

test('what is the same to a server is the same when signed: case and port of the host, case of the method, no path', () => {
  const one = {
    timestamp: '1767225600',
    nonce: '',
    host: 'a.example',
    reference: 'r',
    environment: '',
    method: 'GET',
    path: '/',
    query: null,
  };
  const body = Buffer.alloc(0);
  for (const change of [{ host: 'A.Example:8443' }, { method: 'get' }, { path: '' }, { query: '' }])
    assert.equal(signed({ ...one, ...change, body }), signed({ ...one, body }));
  assert.equal(signed({ ...one, host: '[::1]:80', body }).split('\n')[3], '[::1]');
});

test('a text of one scheme is never a text of another', () => {
  fc.assert(
    fc.property(call, (one) => {
      assert.equal(signed(one).slice(0, 3), 'v1\n');
      assert.match(concatHead(one).toString('latin1'), /^\d{10}/);
    }),
    { numRuns: 200 },
  );
});

test('two different messages never have the same signature base (RFC 9421)', () => {
  const found = readHttpSignature('s=("@method" "@authority" "@target-uri" "x-a" "x-b");created=1', 's=:AA==:', 's');
  assert.ok(typeof found !== 'string');
  const value = text().map((one) => one.replaceAll('\r', '').trim());
  const message = fc.record({
    method: fc.constantFrom('GET', 'POST'),
    host: fc.constantFrom('a', 'b'),
    target: text().map((one) => `/${one}`),
    a: value,
    b: value,
  });
  const base = ({ a, b, ...one }: { method: string; host: string; target: string; a: string; b: string }) => {
    const of: HttpMessage = { ...one, scheme: 'https', fields: (name) => [name === 'x-a' ? a : b] };
    return signatureBase(of, found).toString();
  };
  fc.assert(
    fc.property(message, message, (one, other) => assert.equal(base(one) === base(other), JSON.stringify(one) === JSON.stringify(other))),
    { numRuns: 5_000 },
  );
});
