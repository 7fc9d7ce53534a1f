import assert from 'node:assert/strict';
import test from 'node:test';
import type { Log } from './call-kind.ts';
import { summaryOf, wordsOfWarning } from './call-summary.ts';
import { logFilters, noFilters, spanOf } from './list-search.ts';
import { matchesLive } from './matches-filters.ts';
import { barsOf, errorsOf } from './series.ts';
import { readQuery } from './typed-query.ts';

const known = {
  routes: [
    { id: 'r-1', name: 'Payments', slug: 'payments' },
    { id: 'r-2', name: 'Pay later', slug: 'later' },
  ],
  collections: [{ id: 'k-9', name: 'Money', slug: 'money' }],
  clients: [{ id: 'c-1', name: 'ci runner' }],
  keys: [{ id: 'k-1', name: 'CI/CD', slug: 'tk_live_KpF9c2kCRVgn' }],
};

test('words of the grammar become filters and the rest stays text', () => {
  const { change, rest, unknown } = readQuery('route:payments status:5xx latency:>800 ip:203.0.113.0/24 "read timeout" /v1', known);
  assert.deepEqual(change, { route_id: 'r-1', status: '5xx', slower: 800, ip: '203.0.113.0/24' });
  assert.equal(rest, 'read timeout /v1');
  assert.deepEqual(unknown, []);
});

test('a key is named by its name or its key id, never by a whole key; a word says how a call ended', () => {
  assert.deepEqual(readQuery('collection:money', known).change, { collection_id: 'k-9' });
  assert.deepEqual(readQuery('key:ci/cd is:refused', known).change, { api_key_id: 'k-1', outcome: 'refused' });
  assert.deepEqual(readQuery('key:tk_live_KpF9c2kCRVgn is:test', known).change, { api_key_id: 'k-1', mode: 'test' });
  assert.deepEqual(readQuery('key:nobody is:odd', known).unknown, ['key:nobody', 'is:odd']);
});

test('a value that cannot be right is named, never searched for silently', () => {
  assert.deepEqual(readQuery('status:9zz route:nobody', known).unknown, ['status:9zz', 'route:nobody']);
});

test('an ambiguous start of a name chooses nothing', () => {
  assert.deepEqual(readQuery('route:pa', known).unknown, ['route:pa']);
  assert.deepEqual(readQuery('client:"ci runner"', known).change, { client_id: 'c-1' });
});

test('a colon that is no word of the grammar is text: URLs can be searched', () => {
  assert.equal(readQuery('https://x/y', known).rest, 'https://x/y');
});

test('the default span asks without a time, so that server and browser agree on the key', () => {
  assert.deepEqual(spanOf({ range: '24h', from: null, to: null }, 0), {});
  assert.deepEqual(spanOf({ range: '15m', from: null, to: null }, 900_000), { from: '1970-01-01T00:00:00.000Z' });
  assert.deepEqual(spanOf({ range: '24h', from: 'nonsense', to: null }, 0), {});
});

const log = (over: Partial<Log>): Log =>
  ({
    status_code: 200,
    method: 'GET',
    path: '/a',
    origin: 'upstream',
    error: null,
    latency_ms: 10,
    upstream_ms: 8,
    upstream_host: 'api.example',
    upstream_status: 200,
    attempts: 1,
    rate_limited: false,
    src_ip: '203.0.113.9',
    ...over,
  }) as Log;

test('live calls are sorted into outcomes as the list sorts them', () => {
  const outcomes = (over: Partial<Log>) => (['ok', 'failed', 'refused'] as const).filter((outcome) => matchesLive(log(over), { outcome }));
  assert.deepEqual(outcomes({ status_code: 404 }), ['ok'], 'an answer of the upstream');
  assert.deepEqual(outcomes({ status_code: 500 }), ['failed']);
  assert.deepEqual(outcomes({ status_code: 429, error: 'route_rate_limit_exceeded' }), ['failed', 'refused']);
  assert.deepEqual(outcomes({ status_code: 502, error: 'upstream_unreachable' }), ['failed'], 'we tried');
  assert.equal(matchesLive(log({ proxy_mode: 'test' }), { proxy_mode: 'route' }), false);
});

test('a live call is judged by the filters of the list', () => {
  const filters = logFilters({ ...noFilters, range: '24h', from: null, to: null, status: '4xx', ip: '203.0.113.9' });
  assert.equal(matchesLive(log({ status_code: 404 }), filters), true);
  assert.equal(matchesLive(log({}), filters), false);
  assert.equal(matchesLive(log({ status_code: 404, src_ip: '198.51.100.1' }), filters), false);
});

test('what happened is said in words, and a refusal names its rule', () => {
  assert.equal(summaryOf(log({})), 'api.example answered 200 in 8 ms, 2 ms gateway.');
  assert.equal(
    summaryOf(log({ status_code: 403, origin: 'service', error: 'ip_not_allowed' })),
    '403 from the gateway: the caller’s IP address isn’t allowed.',
  );
  assert.match(summaryOf(log({ status_code: 502, origin: 'service', error: 'upstream_unreachable' })), /connect to the upstream/);
  assert.match(summaryOf(log({ status_code: null })), /disconnected/);
  assert.match(summaryOf(log({ status_code: 418, origin: 'service', error: 'code_of_next_year' })), /code of next year/);
});

test('bars without calls stand in the chart too', () => {
  const stats = {
    from: '2026-01-01T00:00:30.000Z',
    to: '2026-01-01T00:03:00.000Z',
    step_seconds: 60,
    series: [{ at: '2026-01-01T00:01:00.000Z', total: 3, c2xx: 2, c3xx: 0, c4xx: 0, c5xx: 1, other: 0, errors: 1 }],
  };
  const bars = barsOf(stats);
  assert.deepEqual(
    bars.map((bar) => bar.ok ?? 0),
    [0, 2, 0],
    'none begins where the span ends',
  );
  assert.deepEqual(errorsOf(stats), [0, 1, 0]);
  assert.equal(bars[1]?.server_error, 1);
});

test('what a row remarks is said in words, and a remark of a later release as it stands', () => {
  for (const [warning, words] of [
    ['expired:STRIPE_KEY', /^The secret STRIPE_KEY had expired/],
    ['unconfirmed:754', /settings from 13 min earlier/],
    ['suppressed:12', /^12 similar calls/],
    ['something:new', /^something:new$/],
    ['plain', /^plain$/],
  ] as const)
    assert.match(wordsOfWarning(warning), words);
});
