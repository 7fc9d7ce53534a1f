import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { digestMatches, type HttpMessage, readHttpSignature, signatureBase } from './http-message.ts';
import { anyEquals, ed25519Key, ed25519Verifies, hmacOf } from './verify.ts';

// RFC 9421 Appendix B.2: the test request, and what is signed of it.
const BODY = Buffer.from('{"hello": "world"}');
const DIGEST = 'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:';
const HEADERS: Record<string, string> = {
  host: 'example.com',
  date: 'Tue, 20 Apr 2021 02:07:55 GMT',
  'content-type': 'application/json',
  'content-digest': DIGEST,
  'content-length': '18',
};
const request: HttpMessage = {
  method: 'POST',
  scheme: 'https',
  host: 'example.com',
  target: '/foo?param=Value&Pet=dog',
  fields: (name) => (HEADERS[name] === undefined ? [] : [HEADERS[name]]),
};

const B26_SIGNATURE = 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==';
const SHARED_SECRET = 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==';

function read(input: string, signature: string) {
  const found = readHttpSignature(input, signature, 'svc');
  assert.ok(typeof found !== 'string', String(found));
  return found;
}

test('the signature bases of RFC 9421 B.2 come out byte for byte', () => {
  const cases: [input: string, lines: string[]][] = [
    [
      'sig-b22=("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example"',
      [
        '"@authority": example.com',
        `"content-digest": ${DIGEST}`,
        '"@query-param";name="Pet": dog',
        '"@signature-params": ("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example"',
      ],
    ],
    [
      'sig-b23=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"',
      [
        '"date": Tue, 20 Apr 2021 02:07:55 GMT',
        '"@method": POST',
        '"@path": /foo',
        '"@query": ?param=Value&Pet=dog',
        '"@authority": example.com',
        '"content-type": application/json',
        `"content-digest": ${DIGEST}`,
        '"content-length": 18',
        '"@signature-params": ("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"',
      ],
    ],
  ];
  for (const [input, lines] of cases) {
    const label = input.slice(0, input.indexOf('='));
    assert.equal(signatureBase(request, read(input, `${label}=:AA==:`)).toString(), lines.join('\n'));
  }
});

test('B.2.5: the HMAC of RFC 9421 is ours', () => {
  const found = read(
    'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    'sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:',
  );
  const base = signatureBase(request, found) as Buffer;
  const mac = hmacOf(Buffer.from(SHARED_SECRET, 'base64'), [base]);
  assert.equal(mac.toString('base64'), 'pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=');
  assert.ok(anyEquals(mac, [found.signature]));
});

