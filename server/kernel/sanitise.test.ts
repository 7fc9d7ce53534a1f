import assert from 'node:assert/strict';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { sanitiseDetails } from './sanitise.ts';

test('no caller can keep a process busy with a text that is almost a credential', async () => {
  const almost = [
    'eyJaaaaaaaaaa',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    'sk_live_',
    'xoxb-',
    'whsec_',
    'ghp_',
    'https://a@',
    'tk_live_',
    'a.',
    'a://',
    'a://b?',
    'x-',
  ];
  for (const piece of almost)
    await assertGrowsLinearly(piece, 200_000, (size) => ({ text: piece.repeat(size / piece.length) }), sanitiseDetails);
});

test('what is named or shaped like a credential never gets into a detail, wherever it stands', () => {
  const secrets = [
    `sk_${'live'}_51H8exampleexample`,
    `rk_${'live'}_51H8exampleexample`,
    `gh${'p'}_${'a1B2'.repeat(9)}`,
    `github_${'pat'}_${'a1B2'.repeat(9)}`,
    `AK${'IA'}IOSFODNN7EXAMPLE`,
    `AS${'IA'}IOSFODNN7EXAMPLE`,
    `xo${'xb'}-123456789012-abcdefghijkl`,
    `AI${'za'}${'Sy0_-'.repeat(7)}`,
    `sk-${'ant'}-${'abc123'.repeat(6)}`,
    `tk_live_${'a'.repeat(12)}_${'B'.repeat(51)}`,
    `-----BEGIN RSA PRIVATE ${'KEY'}-----\nMIIE\n-----END RSA PRIVATE ${'KEY'}-----`,
  ];
  for (const secret of secrets)
    for (const details of [{ text: secret }, { a: [{ b: `x ${secret} y` }] }, { changes: [{ field: 'f', from: secret, to: secret }] }])
      assert.ok(!JSON.stringify(sanitiseDetails(details)).includes(secret.slice(0, 24)), secret.slice(0, 12));
  for (const key of [
    'password',
    'Client-Secret',
    'old_password',
    'X-Api-Key',
    'access_token',
    'PRIVATE_KEY',
    'Proxy-Authorization',
    'value',
    'cvv',
    'pin',
  ])
    assert.deepEqual(sanitiseDetails({ [key]: 'plain words', deep: { [key]: 7 } }), { deep: {} }, key);
  assert.deepEqual(sanitiseDetails({ secret: true, token: null, value_version: 3, spinning: 'x' }), {
    secret: true,
    token: null,
    value_version: 3,
    spinning: 'x',
  });
});

test('URLs lose userinfo and query, also in the middle of a sentence', () => {
  for (const [text, clean] of [
    ['https://u:p@x.test/a?sig=1#f', 'https://x.test/a#f'],
    [
      'moved from postgres://u:p@db.test/x to https://x.test/a?sig=1&b=2 today',
      'moved from postgres://db.test/x to https://x.test/a today',
    ],
    ['why? because a@b.test asked', 'why? because a@b.test asked'],
  ])
    assert.deepEqual(sanitiseDetails({ text }), { text: clean });
});

test('a signed token is replaced wherever it begins', () => {
  const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`;
  for (const before of ['', 'Bearer ', 'token=', '"', '.', '/'])
    assert.deepEqual(sanitiseDetails({ text: `${before}${jwt}` }), { text: `${before}[redacted]` });
});
