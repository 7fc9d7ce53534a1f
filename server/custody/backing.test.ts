import assert from 'node:assert/strict';
import test from 'node:test';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import { type Backing, backingFault, subjectOf } from './backing.ts';

const NOW = Date.now();
const ROLES = KEY_ROLES.filter(({ name }) => name === 'Key - Infrastructure').map(({ id }) => id);
const KEY = { id: 'k', live: true, ends_at: null, role_ids: ROLES, scoped: false, scopes: [], ip_allowlist: [] as string[] };
const CLIENT = { id: 'c', live: true, allowed_scopes: ['routes:read', 'proxy:invoke'] };
const PERSON = { id: 'p', role: 'admin' as const, reveal_secrets: false };
const NONE: Backing = { key: null, client: null, person: null };
const of = (parts: Partial<Backing>): Backing => ({ ...NONE, ...parts });

const CASES: readonly [string, Backing | null, 'ended' | 'address' | null, { people?: 'end' | 'stay'; ip?: string | null }?][] = [
  ['nothing is known to have minted it', null, null],
  ['what minted it is gone', NONE, 'ended'],
  ['a key that works', of({ key: KEY }), null],
  ['a key that was revoked or disabled', of({ key: { ...KEY, live: false } }), 'ended'],
  ['a key at its end', of({ key: { ...KEY, ends_at: NOW } }), 'ended'],
  ['a key before its end', of({ key: { ...KEY, ends_at: NOW + 1 } }), null],
  ['a key narrowed to other scopes', of({ key: { ...KEY, scoped: true, scopes: ['routes:read'] } }), 'ended'],
  ['a key narrowed to these scopes', of({ key: { ...KEY, scoped: true, scopes: ['proxy:invoke'] } }), null],
  ['a key without roles', of({ key: { ...KEY, role_ids: [] } }), 'ended'],
  ['a key of another address', of({ key: { ...KEY, ip_allowlist: ['198.51.100.0/24'] } }), 'address'],
  ['a key of this address', of({ key: { ...KEY, ip_allowlist: ['203.0.113.0/24'] } }), null],
  ['a key of some addresses, and a caller without one', of({ key: { ...KEY, ip_allowlist: ['203.0.113.0/24'] } }), 'address', { ip: null }],
  ['a client that works', of({ client: CLIENT }), null],
  ['a client that was revoked', of({ client: { ...CLIENT, live: false } }), 'ended'],
  ['a client that lost the scope', of({ client: { ...CLIENT, allowed_scopes: ['routes:read'] } }), 'ended'],
  ['the client of a key that was revoked', of({ client: { ...CLIENT, allowed_scopes: [] }, key: { ...KEY, live: false } }), 'ended'],
  ['the client of a key that works', of({ client: { ...CLIENT, allowed_scopes: [] }, key: KEY }), null],
  ['a person who left, where tokens stay', of({ person: { ...PERSON, role: null } }), null, { people: 'stay' }],
  ['a person who left, where tokens end', of({ person: { ...PERSON, role: null } }), 'ended', { people: 'end' }],
  ['a person whose role shrank', of({ person: { ...PERSON, role: 'viewer' } }), 'ended', { people: 'end' }],
  ['a person who may', of({ person: PERSON }), null, { people: 'end' }],
];

for (const [what, backing, fault, { people = 'stay', ip = '203.0.113.7' } = {}] of CASES)
  test(`a token of ${what}: ${fault ?? 'accepted'}`, () => {
    assert.equal(backingFault(backing, { needs: 'proxy:invoke', people }, { now: NOW, ip }), fault);
  });

test('what binds a key, its roles, its client or a person binds their tokens', () => {
  assert.deepEqual(subjectOf(of({ key: KEY, client: CLIENT })), { api_key_id: 'k', key_role_ids: ROLES, oauth_client_id: 'c' });
  assert.deepEqual(subjectOf(of({ person: PERSON })), { user_id: 'p', role: 'admin' });
  assert.deepEqual(subjectOf(null), {});
});
