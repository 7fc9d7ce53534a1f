import assert from 'node:assert/strict';
import test from 'node:test';
import { queryText } from './query-text.ts';

const token = 'tk_live_abcdefghijkl_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO';

test('of a credential only eight characters stay, wherever in the text it stands', () => {
  for (const typed of [token, ` ${token} `, `Authorization: Bearer ${token}`, `KEY="${token}"`, `x=${token};y`]) {
    const { kept, sent, credential } = queryText(typed);
    assert.deepEqual([kept, sent, credential], ['tk_live_', 'tk_live_', true], typed);
  }
  for (const pasted of [
    `sk_live_${'4eC39HqLyjWDarjtT1'}`,
    `ghp_${'a1'.repeat(18)}`,
    `AKIA${'ABCDEFGH12345678'}`,
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln`,
    'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ',
    '9f86d081884c7d659a2feaa0c55ad015',
    '-----BEGIN PRIVATE KEY-----',
  ]) {
    const { kept, sent, credential } = queryText(pasted);
    assert.ok(credential && kept.length <= 8 && sent.length <= 8, pasted);
  }
});

test('names, ids, addresses and actions are no credentials', () => {
  for (const typed of [
    'payments',
    'sk_prices',
    'my-very-long-route-name-without-any-end',
    '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
    'req:0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
    '203.0.113.0/24',
    '> rotate key build',
  ])
    assert.deepEqual(queryText(typed), { kept: typed, sent: typed, credential: false });
});

test('of an address only the host leaves the browser', () => {
  assert.equal(queryText('https://user:pw@hooks.slack.com:443/services/T0/B0/xyz?token=1').sent, 'hooks.slack.com');
});
