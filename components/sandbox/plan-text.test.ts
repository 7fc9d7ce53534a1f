import assert from 'node:assert/strict';
import test from 'node:test';
import { countedKind, fieldOf, type Item, noteOf, stateOf } from './plan-text.ts';

const item = (over: Partial<Item>): Item => ({
  type: 'route',
  source_id: '0',
  target_id: null,
  name: 'payments',
  slug: 'payments',
  picked: true,
  action: 'create',
  reason: null,
  enabled: true,
  changes: [],
  needs_values: [],
  upstreams: [],
  left_behind: [],
  ...over,
});

test('a route that would serve calls at once is never told without that', () => {
  assert.match(noteOf(item({}), { to: 'live' }), /On in Live immediately/);
  assert.doesNotMatch(noteOf(item({ enabled: false, reason: 'It stays off until KEY is filled.' }), { to: 'live' }), /immediately/);
});

test('what differs and waits is never called the same', () => {
  const changes = [{ field: 'allowed_hosts', environment: null, from: null, to: ['a.example.com'] }];
  for (const stage of ['pick', 'plan', 'done'] as const) assert.equal(stateOf(item({ action: 'skip', changes }), stage).text, 'Waiting');
  assert.equal(stateOf(item({ action: 'skip' }), 'pick').text, 'Unchanged');
});

test('what comes along, and what stays behind, is said', () => {
  assert.match(
    noteOf(item({ type: 'secret', picked: false, enabled: null }), { to: 'live' }),
    /Copied without its value.*Included because/,
  );
  assert.match(noteOf(item({ type: 'client', enabled: null, left_behind: ['address 10.0.0.0/8'] }), { to: 'live' }), /Not copied: address/);
});

test('fields read as settings with their environment, numbers with their noun', () => {
  assert.equal(fieldOf({ field: 'timeout_ms', environment: 'staging', from: 1, to: 2 }), 'Timeout (ms) (staging)');
  const inherited = ['a', 'b', 'c', 'd'];
  assert.equal(fieldOf({ field: 'timeout_ms', environment: 'staging', from: 1, to: 2, also_in: ['a'] }), 'Timeout (ms) (staging and a)');
  assert.equal(
    fieldOf({ field: 'timeout_ms', environment: 'staging', from: 1, to: 2, also_in: inherited }),
    'Timeout (ms) (staging, a, b, and 2 more)',
  );
  assert.equal(fieldOf({ field: 'variable region', environment: null, from: 'eu', to: 'us' }), 'Variable region');
  assert.deepEqual([countedKind(1, 'route'), countedKind(2_000, 'secret')], ['1 route', '2,000 secrets']);
});
