import assert from 'node:assert/strict';
import test from 'node:test';
import { replayOf } from '#components/routes/tester/replay.ts';
import { environmentLabel } from '#components/ui/environment-label.ts';
import { compareCalls, differencesIn } from './compare.ts';
import { type Facets, facetGroups } from './facet-groups.ts';
import { type LogSearch, noFilters } from './list-search.ts';
import type { Detail } from './trace.ts';

const trace = (over: object = {}) => ({
  phases_ms: { inspect: 0.1, limit: 0.2 },
  request_headers: ['host', 'content-type', 'authorization', 'x-tenant'],
  response_headers: ['content-type'],
  limits: {},
  ...over,
});
const call = (over: Partial<Detail['log']> = {}): Detail =>
  ({
    log: {
      request_id: 'a',
      ts: '2026-03-05T10:00:30.000Z',
      method: 'POST',
      path: '/v1/charges?page=1',
      status_code: 200,
      origin: 'upstream',
      error: null,
      latency_ms: 20,
      upstream_ms: 18,
      upstream_status: 200,
      upstream_host: 'api.example',
      attempts: 1,
      request_bytes: 10,
      response_bytes: 2_048,
      environment: 'production',
      proxy_mode: 'route',
      secrets_used: ['STRIPE_KEY'],
      injected: ['header:X-Token'],
      warnings: [],
      trace: trace(),
      ...over,
    },
    route: null,
    client: null,
    api_key: null,
    related: [],
  }) as unknown as Detail;
const pair = (a: Detail, b: Detail, label: string) =>
  compareCalls(a, b)
    .flatMap(({ pairs }) => pairs)
    .find((one) => one.label === label);

test('two calls that are alike differ in nothing, whatever the clock made of them', () => {
  assert.equal(differencesIn(compareCalls(call(), call({ latency_ms: 21, upstream_ms: 19 }))), 0);
});

test('a phase too short to be noted on one side is no difference; an upstream that was asked only once is', () => {
  assert.equal(differencesIn(compareCalls(call(), call({ latency_ms: 19, upstream_ms: 18 }))), 0);
  assert.equal(pair(call({ upstream_ms: 1, latency_ms: 2 }), call({ upstream_ms: null, latency_ms: 1 }), 'Upstream')?.differs, true);
});

test('status, phases, headers and sizes that differ are marked, with how much', () => {
  const other = call({
    status_code: 502,
    error: 'upstream_unreachable',
    origin: 'service',
    latency_ms: 900,
    upstream_ms: 880,
    response_bytes: 100,
    trace: trace({ request_headers: ['host', 'content-type', 'x-debug'] }),
  });
  assert.deepEqual(pair(call(), other, 'Status'), { label: 'Status', a: '200', b: '502', differs: true });
  assert.deepEqual(pair(call(), other, 'Upstream'), {
    label: 'Upstream',
    a: '18\u00a0ms',
    b: '880\u00a0ms',
    differs: true,
    by: '+862\u00a0ms',
  });
  assert.deepEqual(pair(call(), other, 'Response size'), {
    label: 'Response size',
    a: '2.0 KiB',
    b: '100 B',
    differs: true,
    by: '−1.9 KiB',
  });
  assert.equal(pair(call(), other, 'x-debug')?.a, 'absent');
  assert.equal(pair(call(), other, 'authorization')?.differs, true);
  assert.equal(pair(call(), other, 'content-type')?.differs, false);
  assert.equal(pair(call(), other, 'Query')?.differs, false);
});

test('a comparison says nothing that the log does not: what was masked stays masked', () => {
  const masked = call({ path: '/pay/[redacted]?card=424242******4242' });
  const text = JSON.stringify(compareCalls(masked, call()));
  assert.match(text, /\[redacted\]/);
  assert.doesNotMatch(text, /4242424242424242/);
});

test('a call is tried again with its method, path and query; no credential, nothing we put in, and no value of a header', () => {
  const { trial, leftOut, blank, masked, hadBody } = replayOf(
    call({
      trace: trace({
        request_headers: ['Host', 'Content-Type', 'Authorization', 'X-Api-Key', 'Cookie', 'X-Token', 'X-Tenant', 'Content-Length', 'Range'],
      }),
    }),
  );
  assert.deepEqual([trial.method, trial.path, trial.body], ['POST', '/v1/charges?page=1', '']);
  assert.deepEqual(trial.headers, [
    { name: 'content-type', value: '' },
    { name: 'x-tenant', value: '' },
  ]);
  assert.deepEqual(leftOut, ['authorization', 'x-api-key', 'cookie', 'x-token']);
  assert.deepEqual([blank, masked, hadBody], [['content-type', 'x-tenant'], false, true]);
  assert.equal(replayOf(call({ path: '/pay/[redacted]' })).masked, true);
  assert.deepEqual(replayOf(call({ method: 'PROPFIND' })).otherMethod, 'PROPFIND');
});

const facets: Facets = {
  total: 10,
  total_is_capped: false,
  status_class: [],
  method: [{ value: 'GET', count: 10 }],
  environment: [],
  error: [],
  origin: [],
  outcome: [
    { value: 'ok', count: 5 },
    { value: 'refused', count: 3 },
    { value: 'failed', count: 2 },
  ],
  proxy_mode: [],
  route_id: [],
  client_id: [],
  api_key_id: [],
};
const search = { ...noFilters, range: '24h', from: null, to: null } as LogSearch;

test('a facet counts what its filter leaves: failed takes refused in; what all calls share is no choice, what is chosen stays one', () => {
  const [outcome, ...others] = facetGroups(facets, search);
  assert.deepEqual(
    outcome?.values.map(({ value, count }) => [value, count]),
    [
      ['ok', 5],
      ['failed', 5],
      ['refused', 3],
    ],
  );
  assert.deepEqual(others, []);
  const exact = facetGroups(facets, { ...search, status: '403' }).find(({ title }) => title === 'Status');
  assert.equal(exact?.values.find((one) => one.chosen)?.count, undefined, 'nobody counted the 403s: no figure is better than a wrong one');
  const chosen = facetGroups(facets, { ...search, status: '5xx' }).find(({ title }) => title === 'Status');
  assert.deepEqual(chosen?.values, [{ value: '5xx', label: '5xx', count: 0, chosen: true, change: { status: null } }]);
});

test('an environment facet shows the name it is given and filters by the stored one', () => {
  const counted = {
    ...facets,
    environment: [
      { value: 'production', count: 2 },
      { value: 'staging', count: 1 },
    ],
  };
  const shown = facetGroups(counted, search, (name) => environmentLabel(name, true)).find(({ title }) => title === 'Environment');
  assert.deepEqual(
    shown?.values.map(({ label, change }) => [label, change]),
    [
      ['production (Test)', { environment: 'production' }],
      ['staging', { environment: 'staging' }],
    ],
  );
});