test('B.2.6: the Ed25519 signature of RFC 9421 verifies, and is the one the key of B.1.4 makes', () => {
  const found = read(
    'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    `sig-b26=:${B26_SIGNATURE}:`,
  );
  const base = signatureBase(request, found) as Buffer;
  const x = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs';
  assert.ok(ed25519Verifies(ed25519Key(x), base, [found.signature]));
  const jwk = { kty: 'OKP', crv: 'Ed25519', x, d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU' };
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  assert.equal(sign(null, base, key).toString('base64'), B26_SIGNATURE);
  assert.ok(!ed25519Verifies(createPublicKey(key), Buffer.concat([base, Buffer.from(' ')]), [found.signature]));
});

test('Content-Digest: each known digest must match, and one must be there', () => {
  const sha256 = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:';
  for (const good of [DIGEST, sha256, `${sha256}, ${DIGEST}`, `unixsum=:AA==:, ${sha256}`]) assert.ok(digestMatches(good, BODY), good);
  for (const bad of [
    '',
    'md5=:AA==:',
    'sha-256=:AA==:',
    'sha-256=abc',
    'sha-256',
    `${sha256},`,
    `sha-256=:AA==:, ${DIGEST}`,
    `sha-256=:AA==:, ${sha256}`,
  ])
    assert.ok(!digestMatches(bad, BODY), bad);
  assert.ok(!digestMatches(sha256, Buffer.from('{"hello":"world"}')));
});

test('fields that are malformed, ambiguous or say something twice are refused', () => {
  const good = '("@method");created=1;keyid="k"';
  const cases: [input: string, signature: string][] = [
    ['', 'a=:AA==:'],
    ['a', 'a=:AA==:'],
    ['a="x"', 'a=:AA==:'],
    [`a=${good}`, ''],
    [`a=${good}`, 'b=:AA==:'],
    [`a=${good}`, 'a=(:AA==:)'],
    [`a=${good}`, 'a="AA=="'],
    [`a=${good}, b=${good}`, 'a=:AA==:, b=:AA==:'],
    [`a=${good}, a=${good}`, 'a=:AA==:'],
    [`a=${good}`, 'a=:AA==:, a=:BB==:'],
    ['a=("@method" "@method");created=1', 'a=:AA==:'],
    ['a=("@method" date);created=1', 'a=:AA==:'],
    ['a=("@method");created=1;created=2', 'a=:AA==:'],
    ['a=("@method");created=01', 'a=:AA==:'],
    ['a=("@query-param";name="a";name="b");created=1', 'a=:AA==:'],
    [`a=${good},`, 'a=:AA==:'],
    [`a=${good}`, 'a=:A===:'],
    [`a=${good}`, 'a=:AB==:'],
    [`A=${good}`, 'A=:AA==:'],
  ];
  for (const [input, signature] of cases)
    assert.equal(typeof readHttpSignature(input, signature, 'svc'), 'string', `${input} | ${signature}`);
  const named = readHttpSignature(`a=${good},svc=${good}`, 'svc=:AA==:, a=:BBBB:', 'svc');
  assert.ok(typeof named !== 'string' && named.label === 'svc' && named.signature.equals(Buffer.from([0])));
});

test('components that a request lacks, or that are read in ways not supported here, have no base', () => {
  for (const component of [
    '"x-missing"',
    '"@status"',
    '"@unknown"',
    '"Date"',
    '"date";sf',
    '"date";req',
    '"@method";req',
    '"date";bs;key="a"',
    '"@query-param";name="none"',
    '"@query-param"',
  ])
    assert.equal(typeof signatureBase(request, read(`a=(${component});created=1`, 'a=:AA==:')), 'string', component);
  const repeated = { ...request, target: '/?a=1&a=2' };
  assert.equal(typeof signatureBase(repeated, read('a=("@query-param";name="a")', 'a=:AA==:')), 'string');
  const base = (text: string) =>
    signatureBase(request, read(`a=(${text})`, 'a=:AA==:'))
      .toString()
      .split('\n')[0];
  assert.equal(base('"date";bs'), `"date";bs: :${Buffer.from(HEADERS.date ?? '').toString('base64')}:`);
  assert.equal(base('"content-digest";key="sha-512"'), `"content-digest";key="sha-512": ${DIGEST.slice('sha-512='.length)}`);
  assert.equal(base('"@target-uri"'), '"@target-uri": https://example.com/foo?param=Value&Pet=dog');
  assert.equal(base('"@request-target"'), '"@request-target": /foo?param=Value&Pet=dog');
});

test('a head full of components, parameters and members is read once, not once for each', async () => {
  const names = Array.from({ length: 28 }, (_, i) => `a${i}`);
  const covering = (items: readonly string[]) => read(`svc=(${items.join(' ')});created=1`, 'svc=:AAAA:');
  const many = names.map((name) => `${name}=1`);
  // As many times longer as there are more components: read once for each, twice as much costs four times as much.
  const message = (components: number): HttpMessage => {
    const field = [...many, ...Array.from({ length: components * 180 }, (_, i) => `z${i}`)].join(', ');
    return { ...request, target: `/foo?${[...many, ...Array(components * 700).fill('z=')].join('&')}`, fields: () => [field] };
  };
  for (const component of [(name: string) => `"@query-param";name="${name}"`, (name: string) => `"d";key="${name}"`]) {
    const base = signatureBase(message(names.length), covering(names.map(component)));
    assert.ok(typeof base !== 'string', String(base));
    assert.equal(base.toString().split('\n').length, 29);
    await assertGrowsLinearly(
      component('a'),
      names.length,
      (size) => [message(size), covering(names.slice(0, size).map(component))] as const,
      ([read, covered]) => signatureBase(read, covered),
    );
  }
  const more = Array.from({ length: 33 }, (_, i) => `"h${i}"`).join(' ');
  assert.match(String(readHttpSignature(`svc=(${more});created=1`, 'svc=:AAAA:', 'svc')), /more than 32 components/);
});
