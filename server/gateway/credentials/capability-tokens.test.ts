import assert from 'node:assert/strict';
import test from 'node:test';
import { digest } from '#server/crypto/tokens.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { capabilityTokens } from './capability-tokens.ts';

await testDatabase();

test('a gateway remembers a token until its change is announced', async () => {
  const w = await workspace();
  const gateway = await made(w.live, 'ai_gateways.create', { name: 'G', slug: fresh('g') });
  const agent = await made(w.live, 'ai_gateways.agents.create', { id: gateway.id, name: 'A', slug: fresh('a') });
  const tokens = capabilityTokens();
  const heard: (string | null)[] = [];
  tokens.watch((id) => heard.push(id));
  const { token, id } = await made(w.live, 'ai_gateways.agents.tokens.create', { id: agent.id });
  const found = await tokens.find(token);
  assert.ok(found !== null && found !== 'busy' && found.id === id);
  await made(w.live, 'ai_gateways.agents.tokens.delete', { id: agent.id, token_id: id });
  assert.equal((tokens.find(token) as { revoked_at: Date | null }).revoked_at, null, 'from memory');
  tokens.heard(`${w.tenant.id}:${id}:${digest(token).toString('hex')}`);
  const after = await tokens.find(token);
  assert.ok(after !== null && after !== 'busy' && after.revoked_at !== null);
  assert.deepEqual(heard, [id]);
  assert.equal(await tokens.find(token.replace('live', 'test')), null, 'what does not parse is not looked up');
});
