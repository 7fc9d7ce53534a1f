import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, completion, frames, makeAgent, makeToken, PROMPT } from './ai.fixture.ts';

// Long texts and streams under patterns of the workspace: threads read them, and what the caller and the provider get is as if there were none.

await testDatabase();
const running = await startGateway();

/** A provider that answers with `answer`, as a stream when it is asked to, each word a frame. */
async function setUp(answer: (prompt: string) => string, agent: Record<string, unknown> = {}) {
  const w = await workspace();
  const prompts: string[] = [];
  const upstream = await startUpstream((_, res, body) => {
    const asked = JSON.parse(body.toString()) as { stream?: boolean; messages: { content: string }[] };
    const prompt = asked.messages.at(-1)?.content ?? '';
    prompts.push(prompt);
    if (asked.stream) {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const frame of frames(answer(prompt))) res.write(frame);
      res.end();
    } else res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion(answer(prompt))));
  });
  const recognizer = (name: string, kind: string, pattern: string) =>
    made(w.live, 'ai_controls.pii_recognizers.create', { name, kind, pattern, action: 'tokenize' });
  await recognizer('member_id', 'regex', 'MEM-[0-9]{6}');
  await recognizer('code', 'aho_corasick', 'Blue Moon\nProject X');
  const firewall = await made(w.live, 'ai_controls.firewall_policies.create', {
    name: 'Firewall',
    heuristics: [{ name: 'own', kind: 'regex', pattern: 'never say this[0-9]+' }],
    action: 'block',
    canary_enabled: true,
  });
  const settings = { pii_request_mode: 'tokenize', pii_response_mode: 'detokenize', firewall_policy_id: firewall.id, ...agent };
  const its = await makeAgent(w, upstream, settings);
  const { text: token } = await makeToken(w, its);
  await served(running, w);
  const call = (content: string, stream = false) =>
    askAgent(running, w, its.agent, token, { ...PROMPT, stream, messages: [{ role: 'user', content }] });
  return { prompts, call };
}

const streamed = (body: string): string =>
  body
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => (JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '')
    .join('');

const FILLER = 'The quick brown fox writes a long report. ';
const VALUES = 'MEM-123456 about Project X, jane@example.com. ';

for (const agent of [{}, { pii_streaming_mode: 'buffer' }, { guardrail_webhook_mode: 'off', pii_streaming_holdback_chars: 200 }])
  test(`a stream comes back in its order and with its values, under ${JSON.stringify(agent)}`, async () => {
    const { prompts, call } = await setUp((prompt) => `${FILLER.repeat(40)}${prompt}${FILLER.repeat(40)} MEM-999999 end`, agent);
    const answer = await call(VALUES, true);
    assert.equal(answer.status, 200, answer.body);
    assert.match(prompts[0] ?? '', /^SVC_MEMBER_ID_\w{10} about SVC_CODE_\w{10}, svc-\w{10}@pii\.invalid\. $/);
    assert.equal(streamed(answer.body), `${FILLER.repeat(40)}${VALUES}${FILLER.repeat(40)} <MEMBER_ID> end`);
    assert.ok(answer.body.trimEnd().endsWith('data: [DONE]'), answer.body.slice(-200));
  });

test('a prompt of some megabytes is judged and replaced, its answer restored, and the loop goes on', async () => {
  const { prompts, call } = await setUp((prompt) => prompt);
  const prompt = `${FILLER.repeat(40_000)}${VALUES}${FILLER.repeat(1_000)}`;
  const answer = await neverBlocks(() => call(prompt));
  assert.equal(answer.status, 200, answer.body.slice(0, 500));
  assert.match((prompts[0] ?? '').slice(FILLER.length * 40_000), /^SVC_MEMBER_ID_\w{10} about SVC_CODE_/);
  const { choices } = JSON.parse(answer.body) as ReturnType<typeof completion>;
  assert.equal(choices[0]?.message.content, prompt);
  const refused = await neverBlocks(() => call(`${FILLER.repeat(20_000)} never say this7`));
  assert.deepEqual([refused.status, refused.json().code], [400, 'firewall_block']);
});

test('calls of one moment wait for each other, and none of them is refused', async () => {
  const { call } = await setUp((prompt) => prompt);
  const answers = await Promise.all(Array.from({ length: 60 }, () => call(VALUES)));
  for (const answer of answers) assert.equal(answer.status, 200, answer.body);
});
