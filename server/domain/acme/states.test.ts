import assert from 'node:assert/strict';
import test from 'node:test';
import { type AuthorizationState, authorizationState, MOVES, mayMove, type OrderState, orderState } from './states.ts';

const now = new Date('2026-11-23T12:00:00Z');
const later = new Date(now.getTime() + 1);

/** The figures of RFC 8555 §7.1.6, line by line; everything else is no move. */
const FIGURES = {
  challenge: ['pending processing', 'processing valid', 'processing invalid', 'pending invalid'],
  authorization: [
    ...['valid', 'invalid', 'deactivated', 'expired', 'revoked'].map((to) => `pending ${to}`),
    ...['expired', 'deactivated', 'revoked'].map((to) => `valid ${to}`),
  ],
  order: ['pending ready', 'pending invalid', 'ready processing', 'ready invalid', 'processing valid', 'processing invalid'],
  account: ['pending valid', 'pending revoked', 'valid deactivated', 'valid revoked'],
} as const;

test('objects move as RFC 8555 §7.1.6 draws it, and in no other way', () => {
  for (const [kind, figure] of Object.entries(FIGURES) as [keyof typeof MOVES, readonly string[]][]) {
    const states = Object.keys(MOVES[kind]);
    for (const from of states)
      for (const to of states)
        assert.equal(mayMove(kind, from as never, to as never), figure.includes(`${from} ${to}`), `${kind}: ${from} to ${to}`);
  }
});

test('an authorization ends with its time unless it has ended before', () => {
  const at = (status: AuthorizationState) => [authorizationState(status, later, now), authorizationState(status, now, now)];
  assert.deepEqual(at('pending'), ['pending', 'expired']);
  assert.deepEqual(at('valid'), ['valid', 'expired']);
  for (const status of ['invalid', 'deactivated', 'revoked'] as const) assert.deepEqual(at(status), [status, status]);
});

test('an order is ready when every authorization is valid, and invalid when one is lost or its time is over', () => {
  const of = (...authorizations: AuthorizationState[]) => orderState('pending', later, authorizations, now);
  assert.equal(of('pending'), 'pending');
  assert.equal(of('valid', 'pending'), 'pending');
  assert.equal(of('valid', 'valid'), 'ready');
  for (const lost of ['invalid', 'deactivated', 'expired', 'revoked'] as const) {
    assert.equal(of('valid', lost), 'invalid');
    assert.equal(of('pending', lost), 'invalid');
    assert.equal(orderState('ready', later, [lost], now), 'invalid');
  }
  assert.equal(of(), 'invalid');
  assert.equal(orderState('pending', now, ['valid'], now), 'invalid');
  assert.equal(orderState('ready', now, ['valid'], now), 'invalid');
  for (const done of ['processing', 'valid', 'invalid'] as OrderState[]) assert.equal(orderState(done, now, ['expired'], now), done);
});
