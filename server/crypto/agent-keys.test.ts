import assert from 'node:assert/strict';
import { createSecretKey, hash } from 'node:crypto';
import test from 'node:test';
import {
  agentKeysOf,
  agentSignature,
  controlPlaneKeyOf,
  isAgentId,
  isSealOf,
  mintAgentId,
  newControlPlaneSeed,
  sessionKey,
  signBuild,
  unwrapFromAgent,
  wrapForAgent,
} from './agent-keys.ts';

// The vector of interface rule 63 §4.
const agent_id = 'svc_agent_9GJ2mZ0sQm3C1T7u4Yw8Kp';
const keys = agentKeysOf(agent_id, 'svc_as_Zk3l9Qw2Xc8Vb5Nm1Ty7Ui4Op6As0DfGhJkLqWeRtYu');
const root = createSecretKey(keys.subarray(32));

test('the keys, signature and window key are those of the vector', () => {
  assert.equal(keys.subarray(0, 32).toString('hex'), '9f98d357a73ee7714a79af063757a40b9ff9c6ac165376c93759ee18e2ebdcbc');
  assert.equal(keys.subarray(32).toString('hex'), '0fd4b6803873abdd8f603a03d42d273b8378fb98881d8a1ffef894560cb28482');
  const body = Buffer.from('{"mode":"intercept","version":"1.0.0"}');
  assert.equal(hash('sha256', body, 'hex'), 'b546d89caa9d3845093708daa53c6ae95ebd90e1d73c40d15b75c9050bec55e4');
  const parts = { method: 'POST', path: '/agent/v1/session', timestamp: '1790856000', nonce: 'b7c1a2d39e4f5061728394a5b6c7d8e9', body };
  const signature = agentSignature(createSecretKey(keys.subarray(0, 32)), parts);
  assert.equal(signature.toString('hex'), 'b5167bc1dd650e219e9a97d53388bfe57cae16ef569f98b53bf87e79274f9cad');
  assert.equal(
    sessionKey(root, agent_id, '2026-10-01T12').export().toString('hex'),
    '58c7e5774223e3862fadc01d02701ba999d8484ff955d01f83ab61a456ea13a6',
  );
});

test('what is wrapped for one window opens in no other, nor in another place', () => {
  const noon = sessionKey(root, agent_id, '2026-10-01T12');
  const wrapped = wrapForAgent(noon, 't|a|s|1|2026-10-01T12', Buffer.from('value'));
  assert.equal(unwrapFromAgent(noon, 't|a|s|1|2026-10-01T12', wrapped).toString(), 'value');
  const one = sessionKey(root, agent_id, '2026-10-01T13');
  assert.throws(() => unwrapFromAgent(one, 't|a|s|1|2026-10-01T12', wrapped), { name: 'DecryptFailed' });
  assert.throws(() => unwrapFromAgent(noon, 't|a|s|2|2026-10-01T12', wrapped), { name: 'DecryptFailed' });
});

test('the seal of a build is of that build and key alone', () => {
  const key = controlPlaneKeyOf(newControlPlaneSeed());
  const build = { version: '1.0.0', os: 'any', arch: 'any', sha256: 'ab'.repeat(32) };
  const seal = signBuild(key.private, build);
  assert.ok(isSealOf(key.pem, build, seal));
  assert.ok(!isSealOf(key.pem, { ...build, version: '1.0.1' }, seal));
  assert.ok(!isSealOf(controlPlaneKeyOf(newControlPlaneSeed()).pem, build, seal));
  assert.ok(!isSealOf(key.pem, build, 'nonsense'));
});

test('agent ids have one form', () => {
  assert.ok(isAgentId(mintAgentId()) && isAgentId(agent_id));
  for (const text of ['', 'svc_agent_', `${agent_id}x`, agent_id.slice(0, -1), 'svc_agent_9GJ2mZ0sQm3C1T7u4Yw8K_'])
    assert.ok(!isAgentId(text), text);
});
