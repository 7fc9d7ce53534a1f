import assert from 'node:assert/strict';
import test from 'node:test';
import { normalOrigin, normalOrigins } from './origins.ts';

test('origins come out as browsers send them', () => {
  const same: [string, string][] = [
    ['https://shop.example.com', 'https://shop.example.com'],
    ['HTTPS://Shop.Example.COM', 'https://shop.example.com'],
    ['https://shop.example.com:443', 'https://shop.example.com'],
    ['https://shop.example.com:8443', 'https://shop.example.com:8443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://BÜCHER.example', 'https://xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
    ['https://localhost:3000', 'https://localhost:3000'],
  ];
  for (const [given, expected] of same) assert.equal(normalOrigin(given, false), expected, given);
});

test('anything but scheme, host and port is refused', () => {
  const faulty = [
    '',
    'null',
    '*',
    'shop.example.com',
    '//shop.example.com',
    'https://',
    'https:shop.example.com',
    'http://shop.example.com',
    'ftp://shop.example.com',
    'ws://a.example',
    'https://shop.example.com/',
    'https://shop.example.com/pay',
    'https://shop.example.com?x',
    'https://shop.example.com#x',
    'https://user@shop.example.com',
    'https://user:pw@shop.example.com',
    'https://*.example.com',
    'https://*',
    'https://shop.example.com:',
    'https://shop.example.com:0',
    'https://shop.example.com:0443',
    'https://shop.example.com:65536',
    'https://shop.example.com:x',
    'https://shop.example.com:443:443',
    'https://shop.example.com\\x',
    'https://shop .example.com',
    'https://shop.example.com\n',
    '\thttps://shop.example.com',
    'https://sh%6fp.example.com',
    'https://ｓhop.example.com',
    'https://shop.example.com.',
    'https://shop..example',
    'https://127.0.0.1',
    'https://1.2.3.4',
    'https://2130706433',
    'https://0x7f.1',
    'https://127.1',
    'https://[::1]',
    'https://[2001:db8::1]:8443',
    'https://①②⑦.⓪.⓪.①',
    `https://${'a'.repeat(64)}.example`,
    `https://${'a.'.repeat(127)}example`,
  ];
  for (const text of faulty) {
    assert.equal(normalOrigin(text, false), null, text);
    assert.equal(normalOrigin(text, true), null, `${text} in Test`);
  }
});

test("a page on the developer's own machine is for Test alone", () => {
  for (const text of ['http://localhost', 'http://localhost:3000', 'http://127.0.0.1:5173', 'HTTP://LOCALHOST:80']) {
    assert.equal(normalOrigin(text, false), null, text);
    assert.ok(normalOrigin(text, true), text);
  }
  assert.equal(normalOrigin('http://localhost:80', true), 'http://localhost');
  for (const text of ['http://127.0.0.2', 'http://127.1', 'http://localhost.example', 'http://[::1]:3000'])
    assert.equal(normalOrigin(text, true), null, text);
});

test('a list has each origin once, sorted', () => {
  assert.deepEqual(normalOrigins(['https://b.example', 'https://A.example:443', 'https://a.example'], false), [
    'https://a.example',
    'https://b.example',
  ]);
  assert.equal(normalOrigins(['https://a.example', 'https://b.example/'], false), null);
});
