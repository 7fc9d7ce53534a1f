import assert from 'node:assert/strict';
import test from 'node:test';
import { confidenceOf } from './confidence.ts';
import { serviceOf } from './known-services.ts';
import { inManifestOrder, versionOf } from './manifest.ts';
import { judgeObservation } from './observations/judge.ts';
import { isCredentialHeader, isFirstSegment, looksLikeCredential, sdkName } from './observations/rules.shared.ts';

const NOW = new Date('2026-11-23T12:00:00.000Z');
const entry = (over: Record<string, unknown> = {}) => ({
  host: 'api.stripe.com',
  first_segment: '/v1',
  method: 'GET',
  header_name: 'authorization',
  count: 1,
  first_seen: '2026-11-23T11:00:00Z',
  last_seen: '2026-11-23T11:59:00Z',
  ...over,
});
const judge = (over: Record<string, unknown>) => judgeObservation(entry(over), NOW, [{ name: 'sallyport.dev', port: undefined }]);
const reason = (over: Record<string, unknown>) => {
  const judged = judge(over);
  return judged.ok ? 'kept' : judged.reason;
};

test('a segment that looks like a credential is recognised as written and percent-decoded', () => {
  for (const text of [
    'bot123456:AAE',
    'BOT1:x',
    'sk_live_1',
    'PK_TEST_1',
    'rk_live_x',
    'sk-abc',
    'xoxb-1',
    'ghp_1',
    'github_pat_1',
    'glpat-1',
    'shpat_1',
    'shpss_1',
    'AKIAABCDEFGH1234',
    'ASIAABCDEFGH1234',
    `AIza${'a'.repeat(20)}`,
    'eyJhbGciOiJ',
    'SG.x',
    'a'.repeat(65),
    'abcdefghijklmnopqrstuvw1',
    'x.ABCDEFGHIJKLMNOPQRSTUVWa.y',
    'bot1%3AAAE',
    '%73k_live_1',
  ])
    assert.ok(looksLikeCredential(`/${text}`), text);
  for (const text of ['v1', 'crm', 'a'.repeat(64), 'abcdefghijklmnopqrstuvwxyz', 'bot', 'skip', 'AKIA123', 'eyJ', 'payment-intents', ''])
    assert.equal(looksLikeCredential(`/${text}`), false, text);
});

test('a header carries a credential by its name or by its suffix, and a suffix alone is no name', () => {
  for (const name of ['authorization', 'x-api-key', 'x-internal-auth', 'acme-token', 'klaviyo-api-key', 'a-secret'])
    assert.ok(isCredentialHeader(name), name);
  for (const name of ['-auth', '-token', 'Authorization', 'accept', 'x auth', `${'a'.repeat(60)}-auth`])
    assert.equal(isCredentialHeader(name), false, name);
});

test('a first segment has no query and is never deeper', () => {
  for (const path of ['/', '/v1', '/a%20b', "/$&'()*+,;=:@-._~!"]) assert.ok(isFirstSegment(path), path);
  for (const path of ['', 'v1', '/v1/x', '/v1?key=1', '/v1#x', '/ä', `/${'a'.repeat(256)}`])
    assert.equal(isFirstSegment(path), false, path);
});

test('an entry is dropped for its first broken rule', () => {
  const cases: [Record<string, unknown>, string][] = [
    [{}, 'kept'],
    [{ host: 'API.Stripe.com:443' }, 'kept'],
    [{ host: 'api.stripe.com.' }, 'kept'],
    [{ host: '127.0.0.1' }, 'ip_literal'],
    [{ host: '2130706433' }, 'ip_literal'],
    [{ host: '[::1]:443' }, 'ip_literal'],
    [{ host: '::1' }, 'ip_literal'],
    [{ host: 'localhost' }, 'invalid_host'],
    [{ host: 'a b.com' }, 'invalid_host'],
    [{ host: 7 }, 'invalid_host'],
    [{ host: 'acme.sallyport.dev' }, 'platform_host'],
    [{ first_segment: '/v1/customers' }, 'invalid_first_segment'],
    [{ first_segment: '/v1?key=secret' }, 'invalid_first_segment'],
    [{ method: 'get' }, 'invalid_method'],
    [{ method: 'BREW' }, 'invalid_method'],
    [{ header_name: '-auth' }, 'invalid_header_name'],
    [{ header_name: 'x-internal-auth' }, 'kept'],
    [{ count: 0 }, 'invalid_count'],
    [{ count: 1.5 }, 'invalid_count'],
    [{ count: 1_000_000_001 }, 'invalid_count'],
    [{ count: '3' }, 'invalid_count'],
    [{ first_seen: '2026-11-16T11:59:59Z' }, 'invalid_time'],
    [{ first_seen: '2026-11-23T12:00:00Z' }, 'invalid_time'],
    [{ last_seen: '2026-11-23T12:05:01Z' }, 'invalid_time'],
    [{ last_seen: 'yesterday' }, 'invalid_time'],
  ];
  for (const [over, expected] of cases) assert.equal(reason(over), expected, JSON.stringify(over));
  assert.equal(judgeObservation(null, NOW, []).ok, false);
});

