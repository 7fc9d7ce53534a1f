import assert from 'node:assert/strict';
import test from 'node:test';
import type { Capability } from './capabilities.ts';
import { areMet, capabilitiesOf, type Needs, sufficientSets } from './needs.ts';

const holding = (...capabilities: Capability[]) => new Set(capabilities);

test('a list is all of it', () => {
  const needs: Needs = ['route:read', 'log:list'];
  assert.deepEqual(sufficientSets(needs), [['route:read', 'log:list']]);
  assert.ok(areMet(needs, holding('route:read', 'log:list', 'client:read')));
  assert.ok(!areMet(needs, holding('route:read')));
});

test('any of several suffices, and one of them may be several together', () => {
  const needs: Needs = { any: ['route:read', { all: ['client:read', 'secret:read'] }] };
  assert.deepEqual(sufficientSets(needs), [['route:read'], ['client:read', 'secret:read']]);
  assert.ok(areMet(needs, holding('route:read')));
  assert.ok(areMet(needs, holding('client:read', 'secret:read')));
  assert.ok(!areMet(needs, holding('client:read')));
  assert.ok(!areMet(needs, holding()));
});

test('all of several, one of which may be a choice', () => {
  const needs: Needs = { all: ['route:update', { any: ['client:read', 'secret:read'] }] };
  assert.deepEqual(sufficientSets(needs), [
    ['route:update', 'client:read'],
    ['route:update', 'secret:read'],
  ]);
  assert.deepEqual(capabilitiesOf(needs), ['route:update', 'client:read', 'secret:read']);
  assert.ok(areMet(needs, holding('secret:read', 'route:update')));
  assert.ok(!areMet(needs, holding('secret:read', 'client:read')));
});

test('a choice of nothing is never met, and any credential needs no capability', () => {
  assert.ok(!areMet({ any: [] }, holding('route:read')));
  assert.ok(areMet('any', holding()));
  assert.deepEqual(capabilitiesOf('any'), []);
});
