import assert from 'node:assert/strict';
import test from 'node:test';
import { mintApiKey } from '#server/crypto/tokens.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { loggedPath } from './logged-path.ts';

const accessKey = `AKE${'ABCDEFGHIJKLMNOP'}:${'a1B2'.repeat(10)}`;
const apiKey = mintApiKey('live').token;
/** Every character percent-encoded, as no client writes it and everybody may. */
const encoded = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

test('a credential of ours is no part of a logged path, however it is spelled in it', () => {
  for (const key of [apiKey, accessKey])
    for (const spelled of [key, encodeURIComponent(key), key.replaceAll('_', '%5F').replaceAll(':', '%3a'), encoded(key)]) {
      assert.equal(loggedPath('/x', `a=1&k=${spelled}&b=2`), '/x?a=1&k=[redacted]&b=2');
      assert.equal(loggedPath(`/keys/${spelled}/use`, null), '/keys/[redacted]/use');
      assert.equal(loggedPath('/x', spelled), '/x?[redacted]');
      assert.ok(!decodeURIComponent(loggedPath('/x', `${spelled}=1`)).includes(key));
    }
  const pem = '-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n-----END PRIVATE KEY-----';
  for (const spelled of [encodeURIComponent(pem), encodeURIComponent(pem).replaceAll('%20', '+')])
    assert.equal(loggedPath('/x', `note=${spelled}`), '/x?note=[redacted]');
});

test('a query parameter that is named like a credential shows its name and not its value', () => {
  for (const name of [
    ...[
      'password',
      'passwd',
      'secret',
      'token',
      'api_key',
      'apikey',
      'access_key',
      'private_key',
      'authorization',
      'cvv',
      'cvc',
      'pin',
      'ssn',
      'otp',
    ],
    ...[
      'access_token',
      'client_secret',
      'X-Amz-Signature',
      'sig',
      'key',
      'auth',
      'API-KEY',
      'apiKey',
      '%61pi_key',
      'card%5Bcvc%5D',
      'user[password]',
      'pwd',
      'db_pwd',
      'jwt',
      'bearer',
      'sid',
      'session',
      'session_id',
      'JSESSIONID',
    ],
  ])
    assert.equal(loggedPath('/x', `a=1&${name}=hunter2&b=2`), `/x?a=1&${name}=[redacted]&b=2`, name);
});

test('card numbers keep six and four digits, plain or encoded, and everything else stays byte for byte', () => {
  assert.equal(loggedPath('/cards/4242424242424242', 'n=4242424242424242'), '/cards/424242******4242?n=424242******4242');
  assert.equal(loggedPath('/x', `n=${encoded('4242424242424242')}`), '/x?n=[redacted]');
  for (const [path, query] of [
    ['', null],
    ['/', ''],
    ['/a%2Fb//c/', 'q=%zz&&=&x&y==%20+&monkey=1&pinned=2&side=4&sessions=5&resid=6&author=me&page=2&tokens=3&id=4242424242424241'],
    ['/%E6%97%A5', 'q={{secret:NAME}}&t=%2B&secret=&password'],
  ] as const)
    assert.equal(loggedPath(path, query), query === null ? path : `${path}?${query}`);
});

test('at most 2,048 characters are kept, and no cut shows a part of what is hidden', () => {
  assert.equal(loggedPath(`/${'a'.repeat(5_000)}`, null).length, 2_048);
  for (let before = 1_990; before < 2_060; before++) {
    const shown = loggedPath('/x', `${'a'.repeat(before)}&password=hunter2&k=${apiKey}`);
    assert.ok(!shown.includes('hunter') && !shown.includes(apiKey.slice(0, 20)), shown.slice(-80));
  }
  const hidden = Array.from({ length: 30 }, () => `password=${'h'.repeat(100)}`).join('&');
  const shown = loggedPath('/x', `${hidden}&${'a'.repeat(4_096 - hidden.length - 20)}&k=${apiKey}`);
  assert.ok(!shown.includes(apiKey.slice(0, 16)), shown.slice(-80));
});

test('a target is made fit to be logged in linear time', async () => {
  for (const piece of ['%25', '&', '=%', '%41', 'eyJaaaaaaaaaa'])
    for (const before of ['', 'a='])
      await assertGrowsLinearly(
        before + piece,
        16_000,
        (size) => before + piece.repeat(size / piece.length),
        (query) => loggedPath('/x', query),
      );
});
