import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalOrigin } from './page-origins.ts';

test('writes origins as browsers do', () => {
  const table: [string, string][] = [
    ['https://shop.example.com', 'https://shop.example.com'],
    ['HTTPS://Shop.Example.COM', 'https://shop.example.com'],
    ['https://shop.example.com:443', 'https://shop.example.com'],
    ['https://shop.example.com:8443', 'https://shop.example.com:8443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
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
  assert.equal(canonicalOrigin('http://localhost.example.com', true).ok, false);
  assert.equal(canonicalOrigin('http://127.1', true).ok, false);
});
