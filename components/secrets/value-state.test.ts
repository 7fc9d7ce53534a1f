import assert from 'node:assert/strict';
import test from 'node:test';
import { cellOf, healthOf } from './value-state.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
const days = (n: number) => new Date(now + n * 86_400_000).toISOString();
const value = (environment_name: string, expires_at_override: string | null = null) => ({
  environment_name,
  value_version: 3,
  updated_at: days(-1),
  expires_at_override,
});
const secret = (over: Partial<Parameters<typeof healthOf>[0]> = {}) => ({
  environments: [value('production')],
  expires_at: null,
  strict_expiry_enforcement: false,
  rotation_due_at: null,
  ...over,
});

test('a cell is missing, set, expiring within thirty days or expired, and the date of the environment stands in for the secret’s', () => {
  assert.deepEqual(cellOf(secret(), 'staging', now), { state: 'missing' });
  assert.deepEqual(cellOf(secret(), 'production', now), { state: 'set', version: 3, ends_at: null });
  assert.equal(cellOf(secret({ expires_at: days(31) }), 'production', now).state, 'set');
  assert.equal(cellOf(secret({ expires_at: days(30) }), 'production', now).state, 'expiring');
  assert.equal(cellOf(secret({ expires_at: days(0) }), 'production', now).state, 'expired', 'the instant itself is past');
  assert.equal(cellOf(secret({ expires_at: days(-5), environments: [value('production', days(90))] }), 'production', now).state, 'set');
});

test('the badge of a secret is that of its worst value and names the first end', () => {
  assert.deepEqual(healthOf(secret(), now), { health: 'ok', ends_at: null });
  assert.deepEqual(healthOf(secret({ environments: [] }), now), { health: 'empty', ends_at: null });
  assert.equal(healthOf(secret({ rotation_due_at: days(-1) }), now).health, 'due');
  assert.equal(healthOf(secret({ rotation_due_at: days(1) }), now).health, 'ok');
  const two = secret({ environments: [value('production', days(300)), value('staging', days(3))], rotation_due_at: days(-1) });
  assert.deepEqual(healthOf(two, now), { health: 'expiring', ends_at: days(3) });
  assert.equal(healthOf(secret({ environments: [value('a', days(3)), value('b', days(-3))] }), now).health, 'expired');
});
