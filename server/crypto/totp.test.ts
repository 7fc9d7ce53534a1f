import assert from 'node:assert/strict';
import test from 'node:test';
import { base32 } from './base32.ts';
import { randomBuffer } from './random.ts';
import { matchingStep, otpauthUri, totpCode, totpStep } from './totp.ts';

test('the codes of RFC 6238 appendix B', () => {
  const seed = Buffer.from('12345678901234567890');
  const vectors: [number, string][] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ];
  for (const [seconds, code] of vectors) assert.equal(totpCode(seed, totpStep(new Date(seconds * 1000)), 8), code);
});

test('the codes of RFC 4226 appendix D', () => {
  const seed = Buffer.from('12345678901234567890');
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((counter) => totpCode(seed, counter)),
    ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489'],
  );
});

/** base32 of it is JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP (interface rule 22 §5.2). */
const hello = Buffer.from('48656c6c6f21deadbeef48656c6c6f21deadbeef', 'hex');

test('the example of the interface', () => {
  assert.equal(base32(hello), 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
  const at = new Date(1767225600_000);
  assert.equal(totpStep(at), 58907520);
  assert.deepEqual([totpCode(hello, 58907520), totpCode(hello, 58907521)], ['452777', '978927']);
});

test('a code is good one step early and one late, and no step is accepted twice', () => {
  const at = new Date(1767225600_000);
  const step = totpStep(at);
  for (const near of [step - 1, step, step + 1]) assert.equal(matchingStep(hello, totpCode(hello, near), at, 0), near);
  for (const far of [step - 2, step + 2]) assert.equal(matchingStep(hello, totpCode(hello, far), at, 0), null);
  assert.equal(matchingStep(hello, totpCode(hello, step), at, step), null);
  assert.equal(matchingStep(hello, totpCode(hello, step - 1), at, step), null, 'an earlier step neither');
  assert.equal(matchingStep(hello, totpCode(hello, step + 1), at, step), step + 1);
  for (const text of ['', '45277', '4527777', '４５２７７７', 'abcdef']) assert.equal(matchingStep(hello, text, at, 0), null);
});

test('base32 writes any number of bytes as RFC 4648 §10 does, without padding', () => {
  const vectors: [string, string][] = [
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ];
  for (const [text, encoded] of vectors) assert.equal(base32(Buffer.from(text)), encoded);
  assert.equal(base32(randomBuffer(20)).length, 32);
});

test('the address for apps names the account and the issuer', () => {
  const uri = new URL(otpauthUri('ada+x@example.test', hello));
  assert.equal(decodeURIComponent(uri.pathname), '/Sallyport:ada+x@example.test');
  assert.deepEqual(Object.fromEntries(uri.searchParams), {
    secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    issuer: 'Sallyport',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
});
