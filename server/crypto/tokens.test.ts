import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { containsCredential, redactCredentials } from '#server/kernel/credential-patterns.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import {
  checksum,
  classifyCredential,
  digest,
  digestEquals,
  hasDigest,
  isClientId,
  isMailToken,
  mintAccessKey,
  mintApiKey,
  mintClientId,
  mintMailToken,
  mintToken,
  mintUserCode,
  type TokenFamily,
  userCodeDigest,
  withChecksum,
} from './tokens.ts';

// The published examples, split so that no scanner takes this file for a leak.
const live = `tk_live_KpF9c2kCRVgn${'_22P78vWhqvTXRxlZfhVcIvSVnNDFnFVO70Hj8fS0mc3y30IVRcs'}`;
const sandbox = `tk_test_xHvMFzPikJSJ${'_4MmAhCjyLxCUB4no6RHeaw0jpNdwMGgb1Bj5gXqKI9XA738VV7D'}`;
const access = `AKEBS5MJ3IXW6PJE3WT${':xketin1a8iBsStMavH7HqBCZ221qW1a0M32WZjFD'}`;
const session = `ses_${'G2n2QWaCzbckKDjvjVC02k9KQdSwbSty0pxa7nnBpYH1hPKzq'}`;

const families: TokenFamily[] = [
  'oauth_token_live',
  'oauth_token_test',
  'refresh_token_live',
  'refresh_token_test',
  'authorization_code',
  'device_code',
  'client_secret',
  'session',
  'scim',
  'step_up',
  'claim_handle',
  'share_claim',
  'client_token',
  'webhook_secret',
  'agent_secret',
  'agent_install',
  'agent_session',
];

test('the published example keys classify and hash as documented', () => {
  assert.deepEqual(classifyCredential(live), { kind: 'api_key', key_id: 'tk_live_KpF9c2kCRVgn', space: 'live', key_type: 'standard' });
  assert.deepEqual(classifyCredential(sandbox), { kind: 'api_key', key_id: 'tk_test_xHvMFzPikJSJ', space: 'test', key_type: 'test' });
  assert.deepEqual(classifyCredential(access), { kind: 'access_key', key_id: 'AKEBS5MJ3IXW6PJE3WT' });
  assert.deepEqual(classifyCredential(session), { kind: 'session' });
  assert.equal(checksum(live.slice(0, 66)), '0IVRcs');
  assert.equal(digest(live).toString('hex'), 'ad062a10c31c621c537ce64def5466d7f727b8b6217f67a1e93cd7354a81738d');
  assert.equal(digest(sandbox).toString('hex'), 'c86799bac10022e5ca6026c668c2d0057eba19134ce8748ab5f4e545a2bf8c25');
  assert.equal(digest(access).toString('hex'), '4e26bd341e78f2cbf8be42f22595c1488e17a55c04bf1e16ed55d27ad178e69e');
});

test('minted keys have the documented lengths and parse back to what they are', () => {
  for (const space of ['live', 'test'] as const) {
    const key = mintApiKey(space);
    assert.equal(key.token.length, 72);
    assert.equal(key.key_prefix, `${key.token.slice(0, 11)}...`);
    const key_type = space === 'live' ? 'standard' : 'test';
    assert.deepEqual(classifyCredential(key.token), { kind: 'api_key', key_id: key.key_id, space, key_type });
    assert.ok(digestEquals(key.digest, digest(key.token)));
  }
  const key = mintAccessKey();
  assert.equal(key.token.length, 60);
  assert.deepEqual(classifyCredential(key.token), { kind: 'access_key', key_id: key.key_id });
});

test('every family parses back to itself, and the scrubber hides every minted credential', () => {
  const lengths: Partial<Record<TokenFamily, number>> = {
    oauth_token_live: 58,
    refresh_token_test: 59,
    device_code: 54,
    session: 53,
    step_up: 47,
    webhook_secret: 49,
    agent_secret: 50,
    agent_install: 51,
  };
  for (const family of families) {
    const { token } = mintToken(family);
    const oauth = /^oauth_token_(live|test)$/.exec(family);
    assert.deepEqual(classifyCredential(token), oauth ? { kind: 'oauth_token', space: oauth[1] } : { kind: family });
    if (lengths[family]) assert.equal(token.length, lengths[family], family);
    assert.equal(redactCredentials(`x ${token} y`), 'x [redacted] y', family);
  }
  for (const { token } of [mintApiKey('live'), mintApiKey('test'), mintAccessKey()]) {
    assert.equal(redactCredentials(`"${token}"`), '"[redacted]"');
    assert.ok(containsCredential(token));
  }
});

test('an AI token and a gateway token are told apart by shape and checksum', () => {
  const ai = withChecksum(`svcp_live_a_${'0'.repeat(32)}_`);
  assert.deepEqual(classifyCredential(ai), { kind: 'ai_token', space: 'live' });
  assert.equal(classifyCredential(ai.replace('_a_', '_r_')).kind, 'malformed');
  assert.deepEqual(classifyCredential(`wkt_${'a'.repeat(52)}`), { kind: 'gateway_token' });
});

