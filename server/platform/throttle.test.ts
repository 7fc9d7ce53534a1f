import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { network, take, throttled } from './throttle.ts';

await testDatabase();

const rule = (subject: string) => ({ what: 'test', subject, limit: 3, window_sec: 3600 });
const at = (minutes: number) => new Date(1_800_000_000_000 + minutes * 60_000);

test('the fourth attempt of an hour is refused with the seconds to wait, and works after them', async () => {
  for (const minute of [0, 1, 2]) assert.equal((await take(rule('a'), at(minute))).allowed, true);
  const refused = await take(rule('a'), at(3));
  assert.equal(refused.allowed, false);
  assert.ok(refused.retry_after > 55 * 60 && refused.retry_after <= 65 * 60, String(refused.retry_after));
  assert.equal((await take(rule('a'), at(56))).allowed, false, 'the window slides, it does not start anew on the hour');
  assert.equal((await take(rule('a'), new Date(at(3).getTime() + refused.retry_after * 1000))).allowed, true);
});

test('of many attempts at once exactly the allowed number passes', async () => {
  const results = await Promise.all(Array.from({ length: 20 }, () => take(rule('b'), at(0))));
  assert.equal(results.filter((r) => r.allowed).length, 3);
});

test('an attempt given back does not count, and a rule that refuses leaves the others uncounted', async () => {
  for (let i = 0; i < 5; i++) await (await take(rule('c'), at(0))).give_back();
  assert.equal((await take(rule('c'), at(0))).allowed, true);
  for (let i = 0; i < 3; i++) await take(rule('d'), at(0));
  for (let i = 0; i < 5; i++)
    await assert.rejects(throttled([rule('e'), rule('d')], at(0), 'rate_limited'), { type: 'rate_limited', status: 429 });
  for (let i = 0; i < 3; i++) assert.equal((await take(rule('e'), at(0))).allowed, true);
});

test('IPv6 counts by /64, IPv4 by address, mapped addresses as IPv4', () => {
  assert.equal(network('2001:db8:1:2:3:4:5:6'), network('2001:db8:1:2:ffff::1'));
  assert.notEqual(network('2001:db8:1:2::1'), network('2001:db8:1:3::1'));
  assert.notEqual(network('192.0.2.1'), network('192.0.2.2'));
  assert.equal(network('::ffff:192.0.2.1'), network('192.0.2.1'));
  assert.equal(network(null), 'unknown');
});
