import assert from 'node:assert/strict';
import test from 'node:test';
import type { Capability } from './capabilities.ts';
import { capabilitiesOf, isSatisfied, type Needs, sufficientSets } from './needs.ts';

const holding = (...capabilities: Capability[]) => new Set(capabilities);

test('a list is all of it', () => {
  const needs: Needs = ['route:read', 'log:list'];
  assert.deepEqual(sufficientSets(needs), [['route:read', 'log:list']]);
  assert.ok(isSatisfied(needs, holding('route:read', 'log:list', 'client:read')));
  assert.ok(!isSatisfied(needs, holding('route:read')));
});

test('any of several suffices, and one of them may be several together', () => {
  const needs: Needs = { any: ['route:read', { all: ['client:read', 'secret:read'] }] };
  assert.deepEqual(sufficientSets(needs), [['route:read'], ['client:read', 'secret:read']]);
  assert.ok(isSatisfied(needs, holding('route:read')));
  assert.ok(isSatisfied(needs, holding('client:read', 'secret:read')));
  assert.ok(!isSatisfied(needs, holding('client:read')));
  assert.ok(!isSatisfied(needs, holding()));
});

test('all of several, one of which may be a choice', () => {
  const needs: Needs = { all: ['route:update', { any: ['client:read', 'secret:read'] }] };
  assert.deepEqual(sufficientSets(needs), [
    ['route:update', 'client:read'],
    ['route:update', 'secret:read'],
  ]);
  assert.deepEqual(capabilitiesOf(needs), ['route:update', 'client:read', 'secret:read']);
  assert.ok(isSatisfied(needs, holding('secret:read', 'route:update')));
  assert.ok(!isSatisfied(needs, holding('secret:read', 'client:read')));
});

test('a choice of nothing is never met, and any credential needs no capability', () => {
  assert.ok(!isSatisfied({ any: [] }, holding('route:read')));
  assert.ok(isSatisfied('any', holding()));
  assert.deepEqual(capabilitiesOf('any'), []);
});
