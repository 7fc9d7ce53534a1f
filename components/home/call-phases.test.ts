import assert from 'node:assert/strict';
import test from 'node:test';
import { phasesOf } from './call-phases.ts';

test('the phases of a call add up to what the caller waited', () => {
  const phases = phasesOf({ latency_ms: 30, upstream_ms: 20 }, { phases_ms: { inspect: 0.5, limit: 1.5 } });
  assert.equal(Math.round(phases.reduce((sum, phase) => sum + phase.ms, 0)), 30);
  assert.deepEqual(
    phases.filter((phase) => phase.where === 'upstream').map((phase) => phase.ms),
    [20],
  );
});

test('a call without a recorded trace still shows our part and the upstream’s', () => {
  assert.deepEqual(phasesOf({ latency_ms: 12, upstream_ms: 9 }, null), [
    { name: 'upstream', ms: 9, where: 'upstream' },
    { name: 'gateway', ms: 3, where: 'inside' },
  ]);
  assert.deepEqual(phasesOf({ latency_ms: null, upstream_ms: null }, null), [{ name: 'gateway', ms: 0, where: 'inside' }]);
});
