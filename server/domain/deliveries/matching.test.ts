import assert from 'node:assert/strict';
import test from 'node:test';
import { passes } from './matching.ts';

const call = { route_id: 'a', status: 503, method: 'POST', environment: 'production' };

test('members of a filter must all hold, within one any of the list', () => {
  assert.ok(passes('request.completed', null, call));
  assert.ok(passes('request.completed', {}, call));
  assert.ok(passes('request.completed', { status_codes: ['429', '5xx'], methods: ['GET', 'POST'], routes: ['a', 'b'] }, call));
  assert.ok(!passes('request.completed', { status_codes: ['5xx'], methods: ['GET'] }, call));
  assert.ok(!passes('request.completed', { routes: ['b'] }, call));
  assert.ok(!passes('request.completed', { environments: ['staging'] }, call));
  assert.ok(!passes('request.completed', { status_codes: ['429', '4xx'] }, call));
  assert.ok(passes('request.received', { status_codes: ['429'], methods: ['POST'] }, { ...call, status: null }));
});

test('a filter of calls holds back no other event, and patterns match audit entries by type and action', () => {
  assert.ok(passes('secret.rotated', { routes: ['b'], audit: ['route.*'] }, null));
  const audit = { audit: 'secret.update' };
  for (const pattern of ['secret.*', 'secret.update', '*.update', '*.*'])
    assert.ok(passes('audit.event', { audit: [pattern] }, audit), pattern);
  for (const pattern of ['route.*', 'secret.create', 'secret_share.*'])
    assert.ok(!passes('audit.event', { audit: [pattern] }, audit), pattern);
  assert.ok(passes('audit.event', { audit: ['vault.vault.detokenize'] }, { audit: 'vault.vault.detokenize' }));
});
