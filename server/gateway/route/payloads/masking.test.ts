import assert from 'node:assert/strict';
import test from 'node:test';
import { isMaskedHeader } from '../../core/masked-headers.ts';
import { maskFields, maskMembers } from './masking.ts';

const R = '"[redacted]"';

test('members that are named like credentials lose their values, of whatever kind, and all others stay byte for byte', () => {
  for (const [before, after] of [
    ['{"password":"a","b":1}', `{"password":${R},"b":1}`],
    ['{ "Api-Key" : "a\\"b\\\\" , "x":"y"}', `{ "Api-Key" : ${R} , "x":"y"}`],
    ['{"pin":1234,"pinned":true,"max_tokens":5}', `{"pin":${R},"pinned":true,"max_tokens":5}`],
    ['{"secret":{"a":["}",{"b":"]"}]},"c":null}', `{"secret":${R},"c":null}`],
    ['{"accessToken":[1,2],"token":null}', `{"accessToken":${R},"token":${R}}`],
    ['{"pass\\u0077ord":"x"}', `{"pass\\u0077ord":${R}}`],
    // JSON in JSON keeps its quotes.
    ['{"raw":"{\\"password\\":\\"x\\",\\"a\\":1}"}', '{"raw":"{\\"password\\":\\"[redacted]\\",\\"a\\":1}"}'],
    ['data: {"otp": "123456"}\n\ndata: {"ok":1}\n\n', `data: {"otp": ${R}}\n\ndata: {"ok":1}\n\n`],
    ['{"note":"the password: x","n":"\\"token\\" is a word"}', '{"note":"the password: x","n":"\\"token\\" is a word"}'],
    // Text around it, or a quote out of place, hides nothing.
    ['it"s {"password":"x"} and "more', `it"s {"password":${R}} and "more`],
  ] as const)
    assert.equal(maskMembers(before), after);
});

test('what was cut off is masked to its end', () => {
  for (const text of ['{"a":1,"password":"hunt', '{"password":"hunt\\', '{"secret":{"a":"hunt', '{"token":["hunt"', '{"password": hunt'])
    assert.ok(!maskMembers(text).includes('hunt'), text);
});

test('fields of forms are masked by their names', () => {
  const form = 'application/x-www-form-urlencoded; charset=utf-8';
  assert.equal(
    maskFields('a=1&user[password]=x&b=%20&client_secret=y', form),
    'a=1&user[password]=[redacted]&b=%20&client_secret=[redacted]',
  );
  const part = (name: string, value: string) => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const text = `${part('a', '1')}${part('password', 'hunter2')}${part('meta', '{"otp":"99"}')}--B--\r\n`;
  const masked = maskFields(text, 'multipart/form-data; boundary=B');
  assert.equal(masked, `${part('a', '1')}${part('password', '[redacted]')}${part('meta', `{"otp":${R}}`)}--B--\r\n`);
});

test('headers that carry credentials are masked, and ours', () => {
  for (const name of [
    'authorization',
    'cookie',
    'set-cookie',
    'x-svc-key',
    'x-api-key',
    'apikey',
    'x-auth-token',
    'stripe-signature',
    'x-secret',
    'dpop',
  ])
    assert.ok(isMaskedHeader(name), name);
  for (const name of ['content-type', 'x-keyboard', 'author', 'x-tokens', 'accept', 'etag']) assert.ok(!isMaskedHeader(name), name);
});