test('a kept entry has a normalised host, a clamped time and no segment that looks like a credential', () => {
  const judged = judge({
    host: 'API.Telegram.org:443',
    first_segment: '/bot123456:AAExyz',
    last_seen: '2026-11-23T12:04:00Z',
    value: 'leak',
  });
  assert.ok(judged.ok);
  assert.equal(judged.redacted, 'first_segment_looks_like_credential');
  assert.deepEqual(judged.observation, {
    ...{ host: 'api.telegram.org', first_segment: '/', method: 'GET', header_name: 'authorization', count: 1 },
    ...{ first_seen: new Date('2026-11-23T11:00:00Z'), last_seen: NOW },
  });
});

test('an SDK name of another form is recorded as unknown', () => {
  assert.deepEqual(['typescript/1.4.2', 'python/3.0.0-rc.1', 'Node 1', 'x/', 'a/b c'].map(sdkName), [
    'typescript/1.4.2',
    'python/3.0.0-rc.1',
    'unknown',
    'unknown',
    'unknown',
  ]);
});

test('the confidence follows calls, days, escrow and header', () => {
  const of = (calls_30d: number, days_seen: number, has_escrow: boolean, has_credential_header: boolean) =>
    confidenceOf({ calls_30d, days_seen, has_escrow, has_credential_header });
  assert.deepEqual([of(10, 1, false, true), of(40, 3, false, false), of(1000, 7, true, true)], [0.57, 0.69, 0.99]);
});

test('a known host has its header; others are named after their domain', () => {
  assert.deepEqual(serviceOf('api.anthropic.com'), { name: 'anthropic', header_name: 'x-api-key', value_prefix: '' });
  assert.deepEqual(serviceOf('eu.api.acme.co.uk'), { name: 'acme', header_name: 'Authorization', value_prefix: 'Bearer ' });
  assert.deepEqual(serviceOf('api.acme.com', 'x-acme-token'), { name: 'acme', header_name: 'x-acme-token', value_prefix: '' });
});

const route = (slug: string, host: string, base_path: string) => ({
  ...{ host, base_path, slug, route_id: '33333333-4444-4555-8666-777777777777' },
  ...{ requires_clients: false, allowed_methods: null, updated_at: null },
});

test('the version is the digest of the entries as canonical JSON', () => {
  const routes = [
    { ...route('hubspot-crm', 'api.hubapi.com', '/crm/v3'), updated_at: '2026-09-25T00:00:00.000Z' },
    {
      ...route('hubspot', 'api.hubapi.com', '/'),
      ...{ route_id: '44444444-5555-4666-8777-888888888888', allowed_methods: ['GET', 'POST'], requires_clients: true },
    },
  ];
  assert.equal(versionOf(routes), 'sha256:e4ffeb051b7036dace23d37cfb6e05682a3120ddd4b2718d3955dc98d40b5aa7');
});

test('entries are ordered by host, longest path, path and slug, and twins are marked', () => {
  const ordered = inManifestOrder([
    route('b', 'b.com', '/'),
    route('z', 'a.com', '/'),
    route('y', 'a.com', '/v1'),
    route('a', 'a.com', '/v1'),
    route('c', 'a.com', '/v0'),
  ]);
  assert.deepEqual(
    ordered.map(({ host, base_path, slug, ambiguous }) => [host, base_path, slug, ambiguous ?? false]),
    [
      ['a.com', '/v0', 'c', false],
      ['a.com', '/v1', 'a', true],
      ['a.com', '/v1', 'y', true],
      ['a.com', '/', 'z', false],
      ['b.com', '/', 'b', false],
    ],
  );
});
