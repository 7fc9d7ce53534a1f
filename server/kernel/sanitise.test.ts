import assert from 'node:assert/strict';
import test from 'node:test';
import { sanitiseDetails } from './sanitise.ts';

test('no caller can keep a process busy with a text that is almost a credential', () => {
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
  ];
  for (const piece of almost) {
    const began = performance.now();
    sanitiseDetails({ text: piece.repeat(500_000 / piece.length) });
    assert.ok(performance.now() - began < 1_000, `${piece}: ${Math.round(performance.now() - began)} ms`);
  }
});

test('a signed token is replaced wherever it begins', () => {
  const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`;
  for (const before of ['', 'Bearer ', 'token=', '"', '.', '/'])
    assert.deepEqual(sanitiseDetails({ text: `${before}${jwt}` }), { text: `${before}[redacted]` });
});
