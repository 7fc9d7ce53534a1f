import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentTestReport } from '#server/domain/ai-gateways/agent-test.schema.ts';
import { newId } from '#server/kernel/ids.ts';
import { UNNAMED } from '#server/kernel/policy-callers.ts';
import { askGateway, controlSocketPath } from '#server/platform/gateway-control.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startGateway, startUpstream } from '../gateway.fixture.ts';
import { makeAgent, openAi, SECRET } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();
await running.controlSocket.listen(controlSocketPath());

const tried = async (w: Awaited<ReturnType<typeof workspace>>, agent: { id: string }, more: object = {}) =>
  (await askGateway(
    {
      tenant_id: w.tenant.id,
      space: 'live',
      agent_id: agent.id,
      callers: UNNAMED,
      request_id: newId(),
      source_address: '127.0.0.1',
      message: 'ping',
      ...more,
    },
    '/agent-tests',
  )) as AgentTestReport;

test('a test of an agent goes through the real phases without a token, asks for little, and says what it cost', async () => {
  const w = await workspace();
  const upstream = await openAi();
  const { agent } = await makeAgent(w, upstream);
  const report = await tried(w, agent);
  assert.deepEqual(
    [report.ok, report.status, report.model, report.answer, report.usage],
    [true, 200, 'gpt-test', 'Hello', { input_tokens: 10, output_tokens: 2 }],
  );
  assert.equal(JSON.parse(upstream.seen[0]?.body ?? '').max_tokens, 16);
  assert.deepEqual(
    Object.keys(upstream.seen[0]?.headers ?? {}).filter((name) => name.startsWith('x-svc')),
    [],
  );
  assert.deepEqual([...new Set(report.stages.map(({ outcome }) => outcome))], ['ok']);
});

test('a refusal names its stage, and a wrong key is told from a policy', async () => {
  const w = await workspace();
  const denied = await makeAgent(w, await openAi(), { model_denylist: ['gpt-test'] });
  const refused = await tried(w, denied.agent);
  assert.deepEqual(
    [refused.ok, refused.code, refused.stages.find(({ outcome }) => outcome === 'refused')?.name],
    [false, 'model_not_allowed', 'choose_model'],
  );
  assert.equal(refused.stages.at(-1)?.outcome, 'skipped');
  const wrong = await startUpstream((_, res) =>
    res.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: `bad key ${SECRET}` } })),
  );
  const { agent } = await makeAgent(w, wrong);
  const report = await tried(w, agent);
  assert.deepEqual([report.ok, report.code], [false, 'upstream_auth_failed']);
  assert.match(report.upstream_error ?? '', /^bad key/);
  assert.equal(JSON.stringify(report).includes(SECRET), false);
});