test('changing any single character of a checked credential makes it malformed', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(live, sandbox, access, session),
      fc.nat(71),
      fc.string({ minLength: 1, maxLength: 1 }),
      (token, at, replacement) => {
        const position = at % token.length;
        if (token[position] === replacement) return true;
        return classifyCredential(token.slice(0, position) + replacement + token.slice(position + 1)).kind === 'malformed';
      },
    ),
    { numRuns: 2_000 },
  );
});

test('truncated, extended, padded and foreign texts are malformed, and nothing throws', () => {
  const step = mintToken('step_up').token;
  const hostile = [
    '',
    ' ',
    'tk_',
    'tk_live_',
    'AKE',
    'kc_abcdef',
    live.slice(0, -1),
    `${live}0`,
    ` ${live}`,
    `${live}\n`,
    live.toUpperCase(),
    `${live}${live}`,
    `${step}=`,
    `${step}\n`,
    '\ud800',
    'x'.repeat(1_000_000),
    live.replace('tk_live', 'tk_prod'),
  ];
  for (const text of hostile) assert.equal(classifyCredential(text).kind, 'malformed', text.slice(0, 80));
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => classifyCredential(text).kind === 'malformed'));
});

test('a base64url token has one spelling: the unused low bits of its last character must be zero', () => {
  const { token } = mintMailToken();
  assert.ok(isMailToken(token));
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const next = alphabet[alphabet.indexOf(token.slice(-1)) + 1] ?? '';
  const twin = token.slice(0, -1) + next;
  assert.deepEqual(Buffer.from(twin, 'base64url'), Buffer.from(token, 'base64url'));
  assert.equal(isMailToken(twin), false);
});

test('digests of different length or content are unequal', () => {
  assert.ok(hasDigest('ä€', digest('ä€')) && hasDigest('', digest('')));
  assert.ok(!hasDigest('a', digest('b')) && !hasDigest('a', digest('a').subarray(1)) && !hasDigest('a', Buffer.alloc(33)));
  assert.equal(digestEquals(digest('a'), digest('b')), false);
  assert.equal(digestEquals(digest('a'), digest('a').subarray(1)), false);
  assert.equal(digestEquals(Buffer.alloc(0), digest('a')), false);
});

test('hostile text is classified in linear time, so it can be done before every look-up', async () => {
  for (const piece of ['a', '_', ':', 'tk_live_', 'AKEA', 'svc_', '='])
    for (const before of ['', 'tk_live_', 'AKE', 'svcp_live_a_', 'svc_live_', 'wkt_'])
      await assertGrowsLinearly(before + piece, 16_384, (size) => before + piece.repeat(size / piece.length), classifyCredential);
});

test('the published OAuth examples classify and hash as documented', () => {
  const token = `svc_live_${'PvGyPqYrngDIV4rJt8AZCCz5Ehwr2iQ0KBjmtCe0gNf3hChfg'}`;
  assert.deepEqual(classifyCredential(token), { kind: 'oauth_token', space: 'live' });
  assert.equal(digest(token).toString('hex'), '8ab1d15add9de2c2dab90bccba04081fd71c4c9d23bec9196d2e85674724a1c5');
  const kinds = [
    [`svcr_live_${'k036iA7KIYWjsurksihnSAeWHz1GZ6FTHNFThp5jH5S1Eendz'}`, 'refresh_token_live'],
    [`svcc_${'a3XR6RhvgEXZUu0OyMpq1vuvsGDDAEA4Y1fiqRu5sJd2xOnvr'}`, 'authorization_code'],
    [`svcd_${'LfkV464lnqnYb6lrItuYsfSISkmiCO79q9EIt1wh9200nFci5'}`, 'device_code'],
    [`svcs_${'d1lg1eR0ADpJj3Tymb8oP5UHGW7lnXo6ycobMOt9xaF1NIdYA'}`, 'client_secret'],
  ] as const;
  for (const [text, kind] of kinds) assert.deepEqual(classifyCredential(text), { kind }, kind);
});

test('client ids and user codes have their documented forms', () => {
  assert.match(mintClientId(), /^svc_client_[0-9A-Za-z]{20}$/);
  assert.match(mintClientId('cli'), /^svc_cli_[0-9A-Za-z]{20}$/);
  assert.ok(isClientId(mintClientId()) && isClientId(mintClientId('cli')) && !isClientId('svc_client_x') && !isClientId(live));
  const { token, digest: stored } = mintUserCode();
  assert.match(token, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  for (const typed of [token, token.toLowerCase(), ` ${token.replace('-', ' ')} `]) assert.deepEqual(userCodeDigest(typed), stored);
  for (const typed of ['', 'AAAA-AAAA', `${token}B`, 'x'.repeat(100)]) assert.equal(userCodeDigest(typed), null);
});
