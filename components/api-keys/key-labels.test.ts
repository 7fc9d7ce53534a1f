import assert from 'node:assert/strict';
import test from 'node:test';
import { KEY_ROLES } from '#server/domain/roles/catalogue.shared.ts';
import { endOf, halvesOf, limitInWords, narrowestRole, roleName, stateOf, swallowed } from './key-labels.ts';

test('a limit is said per its window', () => {
  assert.equal(limitInWords(600, 60), '600 per minute');
  assert.equal(limitInWords(5, 90), '5 per 90 seconds');
  assert.equal(limitInWords(null, 60), undefined);
});

test('a new key starts with the role that gives least', () => {
  assert.deepEqual(['owner', 'admin', 'editor'].flatMap(narrowestRole).map(roleName), ['Invoke', 'Invoke', 'Invoke']);
  assert.deepEqual(narrowestRole('viewer').map(roleName), ['Read-only']);
  const [invoke] = KEY_ROLES.filter((role) => narrowestRole('owner').includes(role.id));
  assert.ok(invoke && KEY_ROLES.every((role) => role.capabilities.size >= invoke.capabilities.size));
});

test('the halves of a key join to the key', () => {
  const key = 'tk_live_KpF9c2kCRVgn_22P78vWhqvTXRxlZfhVcIvSVnNDFnFVO70Hj8fS0mc3y30IVRcs';
  const { client_id, client_secret } = halvesOf(key, 'tk_live_KpF9c2kCRVgn');
  assert.equal(`${client_id}_${client_secret}`, key);
});

test('a key near its end, past it and revoked are told apart', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const key = { active: true, revoked_at: null, revoke_at: null, expires_at: '2026-01-05T00:00:00Z' };
  assert.equal(stateOf(key, now).label, 'Expires soon');
  assert.equal(stateOf({ ...key, active: false, expires_at: '2025-12-31T00:00:00Z' }, now).label, 'Expired');
  assert.equal(stateOf({ active: false, revoked_at: '2025-12-31T00:00:00Z', revoke_at: null, expires_at: null }, now).label, 'Revoked');
  const replaced = { ...key, revoke_at: '2026-01-02T00:00:00Z' };
  assert.deepEqual([stateOf(replaced, now).label, endOf(replaced), endOf(key)], ['Replaced', replaced.revoke_at, key.expires_at]);
});

test('a narrow role ticked beside one that gives all of it is told to narrow nothing; roles that each add something are left alone', () => {
  const id = (name: string) => KEY_ROLES.find((role) => role.name === `Key - ${name}`)?.id ?? '';
  assert.deepEqual(swallowed([id('Editor'), id('Invoke')]), { wide: 'Editor', narrow: 'Invoke' });
  assert.equal(swallowed([id('Invoke'), id('Read-only')]), undefined, 'calling is not reading');
  assert.equal(swallowed([id('Editor')]), undefined);
});
