import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { valueHints } from './value-hints.ts';

const NOW = Date.parse('2026-11-21T00:00:00Z');
const told = (value: string, space: 'live' | 'test' = 'live') => valueHints(value, space, NOW).map(({ tone, text }) => `${tone}: ${text}`);
const jwt = (claims: object) => `${btoa('{"alg":"HS256"}')}.${btoa(JSON.stringify(claims))}.c2ln`.replaceAll('=', '');

test('a credential of a known provider is named, and one of the other space is warned of', () => {
  assert.deepEqual(told(`sk_live_${'a'.repeat(24)}`), ['plain: Looks like a Stripe key.']);
  assert.match(told(`sk_live_${'a'.repeat(24)}`, 'test')[0] ?? '', /^warn: .* for live data, but you’re in Test/);
  assert.match(told(`rk_test_${'a'.repeat(24)}`)[0] ?? '', /^warn: .* for test data, but you’re in Live/);
  assert.deepEqual(told(`ghp_${'a'.repeat(36)}`), ['plain: Looks like a GitHub token.']);
  assert.deepEqual(told(`sk-ant-${'a'.repeat(36)}`), ['plain: Looks like an Anthropic key.']);
});

test('what is no secret, or the wrong part of one, is told as that', () => {
  for (const value of [
    `pk_live_${'a'.repeat(24)}`,
    `AKIA${'A'.repeat(16)}`,
    `tk_live_${'a'.repeat(60)}`,
    '-----BEGIN CERTIFICATE-----\nMII',
  ])
    assert.match(told(value)[0] ?? '', /^warn: This looks like /, value);
  assert.match(told('Bearer abcdefgh')[0] ?? '', /Remove the scheme/);
  assert.match(told('"abcdefgh"')[0] ?? '', /quotation marks/);
  assert.match(told('your-api-key')[0] ?? '', /placeholder/);
  assert.match(told('abc')[0] ?? '', /shorter than 6 bytes/);
});

test('a signed token tells when it ends', () => {
  assert.match(told(jwt({ exp: NOW / 1000 + 86_400 }))[0] ?? '', /^plain: .* expires on 2026-11-22/);
  assert.match(told(jwt({ exp: NOW / 1000 - 86_400 }))[0] ?? '', /^warn: .* expired on 2026-11-20/);
  assert.deepEqual(told(jwt({ sub: 'no end' })), []);
  assert.deepEqual(told(jwt({ exp: 1e300 })), []);
});

test('an ordinary value has nothing to be told, and no text breaks the hints', () => {
  assert.deepEqual(told('correct horse battery staple'), []);
  assert.deepEqual(told(''), []);
  fc.assert(fc.property(fc.string(), (text) => valueHints(text, 'live', NOW).length < 6));
});
