import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import test from 'node:test';
import { isOwnNonce, NONCE_MS, newNonce } from './nonce.ts';

const key = createSecretKey(randomBytes(32));
const older = createSecretKey(randomBytes(32));
const now = new Date('2026-11-23T12:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);

test('a nonce holds for an hour in its directory, also after the key that made it was rotated', () => {
  const nonce = newNonce([older], 'd1', now);
  assert.match(nonce, /^[A-Za-z0-9_-]{48}$/);
  assert.notEqual(nonce, newNonce([older], 'd1', now));
  assert.ok(isOwnNonce([key, older], nonce, 'd1', later(NONCE_MS)));
  assert.ok(isOwnNonce([older], nonce, 'd1', later(-30_000)), 'the clock of another node is behind');
  assert.equal(isOwnNonce([older], nonce, 'd1', later(NONCE_MS + 1)), false);
  assert.equal(isOwnNonce([older], nonce, 'd1', later(-120_000)), false);
  assert.equal(isOwnNonce([older], nonce, 'd2', now), false);
  assert.equal(isOwnNonce([key], nonce, 'd1', now), false);
});

test('no other text is a nonce', () => {
  const nonce = newNonce([key], 'd1', now);
  const flipped = Buffer.from(nonce, 'base64url');
  for (let at = 0; at < flipped.length; at++) {
    const copy = Buffer.from(flipped);
    copy[at] = (copy[at] ?? 0) ^ 1;
    assert.equal(isOwnNonce([key], copy.toString('base64url'), 'd1', now), false, String(at));
  }
  for (const text of ['', nonce.slice(1), `${nonce}A`, ` ${nonce.slice(1)}`, `${nonce.slice(1)}=`, 'é'.repeat(48), '+'.repeat(48)])
    assert.equal(isOwnNonce([key], text, 'd1', now), false, text);
});
