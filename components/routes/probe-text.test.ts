import assert from 'node:assert/strict';
import test from 'node:test';
import { describeProbe, type Probed } from './probe-text.ts';

const none: Probed = { outcome: 'answered', problem: null, certificate: null, status: null, latency_ms: null };
const said = (more: Partial<Probed>) => describeProbe({ ...none, ...more }, 'api.example.com');

test('an upstream that answers is told with its status, its time and the end of its certificate', () => {
  const certificate = { issuer: 'Example Trust', valid_until: '2027-03-01T10:00:00.000Z' };
  assert.deepEqual(said({ status: 404, latency_ms: 120, certificate }), {
    tone: 'good',
    text: 'api.example.com responded with 404 in 120 ms. Certificate from Example Trust valid until 2027-03-01.',
  });
  assert.equal(said({ status: 200, latency_ms: 3 }).text, 'api.example.com responded with 200 in 3 ms.');
});

test('everything else is told as what it is, and only variables are no warning', () => {
  const others = ['refused', 'unresolved', 'unreachable', 'untrusted', 'silent'] as const;
  const texts = others.map((outcome) => said({ outcome }));
  assert.ok(texts.every(({ tone }) => tone === 'bad'));
  assert.equal(new Set(texts.map(({ text }) => text)).size, others.length);
  assert.equal(said({ outcome: 'refused', problem: 'must use https' }).text, 'The URL must use https.');
  assert.equal(said({ outcome: 'unknown' }).tone, 'plain');
});
