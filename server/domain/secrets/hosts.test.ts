import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { canonicalHostPin, hostAllowed } from './hosts.ts';

test('a pin is a bare host name in one spelling', () => {
  for (const [given, stored] of [
    ['api.example.com', 'api.example.com'],
    ['API.Example.COM.', 'api.example.com'],
    ['*.Example.com', '*.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['intranet', 'intranet'],
  ])
    assert.deepEqual(canonicalHostPin(given as string), { ok: true, value: stored }, given);
  for (const given of [
    '',
    '.',
    '*',
    '*.',
    '*.com',
    '*.co.uk',
    '*.github.io',
    '*.intranet',
    '**.example.com',
    'a.*.com',
    'https://a.com',
    'a.com:443',
    'a.com/',
    'u@a.com',
    '10.0.0.1',
    '1',
    '0x7f.1',
    '[::1]',
    '::1',
    '*.10.0.0.1',
    'a b.com',
    'a..com',
    '-a.com',
    `${'a'.repeat(64)}.com`,
    'a.com?x',
    'a.com#x',
    'a%2ecom',
  ])
    assert.equal(canonicalHostPin(given).ok, false, given);
});

test('a pinned value goes to its hosts only, however they are written', () => {
  const pins = ['api.example.com', '*.wild.example'];
  for (const host of ['api.example.com', 'API.EXAMPLE.COM', 'api.example.com.', 'a.wild.example'])
    assert.equal(hostAllowed(pins, host), true, host);
  for (const host of [
    'example.com',
    'x.api.example.com',
    'wild.example',
    'a.b.wild.example',
    'api.example.com.evil.test',
    'api.example.com:443',
    'api.example.com@evil.test',
    '10.0.0.1',
    '',
    '.wild.example',
    'evilwild.example',
  ])
    assert.equal(hostAllowed(pins, host), false, host);
  assert.equal(hostAllowed(null, 'anything.example'), true);
  assert.equal(hostAllowed([], 'anything.example'), false);
});

test('every stored pin is its own canonical form', () => {
  fc.assert(
    fc.property(fc.tuple(fc.constantFrom('', '*.'), fc.domain()), ([star, domain]) => {
      const pin = canonicalHostPin(star + domain);
      if (!pin.ok) return;
      assert.deepEqual(canonicalHostPin(pin.value), pin);
      if (star === '') assert.equal(hostAllowed([pin.value], domain.toUpperCase()), true);
    }),
  );
});
