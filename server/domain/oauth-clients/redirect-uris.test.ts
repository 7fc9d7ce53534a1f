import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  canonicalRedirectUri,
  isLoopbackRedirectUri,
  MAX_REDIRECT_URI_LENGTH,
  matchesRedirectUri,
  redirectUriProblem,
} from './redirect-uris.shared.ts';

describe('redirectUriProblem', () => {
  const forBoth = [
    'https://app.example.com/cb',
    'https://app.example.com',
    'https://app.example.com:8443/cb?x=1&y=a%20b',
    'HTTPS://App.Example.com/CB',
    'https://xn--bcher-kva.example/cb',
    'https://[2001:db8::1]/cb',
    'https://app.example.com/cb?next=../home',
  ];
  for (const uri of forBoth) {
    it(`lets any client register ${uri}`, () => {
      assert.equal(redirectUriProblem(uri, 'public'), null);
      assert.equal(redirectUriProblem(uri, 'confidential'), null);
    });
  }

  const forPublic = [
    'http://127.0.0.1/callback',
    'http://127.0.0.1:51234/callback',
    'http://[::1]:9000/cb',
    'http://localhost/callback',
    'http://LOCALHOST:3000',
    'com.example.app:/cb',
    'com.example.app://cb/done',
    'com.example.app:cb',
  ];
  for (const uri of forPublic) {
    it(`lets only a public client register ${uri}`, () => {
      assert.equal(redirectUriProblem(uri, 'public'), null);
      assert.match(redirectUriProblem(uri, 'confidential') ?? '', /only for public clients/);
    });
  }

  const refused: [string, RegExp][] = [
    ['', /absolute URI/],
    ['/callback', /absolute URI/],
    ['//app.example.com/cb', /absolute URI/],
    ['app.example.com/cb', /absolute URI/],
    ['https:app.example.com/cb', /https:\/\//],
    ['https:/app.example.com/cb', /https:\/\//],
    ['https:///cb', /no host/],
    ['https://:443/cb', /no host/],
    [`https://app.example.com/${'a'.repeat(MAX_REDIRECT_URI_LENGTH)}`, /longer than/],
    ['https://app.example.com/cb#part', /fragment/],
    ['https://app.example.com/cb#', /fragment/],
    ['https://person@app.example.com/cb', /user name/],
    ['http://127.0.0.1@evil.example/cb', /user name/],
    ['http://127.0.0.1:80@evil.example/cb', /user name/],
    ['http://@127.0.0.1/cb', /user name/],
    ['https://*.example.com/cb', /Wildcards/],
    ['https://app.example.com/*', /Wildcards/],
    ['https://app.example.com/a/../cb', /segment/],
    ['https://app.example.com/a/..', /segment/],
    ['https://app.example.com/a/%2e%2E/cb', /segment/],
    ['https://app.example.com/a/.%2e/cb', /segment/],
    ['https://app.example.com/cb%2f..%2Fevil', /segment/],
    ['https://app.example.com/./cb', /segment/],
    ['com.example.app:/a/../cb', /segment/],
    ['https://app.example.com\\@evil.example/cb', /backslash/],
    ['https://app.example.com/cb%5c..', /encoded control character or backslash/],
    ['https://app.example.com/cb%0d%0aSet-Cookie:a=b', /encoded control/],
    ['https://app.example.com/cb%00', /encoded control/],
    ['https://app.example.com/c b', /space or a control/],
    [' https://app.example.com/cb', /space or a control/],
    ['https://app.example.com/cb\n', /space or a control/],
    ['java\tscript:alert(1)', /space or a control/],
    ['https://app.example.com/\u0000', /space or a control/],
    ['https://app.example.com/\u007f', /space or a control/],
    ['https://bücher.example/cb', /outside of ASCII/],
    ['https://ａpp.example.com/cb', /outside of ASCII/],
    ['https://app。example.com/cb', /outside of ASCII/],
    ['https://app.example.com/\u202ecb', /outside of ASCII/],
    ['https://app.example.com/%zz', /hexadecimal/],
    ['https://app.example.com/%', /hexadecimal/],
    ['https://app.example.com/"><script>', /percent-encoded/],
    ['https://app.example.com./cb', /valid host/],
    ['https://.example.com/cb', /valid host/],
    ['https://app..example.com/cb', /valid host/],
    ['https://app.example.com%2f.evil.example/cb', /valid host/],
    ['https://app.example.com:/cb', /port/],
    ['https://app.example.com:0/cb', /port/],
    ['https://app.example.com:65536/cb', /port/],
    ['https://app.example.com:443x/cb', /port/],
    ['https://app.example.com:443:443/cb', /port/],
    ['https://2130706433/cb', /browsers read/],
    ['https://0x7f.1/cb', /browsers read/],
    ['https://[0:0:0:0:0:0:0:1]/cb', /browsers read/],
    ['https://[::1/cb', /valid host|port/],
    ['http://app.example.com/cb', /only for 127\.0\.0\.1/],
    ['http://127.0.0.1.evil.example/callback', /only for 127\.0\.0\.1/],
    ['http://127.0.0.1./callback', /valid host/],
    ['http://localhost./callback', /valid host/],
    ['http://localhost.evil.example/callback', /only for 127\.0\.0\.1/],
    ['http://127.1/callback', /browsers read/],
    ['http://0x7f000001/callback', /browsers read/],
    ['http://127.0.0.2/callback', /only for 127\.0\.0\.1/],
    ['http://0.0.0.0/callback', /only for 127\.0\.0\.1/],
    ['http://[::ffff:127.0.0.1]/callback', /browsers read/],
    ['http://[::]/callback', /only for 127\.0\.0\.1/],
    ['javascript:alert(1)', /javascript isn't allowed/],
    ['JavaScript:alert(1)', /javascript isn't allowed/],
    ['data:text/html,x', /data isn't allowed/],
    ['vbscript:x', /vbscript isn't allowed/],
    ['file:///etc/passwd', /file isn't allowed/],
    ['blob:https://app.example.com/1', /blob isn't allowed/],
    ['about:blank', /about isn't allowed/],
    ['ftp://app.example.com/cb', /ftp isn't allowed/],
    ['ws://app.example.com/cb', /ws isn't allowed/],
    ['wss://app.example.com/cb', /wss isn't allowed/],
    ['myapp:/cb', /contains a dot/],
    ['urn:ietf:wg:oauth:2.0:oob', /contains a dot/],
    ['com.example.app:', /nothing after/],
    ['1com.example.app:/cb', /absolute URI/],
  ];
  for (const [uri, why] of refused) {
    it(`refuses ${JSON.stringify(uri.slice(0, 70))} for both types`, () => {
      assert.match(redirectUriProblem(uri, 'public') ?? 'accepted', why);
      assert.match(redirectUriProblem(uri, 'confidential') ?? 'accepted', why);
      if (!/only for 127/.test(why.source)) assert.equal(canonicalRedirectUri(uri), null);
      assert.equal(matchesRedirectUri('http://127.0.0.1/callback', uri), false);
      assert.equal(matchesRedirectUri('https://app.example.com/cb', uri), false);
    });
  }
});

describe('canonicalRedirectUri', () => {
  const forms: [string, string][] = [
    ['HTTPS://App.Example.COM:443/Cb?X=1', 'https://app.example.com/Cb?X=1'],
    ['https://app.example.com', 'https://app.example.com/'],
    ['https://app.example.com?x=1', 'https://app.example.com/?x=1'],
    ['https://app.example.com:80/cb', 'https://app.example.com:80/cb'],
    ['http://127.0.0.1:80/cb', 'http://127.0.0.1/cb'],
    ['http://[::1]:9000', 'http://[::1]:9000/'],
    ['https://app.example.com/a%2Fb//c/', 'https://app.example.com/a%2Fb//c/'],
    ['COM.Example.App:/Cb', 'com.example.app:/Cb'],
  ];
  for (const [written, stored] of forms) {
    it(`stores ${written} as ${stored}`, () => {
      assert.equal(canonicalRedirectUri(written), stored);
      assert.equal(canonicalRedirectUri(stored), stored);
    });
  }
});

describe('matchesRedirectUri', () => {
  const rows: [registered: string, asked: string, match: boolean][] = [
    ['http://127.0.0.1/callback', 'http://127.0.0.1:51234/callback', true],
    ['http://127.0.0.1/callback', 'http://localhost:51234/callback', false],
    ['http://[::1]:9000/cb', 'http://[::1]:41111/cb', true],
    ['https://app.example.com/cb', 'https://app.example.com/cb?x=1', false],
    ['https://app.example.com/cb', 'https://app.example.com:443/cb', true],
    ['http://127.0.0.1/callback', 'http://127.0.0.1.evil.com/callback', false],
    ['http://127.0.0.1:8080/callback', 'http://127.0.0.1/callback', true],
    ['http://localhost:3000/cb?x=1', 'http://localhost:4000/cb?x=1', true],
    ['http://localhost/cb?x=1', 'http://localhost/cb', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1/callback/', false],
    ['http://127.0.0.1/callback', 'http://[::1]/callback', false],
    ['http://127.0.0.1/callback', 'https://127.0.0.1/callback', false],
    ['https://localhost/cb', 'https://localhost:8443/cb', false],
    ['https://app.example.com/cb', 'HTTPS://APP.example.com/cb', true],
    ['https://app.example.com/cb', 'https://app.example.com/CB', false],
    ['https://app.example.com/cb', 'https://app.example.com:8443/cb', false],
    ['https://app.example.com/cb', 'http://app.example.com/cb', false],
    ['https://app.example.com', 'https://app.example.com/', true],
    ['https://app.example.com/a/b', 'https://app.example.com/a%2fb', false],
    ['https://app.example.com/a%2Fb', 'https://app.example.com/a%2fb', false],
    ['https://app.example.com/cb', 'https://app.example.com/c%62', false],
    ['https://app.example.com/cb', 'https://app.example.com.evil.example/cb', false],
    ['https://app.example.com/cb', 'https://app.example.com./cb', false],
    ['https://app.example.com/cb', 'https://app.example.com/cb#', false],
    ['com.example.app:/cb', 'com.example.app:/cb', true],
    ['com.example.app:/cb', 'COM.example.app:/cb', true],
    ['com.example.app:/cb', 'com.example.app://cb', false],
    ['com.example.app:/cb', 'com.example.application:/cb', false],
  ];
  for (const [registered, asked, match] of rows) {
    it(`${match ? 'accepts' : 'refuses'} ${asked} where ${registered} is registered`, () =>
      assert.equal(matchesRedirectUri(registered, asked), match));
  }

  it('compares nothing that could not be registered', () => {
    for (const uri of ['javascript:alert(1)', 'https://a.example/../b', 'http://127.1/cb'])
      assert.equal(matchesRedirectUri(uri, uri), false);
  });
});

describe('isLoopbackRedirectUri', () => {
  it('knows the listeners on the own machine', () => {
    for (const uri of ['http://127.0.0.1:1/cb', 'http://[::1]/cb', 'http://localhost/cb']) assert.ok(isLoopbackRedirectUri(uri));
    for (const uri of ['https://localhost/cb', 'http://127.0.0.1.evil.example/', 'com.example.app:/cb'])
      assert.ok(!isLoopbackRedirectUri(uri));
  });
});
