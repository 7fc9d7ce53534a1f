import assert from 'node:assert/strict';
import test from 'node:test';
import { parseEnv } from '../server/platform/env.ts';
import { addresses } from './addresses.ts';

const labels = (roles: string) =>
  addresses(parseEnv({ SALLYPORT_ROLES: roles, DATA_DIR: '/data' }))
    .split('\n')
    .map((line) => line.slice(2, 14).trim());

test('a start prints the addresses that its roles serve, and a worker prints none', () => {
  assert.deepEqual(labels('gateway,web,worker'), ['Dashboard', 'Live API', 'Test API', 'Workspaces', 'Roles', 'Data']);
  assert.deepEqual(labels('gateway'), ['Live API', 'Test API', 'Workspaces', 'Roles', 'Data']);
  assert.deepEqual(labels('web'), ['Dashboard', 'Live API', 'Test API', 'Roles', 'Data']);
  assert.deepEqual(labels('worker'), ['Roles', 'Data']);
  assert.doesNotMatch(addresses(parseEnv({ SALLYPORT_ROLES: 'worker' })), /http/);
});
