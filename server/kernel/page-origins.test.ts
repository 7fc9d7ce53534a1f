import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalOrigin, canonicalOrigins } from './page-origins.ts';

test('writes origins as browsers do', () => {
  const table: [string, string][] = [
    ['https://shop.example.com', 'https://shop.example.com'],
    ['HTTPS://Shop.Example.COM', 'https://shop.example.com'],
    ['https://shop.example.com:443', 'https://shop.example.com'],
    ['https://shop.example.com:8443', 'https://shop.example.com:8443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://BÜCHER.example', 'https://xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
    ['https://localhost:3000', 'https://localhost:3000'],
    ['https://intranet', 'https://intranet'],
  ];
  for (const [given, value] of table)
    for (const sandbox of [true, false]) assert.deepEqual(canonicalOrigin(given, sandbox), { ok: true, value }, given);
});

test('refuses everything that is more, or less, than an origin', () => {
  const refused = [
    '',
    'null',
    '*',
    'shop.example.com',
    '//shop.example.com',
    'https://',
    'https://shop.example.com/',
    'https://shop.example.com/pay',
    'https://shop.example.com?x',
    'https://shop.example.com#x',
    'https://me@shop.example.com',
    'https://me:pw@shop.example.com',
    'https://*.example.com',
    'https://shop.example.com:',
    'https://shop.example.com:0443',
    'https://shop.example.com:99999',
    'https://shop.example.com\n',
    ' https://shop.example.com',
    'https://shop.exa\tmple.com',
    'https://shop.exa%6Dple.com',
    'https:\\\\shop.example.com',
    'https:shop.example.com',
    'http://shop.example.com',
    'ftp://shop.example.com',
    'https://127.0.0.1',
    'https://0x7f.1',
    'https://2130706433',
    'https://[::1]',
    'https://１２７.0.0.1',
    'https://shop.example.com;sandbox',
    'https://shop"onload=x.example.com',
    "https://shop'.example.com",
    'https://shop.example.com.',
    'https://shop,evil.example',
    'javascript://shop.example.com',
    'ws://a.example',
    'https://*',
    'https://shop.example.com:0',
    'https://shop.example.com:65536',
    'https://shop.example.com:x',
    'https://shop.example.com:443:443',
    'https://shop.example.com\\x',
    'https://shop .example.com',
    '\thttps://shop.example.com',
    'https://ｓhop.example.com',
    'https://shop..example',
    'https://1.2.3.4',
    'https://127.1',
    'https://[2001:db8::1]:8443',
    'https://①②⑦.⓪.⓪.①',
    `https://${'a'.repeat(64)}.example`,
    `https://${'a.'.repeat(127)}example`,
  ];
  for (const given of refused)
    for (const sandbox of [true, false]) assert.equal(canonicalOrigin(given, sandbox).ok, false, JSON.stringify(given));
});

test('takes local pages in Test only', () => {
  for (const given of ['http://localhost', 'http://localhost:5173', 'http://127.0.0.1:8080']) {
    assert.deepEqual(canonicalOrigin(given, true), { ok: true, value: given });
    assert.equal(canonicalOrigin(given, false).ok, false);
  }
  assert.deepEqual(canonicalOrigin('http://localhost:80', true), { ok: true, value: 'http://localhost' });
  for (const given of ['http://localhost.example.com', 'http://127.0.0.2', 'http://127.1', 'http://[::1]:3000'])
    assert.equal(canonicalOrigin(given, true).ok, false, given);
});

test('a list has each origin once, sorted, and names the one that is none', () => {
  const given = ['https://b.example', 'https://A.example:443', 'https://a.example'];
  assert.deepEqual(canonicalOrigins(given, false), { ok: true, value: ['https://a.example', 'https://b.example'] });
  const faulty = canonicalOrigins(['https://a.example', 'https://b.example/'], false);
  assert.match(faulty.ok ? '' : faulty.problem, /^entry 2 /);
});
