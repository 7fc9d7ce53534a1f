import assert from 'node:assert/strict';
import test from 'node:test';
import { detokenize } from '#server/custody/vaults/detokenize.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import type { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { workspace } from '#server/testing/workspace.ts';
import { noticeExpiringCards, sweepExpired } from './expiry.ts';
import { purgeVaults } from './purge.ts';
import { makeVault } from './vaults.fixture.ts';

await ownDatabase();
const HOUR = 3_600_000;

test('an expired token is told apart until it is swept, with its value, and its text comes back after 30 days', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { default_ttl_seconds: 60, dedupe: true });
  const [ends, stays] = await tokenize(w.live, vault, [{ value: 'a' }, { value: 'b', ttl_seconds: null }]);
  const at = (ms: number) => ({ ...w.live, now: new Date(w.live.now.getTime() + ms) });
  const outcome = (ms: number) =>
    detokenize(at(ms), vault, ends?.token ?? '').then(
      ({ value }) => value,
      (error: Refusal) => error.type,
    );
  assert.deepEqual([await outcome(59_000), await outcome(60_000)], ['a', 'token_expired']);
  const [anew] = await tokenize(at(61_000), vault, [{ value: 'a' }]);
  assert.notEqual(anew?.token, ends?.token, 'an expired token is not reused');
  await Promise.all([sweepExpired(db(), at(2 * HOUR).now), sweepExpired(db(), at(2 * HOUR).now)]);
  assert.equal(await outcome(2 * HOUR), 'not_found');
  assert.equal((await detokenize(at(2 * HOUR), vault, stays?.token ?? '')).value, 'b');
  const audits = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'delete', resource_type: 'vault_token' } });
  assert.equal(
    audits.reduce((n, { details }) => n + Number((details as { count: number }).count), 0),
    2,
  );
  assert.equal(await db().vault_tokens.count({ where: { vault_id: vault.id } }), 3);
  await purgeVaults(at(2 * HOUR + 31 * 24 * HOUR).now);
  assert.equal(await db().vault_tokens.count({ where: { vault_id: vault.id } }), 1);
});

test('a card that ends is told of 60 and 30 days before, once each, also after a missed day', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { token_format: 'pan' });
  const day = (text: string) => new Date(`${text}T00:15:00Z`);
  const made = { ...w.live, now: day('2029-01-01') };
  const [card] = await tokenize(made, vault, [{ value: '4242424242424242', card_exp_month: 7, card_exp_year: 2029 }]);
  await tokenize(made, vault, [{ value: '4242424242424242' }]);
  await tokenize({ ...w.live, now: day('2029-07-10') }, vault, [{ value: '4111111111111111', card_exp_month: 7, card_exp_year: 2029 }]);
  const events = await watchEvents(w.live, 'vault.token.expiring');
  const given: [string, number][] = [];
  for (const today of ['2029-05-31', '2029-06-01', '2029-06-02', '2029-06-03', '2029-07-03', '2029-07-04', '2029-07-31', '2029-08-10']) {
    const [one, other] = await Promise.all([noticeExpiringCards(db(), day(today)), noticeExpiringCards(db(), day(today))]);
    if (one + other > 0) given.push([today, one + other]);
  }
  assert.deepEqual(given, [
    ['2029-06-01', 1],
    ['2029-07-03', 1],
  ]);
  const notices = await db().vault_card_notices.findMany({ orderBy: { days_before: 'desc' } });
  assert.deepEqual(
    notices.map(({ token_id, days_before }) => [token_id, days_before]),
    [
      [card?.id, 60],
      [card?.id, 30],
    ],
  );
  const told = await events();
  assert.deepEqual(
    told.map(({ about }) => about),
    [card?.id, card?.id],
  );
  assert.ok(!JSON.stringify(told).includes('4242424242424242'));
});
