import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import test from 'node:test';
import { capabilityHmac, capabilityHolds, mintCapability, parseCapability } from './capability-tokens.ts';
import { checksum, digest } from './tokens.ts';

// The worked examples of interface rule 50 §6.

const TOKEN = 'svcp_live_a_7Hq2ZxW9cK4mVb8RtY1nLs6PdGj3Fa5E_0xAhpO';
const SECOND = 'svcp_test_t_0000000000000000000000000000000A_3WwEyV';

test('the vectors of the interface parse, and hash as it says', () => {
  assert.deepEqual(parseCapability(TOKEN), { env: 'live', kind: 'agent' });
  assert.deepEqual(parseCapability(SECOND), { env: 'test', kind: 'tool' });
  assert.equal(digest(TOKEN).toString('hex'), '00ed4675e2fc0baf2863298e747239dfb3755f6f108b4fd894c2e009d133a65a');
  assert.equal(checksum(TOKEN.slice(0, -7)), '0xAhpO');
});

test('a minted token is 51 characters of the form, and no two are alike', () => {
  const seen = new Set<string>();
  for (const kind of ['agent', 'read', 'tool', 'oneshot'] as const)
    for (const env of ['live', 'test'] as const) {
      const { token, digest: hash, prefix } = mintCapability(env, kind);
      assert.match(token, /^svcp_(live|test)_[arto]_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
      assert.deepEqual(parseCapability(token), { env, kind });
      assert.deepEqual(hash, digest(token));
      assert.equal(prefix, token.slice(0, 16));
      seen.add(token);
    }
  assert.equal(seen.size, 8);
});

test('the first fault in the order of the interface names what is wrong', () => {
  const random = '7Hq2ZxW9cK4mVb8RtY1nLs6PdGj3Fa5E';
  const faults: [string, string][] = [
    ['', 'empty'],
    ['kc_live_a_1', 'bad_prefix'],
    ['svc_live_abc', 'bad_prefix'],
    ['SVCP_live', 'bad_prefix'],
    ['svcp_', 'malformed'],
    [`svcp_live_a_${random}`, 'malformed'],
    [`${TOKEN}_`, 'malformed'],
    [`svcp_live_a_${'x'.repeat(600)}_0xAhpO`, 'malformed'],
    [`svcp_prod_z_${random}_0xAhpO`, 'bad_env'],
    [`svcp_live_z_${random}_0xAhpO`, 'bad_kind'],
    [`svcp_live__${random}_0xAhpO`, 'bad_kind'],
    [`svcp_live_a_${random.slice(1)}_0xAhp`, 'bad_random'],
    [`svcp_live_a_${random.slice(1)}-_0xAhpO`, 'bad_random'],
    [`svcp_live_a_${random}_0xAhp`, 'bad_crc_format'],
    [`svcp_live_a_${random}_0xAhp\n`, 'bad_crc_format'],
    [`svcp_live_a_${random}_0xAhpP`, 'crc_mismatch'],
    [TOKEN.replace('live', 'test'), 'crc_mismatch'],
  ];
  for (const [text, fault] of faults) assert.deepEqual(parseCapability(text), { fault }, text);
});

const key = createSecretKey(Buffer.from(Array.from({ length: 32 }, (_, i) => 0x20 + i)));
const capability = {
  tenant_id: '11111111-2222-4333-8444-555555555555',
  env: 'live',
  kind: 'agent',
  gateway_id: '0b8e6a52-6f0f-4a0e-9a5c-0d6f3b1c7e21',
  agent_id: 'c4a1d7e9-52b3-4f6a-8e0d-91f2b3c4d5e6',
  token_hash: digest(TOKEN),
  dpop_jkt: null,
  expires_at: new Date('2026-12-20T17:34:00.000Z'),
  scope: { models: ['claude-sonnet-5'], ip_cidrs: ['203.0.113.0/24'], daily_token_cap: 200000 },
} as const;

test('the signature is that of the interface, whatever the order of the scope’s members', () => {
  assert.equal(capabilityHmac(key, capability), 'jLZHs4bN_mrao73FItjRZPzuvWHUiPXCX8Yq5z0baxk');
});

test('any change of what is signed breaks the signature, and an empty one never holds', () => {
  const stored = capabilityHmac(key, capability);
  assert.equal(capabilityHolds(key, capability, stored), true);
  const changes: object[] = [
    { tenant_id: '11111111-2222-4333-8444-555555555556' },
    { env: 'test' },
    { kind: 'read' },
    { gateway_id: capability.agent_id },
    { agent_id: null },
    { token_hash: digest(SECOND) },
    { dpop_jkt: 'x'.repeat(43) },
    { expires_at: new Date('2027-12-20T17:34:00.000Z') },
    { scope: {} },
    { scope: { ...capability.scope, daily_token_cap: 200001 } },
  ];
  for (const change of changes) assert.equal(capabilityHolds(key, { ...capability, ...change }, stored), false, JSON.stringify(change));
  assert.equal(capabilityHolds(key, capability, ''), false);
  assert.equal(capabilityHolds(createSecretKey(Buffer.alloc(32)), capability, stored), false);
});
