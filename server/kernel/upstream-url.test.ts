import assert from 'node:assert/strict';
import test from 'node:test';
import { isRawCardEndpoint, parseUpstreamUrl } from './upstream-url.ts';

const rules = { ownHosts: [{ name: 'sallyport.example', port: undefined }] };
const judged = (text: string, more: Partial<Parameters<typeof parseUpstreamUrl>[1]> = {}) => {
  const verdict = parseUpstreamUrl(text, { ...rules, ...more });
  return verdict.ok ? verdict.url : verdict.code;
};

test('keeps path and query byte for byte and spells the host one way', () => {
  assert.deepEqual(judged('https://API.Example.com.:443/a%2Fb//c?x=1&x=2'), {
    host: 'api.example.com',
    port: 443,
    authority: 'api.example.com',
    path: '/a%2Fb//c',
    query: 'x=1&x=2',
  });
  assert.deepEqual(judged('https://api.example.com'), {
    host: 'api.example.com',
    port: 443,
    authority: 'api.example.com',
    path: '/',
    query: null,
  });
  assert.equal((judged('https://s3.amazonaws.com/b') as { host: string }).host, 's3.amazonaws.com');
});

test('refuses everything that is not an https URL of a public DNS name on port 443', () => {
  const refused = [
    '',
    'api.example.com/x',
    '/v1',
    'http://api.example.com/',
    'ftp://api.example.com/',
    'gopher://api.example.com/',
    'data:text/plain,x',
    'https:api.example.com',
    'https:///api.example.com',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://127.0.0.1/',
    'https://127.0.0.1./',
    'https://[::ffff:7f00:1]/',
    'https://[::1]/',
    'https://[::]/',
    'https://[fe80::1%25eth0]/',
    'https://①②⑦.⓪.⓪.①/',
    'https://localhost/',
    'https://localhost./',
    'https://com/',
    'https://co.uk/',
    'https://аpi.example.com/', // a Cyrillic letter
    'https://api。example.com/',
    'https://user@api.example.com/',
    'https://user:pass@api.example.com/',
    'https://api.good.com@evil.example/',
    'https://api.example.com:22/',
    'https://api.example.com:25/',
    'https://api.example.com:0/',
    'https://api.example.com:8443/',
    'https://api.example.com:443443/',
    'https://api.example.com:/x:1',
    'https://127.0.0.1#@ok.example/',
    'https://api.example.com/x#frag',
    'https://api.example.com/a b',
    'https://api.example.com\\@evil.example/',
    'https://api.example.com/a\\b',
    'https://api.exa\tmple.com/',
    'https://api.exa\nmple.com/',
    ' https://api.example.com/',
    'https://api.example.com/?a b',
    `https://${'a'.repeat(64)}.example.com/`,
    `https://${'a.'.repeat(130)}example.com/`,
    'https://-api.example.com/',
    'https://api..example.com/',
    'https://api%2eexample.com/',
    'https://api.example.com%00.evil.example/',
    `https://api.example.com/${'x'.repeat(8_192)}`,
  ];
  for (const url of refused) assert.equal(judged(url), 'validation_error', url);
});

test('a port that the operator opened is taken for that host only', () => {
  const opensPort = (host: string, port: number) => host === 'api.stripe.test' && port === 8443;
  assert.equal((judged('https://api.stripe.test:8443/x', { opensPort }) as { authority: string }).authority, 'api.stripe.test:8443');
  assert.equal(judged('https://api.other.test:8443/x', { opensPort }), 'validation_error');
});

test('placeholders may stand in the query and nowhere else', () => {
  const placeholders = true;
  assert.equal((judged('https://a.example/x?k={{ token: "a b" }}', { placeholders }) as { query: string }).query, 'k={{ token: "a b" }}');
  for (const url of ['https://a.example/{{ token: x }}', 'https://{{x}}.example/', 'https://a.example/?k={{ token: x }} y'])
    assert.equal(judged(url, { placeholders }), 'validation_error', url);
});

test('never calls the service itself', () => {
  for (const host of ['sallyport.example', 'api.sallyport.example', 'SALLYPORT.EXAMPLE.', 'x.wrap.sallyport.example'])
    assert.equal(judged(`https://${host}/v1/proxy`), 'upstream_not_allowed', host);
  assert.equal((judged('https://notsallyport.example/') as { host: string }).host, 'notsallyport.example');
});

test('refuses endpoints for raw card numbers however their path is written', () => {
  for (const path of [
    '/v1/tokens',
    '/v1/tokens?x=1',
    '/v1/tokens/tok_1',
    '/v1/sources',
    '/v1/./tokens',
    '/v1/x/../tokens',
    '/v1/x/%2e%2e/tokens',
    '/v1//tokens',
    '/%76%31/%74okens',
    '/v1%2Ftokens',
    '/../v1/sources',
    '/V1/Tokens',
  ])
    assert.equal(judged(`https://API.stripe.com.${path}`), 'raw_card_endpoint_refused', path);
  assert.equal((judged('https://api.stripe.com/v1/customers') as { path: string }).path, '/v1/customers');
  assert.equal(isRawCardEndpoint('api.stripe.com', '/v1/payment_intents'), false);
  assert.equal(isRawCardEndpoint('api.other.com', '/v1/tokens'), false);
});
