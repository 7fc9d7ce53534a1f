import assert from 'node:assert/strict';
import test from 'node:test';
import { adviceOf } from './advice.ts';
import { roleName } from './key-labels.ts';

test('each purpose is answered with the narrowest role that serves it, and a key that should expire gets a date in Live and in Test', () => {
  const told = (...of: Parameters<typeof adviceOf>) => {
    const { role_ids, expires_in_days } = adviceOf(...of);
    return [...role_ids.map(roleName), expires_in_days];
  };
  assert.deepEqual(told('call', 'fixed', false, 'live'), ['Invoke', null]);
  assert.deepEqual(told('build', 'anywhere', true, 'live'), ['Editor', 90]);
  assert.deepEqual(told('watch', 'anywhere', true, 'test'), ['Read-only', 90]);
  assert.match(adviceOf('call', 'fixed', false, 'live').reasons.join(' '), /Allowed IP addresses/);
});
