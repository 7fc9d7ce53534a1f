import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import test from 'node:test';
import { type AwsRequest, signAwsRequest } from './aws-sigv4.ts';

// The test suite that AWS publishes, typed in.
const credentials = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const at = new Date('2015-08-30T12:36:00Z');
const scope = { region: 'us-east-1', service: 'service' };
const get: AwsRequest = { method: 'GET', target: '/', host: 'example.amazonaws.com', headers: [], body: Buffer.alloc(0) };

const signatureOf = (headers: readonly string[]) => /Signature=([0-9a-f]{64})$/.exec(headers.at(-1) ?? '')?.[1];

test('get-vanilla: the canonical request, the signature and the header are those that AWS publishes', () => {
  const signed = signAwsRequest(get, scope, credentials, at);
  assert.equal(hash('sha256', signed.canonical), 'bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63');
  assert.deepEqual(signed.headers, [
    'X-Amz-Date',
    '20150830T123600Z',
    'Authorization',
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ]);
});

test('the other published vectors: order of parameters, unreserved characters, post', () => {
  const cases: [string, Partial<AwsRequest>, string][] = [
    [
      'get-vanilla-query-order-key-case',
      { target: '/?Param2=value2&Param1=value1' },
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    ['get-vanilla-empty-query-key', { target: '/?Param1=value1' }, 'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb'],
    [
      'get-vanilla-query-unreserved',
      {
        target:
          '/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
      },
      '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
    ],
    ['post-vanilla', { method: 'POST' }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'post-vanilla-query',
      { method: 'POST', target: '/?Param1=value1' },
      '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
    ],
    [
      'post-x-www-form-urlencoded',
      { method: 'POST', headers: ['Content-Type', 'application/x-www-form-urlencoded'], body: Buffer.from('Param1=value1') },
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
    ['normalize-path get-slashes', { target: '//example//' }, '9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84'],
  ];
  for (const [name, request, expected] of cases) {
    const found = signatureOf(signAwsRequest({ ...get, ...request }, scope, credentials, at).headers);
    assert.equal(found, expected, name);
  }
});

test('S3 gets the digest of the body in a header of its own', () => {
  const signed = signAwsRequest(
    { method: 'GET', target: '/test.txt', host: 'examplebucket.s3.amazonaws.com', headers: [], body: Buffer.alloc(0) },
    { region: 'us-east-1', service: 's3' },
    { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    new Date('2013-05-24T00:00:00Z'),
  );
  assert.deepEqual(signed.headers.slice(0, 4), [
    'X-Amz-Date',
    '20130524T000000Z',
    'X-Amz-Content-Sha256',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  ]);
});

test('a session token is sent and signed; names of its own that the caller or the route sets are not', () => {
  const request = {
    ...get,
    headers: ['X-Amz-Date', 'old', 'X-AMZ-Target', ' a   b ', 'x-amz-target', 'c', 'Date', 'x', 'User-Agent', 'y'],
  };
  const { headers, canonical } = signAwsRequest(request, scope, { ...credentials, session_token: 'TOKEN' }, at);
  assert.deepEqual(headers.slice(0, 4), ['X-Amz-Date', '20150830T123600Z', 'X-Amz-Security-Token', 'TOKEN']);
  assert.deepEqual(canonical.split('\n').slice(3, -2), [
    'host:example.amazonaws.com',
    'x-amz-date:20150830T123600Z',
    'x-amz-security-token:TOKEN',
    'x-amz-target:a b,c',
    '',
  ]);
});

test('a body that streams is not signed', () => {
  const { canonical, headers } = signAwsRequest(
    { ...get, method: 'PUT', body: null },
    { region: 'eu-west-1', service: 's3' },
    credentials,
    at,
  );
  assert.ok(canonical.endsWith('\nUNSIGNED-PAYLOAD'));
  assert.equal(headers[headers.indexOf('X-Amz-Content-Sha256') + 1], 'UNSIGNED-PAYLOAD');
});

test('a plus sign in the query is sent as the space that is signed', () => {
  const { target, canonical } = signAwsRequest({ ...get, target: '/?q=a+b&z=%2B&bad=%zz' }, scope, credentials, at);
  assert.equal(target, '/?q=a%20b&z=%2B&bad=%zz');
  assert.equal(canonical.split('\n')[2], 'bad=%25zz&q=a%20b&z=%2B');
});
