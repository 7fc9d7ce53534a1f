import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { containsCredential, redactCredentials } from './credential-patterns.ts';

test('provider credentials, signed tokens and private keys never survive the scrubber', () => {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const samples = [
    `sk_${'live'}_51H8exampleexample`,
    `gh${'p'}_${'a1B2'.repeat(9)}`,
    `github_${'pat'}_${'a1B2'.repeat(9)}`,
    `AK${'IA'}IOSFODNN7EXAMPLE`,
    `xo${'xb'}-123456789012-abcdefghijkl`,
    `AI${'za'}${'Sy0_-'.repeat(7)}`,
    `sk-${'ant'}-${'abc123'.repeat(6)}`,
    `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJzdWIiOiIxIn0.c2lnbmF0dXJl`,
    `eyJ${'hbGciOiJkaXIifQ'}..aXY.Y3Q.dGFn`,
    privateKey,
    privateKey.slice(0, 150),
    JSON.stringify(privateKey),
    `whsec_${'a'.repeat(43)}`,
  ];
  for (const sample of samples) {
    const scrubbed = redactCredentials(`before ${sample} after`);
    assert.ok(scrubbed.startsWith('before '), scrubbed);
    assert.ok(scrubbed.includes('[redacted]'), scrubbed);
    for (const part of sample
      .replaceAll('\\n', '\n')
      .split(/[\s".]+/)
      .filter((piece) => piece.length > 20 && !piece.includes('---'))) {
      assert.ok(!scrubbed.includes(part), scrubbed);
    }
    assert.ok(containsCredential(sample));
  }
});

test('tokens known by place are hidden in URLs, and the rest of the URL stays', () => {
  const token = 'q'.repeat(43);
  assert.equal(redactCredentials(`https://x.test/claim?token=${token}&lang=en`), 'https://x.test/claim?token=[redacted]&lang=en');
  assert.equal(redactCredentials(`/oauth/callback?code=1&state=${token}`), '/oauth/callback?code=1&state=[redacted]');
  assert.equal(redactCredentials(`GET /_capture/${token}/ping`), 'GET /_capture/[redacted]/ping');
  assert.equal(redactCredentials(`POST /wf/${token}`), 'POST /wf/[redacted]');
  assert.equal(redactCredentials(`${'a2'.repeat(26)}.proxy.test`), '[redacted].proxy.test');
});

test('ordinary text, ids and public key prefixes are left alone', () => {
  for (const text of [
    '01970f3e-7c0e-7a53-9d0e-6a1b2c3d4e5f',
    'tk_live_KpF...',
    'tk_live_KpF9c2kCRVgn',
    'a'.repeat(64),
    'GET /v1/routes?page=2 took 3 ms',
    'sketch-of-a-design-document-for-tomorrow',
    'state=open',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    'svc_client_0123456789abcdefghij',
  ]) {
    assert.equal(redactCredentials(text), text);
    assert.equal(containsCredential(text), false);
  }
});

test('hostile text is scrubbed in linear time', async () => {
  for (const [before, piece] of [
    ['', '-----BEGIN PRIVATE KEY-----'],
    ['eyJ', 'a.'],
    ['', 'eyJaaaaaaaaaa'],
    ['', 'whsec_'],
    ['', 'a'],
    ['', '-'],
    ['-----BEGIN PRIVATE KEY-----', 'A'],
  ] as const)
    await assertGrowsLinearly(before + piece, 300_000, (size) => before + piece.repeat(size / piece.length), redactCredentials);
});
