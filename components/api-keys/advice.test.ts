import assert from 'node:assert/strict';
import test from 'node:test';
import { adviceOf } from './advice.ts';
import { roleName } from './key-words.ts';

test('each purpose is answered with the narrowest role that serves it, and only Live has keys that end by themselves', () => {
  const told = (...of: Parameters<typeof adviceOf>) => {
    const { role_ids, key_type } = adviceOf(...of);
    return [...role_ids.map(roleName), key_type];
  };
  assert.deepEqual(told('call', 'fixed', false, 'live'), ['Invoke', 'standard']);
  assert.deepEqual(told('build', 'anywhere', true, 'live'), ['Editor', 'access_key']);
  assert.deepEqual(told('watch', 'anywhere', true, 'test'), ['Read-only', 'standard']);
  assert.match(adviceOf('call', 'fixed', false, 'live').reasons.join(' '), /Allowed addresses/);
});
