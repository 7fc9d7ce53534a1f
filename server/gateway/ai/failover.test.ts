import assert from 'node:assert/strict';
import test from 'node:test';
import { PROVIDERS, type Provider } from '#server/ai/providers/catalogue.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, makeAgent, makeToken } from './ai.fixture.ts';
import { anthropicProvider, openAiProvider, TEXT } from './providers.fixture.ts';

// A call that fails over to a provider with a host of its own, from each protocol to each other (interface rule 51 §7.1).

await testDatabase();
const running = await startGateway();
const down = await startUpstream((_, res) =>
  res.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"down"}}'),
);
const [openAi, anthropic] = [await openAiProvider(), await anthropicProvider()];

const CALLERS = [
  { provider: 'openai', path: '/v1/chat/completions' },
  { provider: 'anthropic', path: '/v1/messages' },
] as const;

/** Where a call arrives that a provider serves by OpenAI's protocol; Anthropic's is at `/v1/messages`. */
const PATHS: Readonly<Record<string, string>> = {
  gemini: '/v1beta/openai/chat/completions',
  cohere: '/compatibility/v1/chat/completions',
  'azure-openai': '/openai/v1/chat/completions',
};

function expected({ id, shapes }: Provider, caller: string): { path: string; upstream: typeof openAi } {
  if (id === 'anthropic') return { path: '/v1/messages', upstream: anthropic };
  if (caller === 'anthropic' && shapes.includes('anthropic')) return { path: '/anthropic/v1/messages', upstream: anthropic };
  return { path: PATHS[id] ?? '/v1/chat/completions', upstream: openAi };
}

/** Those whose credential is a header; the others sign, which their own tests show. */
const HEADER = PROVIDERS.flatMap((one) => (one.credential.kind === 'header' ? [{ ...one, header: one.credential }] : []));

for (const caller of CALLERS)
  for (const { header, ...to } of HEADER.filter(({ id }) => id !== caller.provider))
    test(`a call of ${caller.provider} fails over to ${to.id}: its protocol, its model and its key, streamed and whole`, async () => {
      const w = await workspace();
      const { path, upstream } = expected(to, caller.provider);
      const first = await makeAgent(w, down, { provider: caller.provider, default_model: 'model-of-the-first' });
      const second = await makeAgent(
        w,
        upstream,
        { provider: to.id, default_model: `model-of-${to.id}` },
        {},
        { [header.name]: `${header.prefix}$KEY` },
      );
      await db().ai_agents.update({ where: { id: first.agent.id }, data: { fallback_route_ids: [second.route.id] } });
      const { text: token } = await makeToken(w, first);
      const narrow = await makeToken(w, first, { scope: { providers: [caller.provider] } });
      await served(running, w);
      for (const stream of [false, true]) {
        const prompt = { model: 'model-of-the-first', max_tokens: 10, stream, messages: [{ role: 'user', content: 'Say hello' }] };
        const from = upstream.seen.length;
        const answer = await askAgent(running, w, first.agent, token, prompt, { path: caller.path });
        assert.deepEqual(
          [answer.status, answer.headers['x-svc-ai-provider'], answer.headers['x-svc-ai-model'], answer.headers['x-svc-ai-fallback']],
          [200, to.id, `model-of-${to.id}`, 'route'],
          answer.body,
        );
        const seen = upstream.seen[from];
        assert.deepEqual([seen?.url, JSON.parse(seen?.body ?? '{}').model], [path, `model-of-${to.id}`]);
        assert.match(String(seen?.headers[header.name.toLowerCase()] ?? seen?.headers.authorization), /sk-provider/);
        assert.ok(stream || answer.body.includes(TEXT), answer.body);
        assert.equal(answer.body.includes(caller.provider === 'anthropic' ? '"type":"text' : 'chat.completion'), true, answer.body);
      }
      await until(async () => (await db().ai_request_logs.count({ where: { tenant_id: w.tenant.id } })) === 2);
      const rows = await db().ai_request_logs.findMany({ where: { tenant_id: w.tenant.id } });
      assert.deepEqual(
        new Set(rows.map(({ provider, final_model }) => `${provider} ${final_model}`)),
        new Set([`${to.id} model-of-${to.id}`]),
      );
      const from = upstream.seen.length;
      const refused = await askAgent(
        running,
        w,
        first.agent,
        narrow.text,
        { model: 'model-of-the-first', max_tokens: 10, messages: [] },
        { path: caller.path },
      );
      assert.deepEqual([refused.status, upstream.seen.length], [500, from], 'a token that is narrowed to one provider reaches no other');
    });

test('a rewrite names the model at another provider before its default model, and a route without a model is skipped', async () => {
  const w = await workspace();
  const first = await makeAgent(w, down, { provider: 'openai', model_rewrite: { 'anthropic:gpt-test': 'claude-rewritten' } });
  const none = await makeAgent(w, anthropic, { provider: 'groq', default_model: null });
  const second = await makeAgent(w, anthropic, { provider: 'anthropic', default_model: 'claude-default' }, {}, { 'x-api-key': '$KEY' });
  await db().ai_agents.update({ where: { id: first.agent.id }, data: { fallback_route_ids: [none.route.id, second.route.id] } });
  const { text } = await makeToken(w, first);
  await served(running, w);
  const from = anthropic.seen.length;
  const prompt = { model: 'gpt-test', messages: [{ role: 'user', content: 'Say hello' }] };
  const answer = await askAgent(running, w, first.agent, text, prompt);
  assert.deepEqual(
    [answer.status, answer.headers['x-svc-ai-route'], answer.headers['x-svc-ai-attempts']],
    [200, second.route.id, '2'],
    answer.body,
  );
  assert.deepEqual(
    anthropic.seen.slice(from).map(({ body }) => JSON.parse(body).model),
    ['claude-rewritten'],
  );
});

test('the model is that of the primary route’s provider also where weights try another first', async () => {
  const w = await workspace();
  const first = await makeAgent(w, openAi, { provider: 'openai' });
  const second = await makeAgent(w, anthropic, { provider: 'anthropic', default_model: 'claude-default' }, {}, { 'x-api-key': '$KEY' });
  const routing_policy = { route_weights: { [second.route.id]: 1 } };
  await db().ai_agents.update({ where: { id: first.agent.id }, data: { fallback_route_ids: [second.route.id], routing_policy } });
  const { text } = await makeToken(w, first);
  await served(running, w);
  const from = anthropic.seen.length;
  const answer = await askAgent(running, w, first.agent, text, { model: 'gpt-test', messages: [{ role: 'user', content: 'Say hello' }] });
  assert.deepEqual([answer.status, answer.headers['x-svc-ai-provider']], [200, 'anthropic'], answer.body);
  assert.deepEqual(
    anthropic.seen.slice(from).map(({ body }) => JSON.parse(body).model),
    ['claude-default'],
  );
});
