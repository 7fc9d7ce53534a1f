import assert from 'node:assert/strict';
import test from 'node:test';
import { changesIn, type Entry, lineOf, pageOf } from './entry-text.ts';

const entry = (over: Partial<Entry>): Entry => ({
  id: '0b9c1f5e-1f2b-4c58-9a4e-3d3f7f0a1b2c',
  action: 'update',
  resource_type: 'route',
  resource_id: 'r1',
  details: { sandbox: false, name: 'payments' },
  ip_address: null,
  ip_country: null,
  created_at: '2026-01-01T00:00:00.000Z',
  store: 'general',
  sandbox: false,
  actor: { type: 'user', id: 'u1', label: 'dana@acme.example', photo: null },
  request_id: null,
  user_agent: null,
  sequence_number: null,
  ...over,
});

test('an entry reads as a sentence', () => {
  assert.equal(lineOf(entry({})), 'dana@acme.example changed route payments');
  assert.equal(lineOf(entry({ action: 'create', resource_type: 'api_key' })), 'dana@acme.example created API key payments');
});

test('a sign-in has no object, and system work has a name', () => {
  assert.equal(lineOf(entry({ action: 'login', resource_type: 'session' })), 'dana@acme.example signed in');
  assert.equal(
    lineOf(entry({ actor: { type: 'system', id: null, label: null, photo: null }, action: 'disable' })),
    'Sallyport disabled route payments',
  );
});

test('what moved between the spaces, and that Test was reset, are sentences', () => {
  const moved = entry({ action: 'promote', resource_type: 'sandbox', details: { name: 'from Test to Live' } });
  assert.equal(lineOf(moved), 'dana@acme.example moved configuration from Test to Live');
  assert.equal(lineOf(entry({ action: 'reset', resource_type: 'sandbox', details: { name: 'Test' } })), 'dana@acme.example reset Test');
});

test('an action this release does not know is still readable', () => {
  assert.equal(
    lineOf(entry({ action: 'vault.detokenize', resource_type: 'vault', details: {} })),
    'dana@acme.example vault detokenize vault',
  );
});

test('details that were withheld or are odd make no changes and no crash', () => {
  assert.deepEqual(changesIn(entry({ details: { sandbox: true } })), []);
  assert.deepEqual(changesIn(entry({ details: { changes: [null, 'x', { to: 1 }, { field: 'name', from: 'a', to: 'b' }] } })), [
    { field: 'name', from: 'a', to: 'b' },
  ]);
});

test('what was deleted has no page to go to', () => {
  assert.equal(pageOf(entry({ action: 'delete' })), undefined);
  assert.equal(pageOf(entry({})), '/routes/r1');
  assert.equal(pageOf(entry({ resource_type: 'api_key' })), '/api-keys');
});
