import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import test from 'node:test';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Answer, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { flushCalls } from '../governance/log/writer.ts';
import { askAgent, completion, frames, makeAgent, makeToken, openAi, PROMPT, sse, type TokenOptions } from './ai.fixture.ts';

// Callers and providers that want something else than they say.

await testDatabase();
const running = await startGateway();

type Handler = (req: IncomingMessage, res: ServerResponse, body: Buffer) => void;
type Data = Record<string, unknown>;

async function setUp(handler: Handler | undefined, agent: Data = {}, options: TokenOptions = {}, header: Data = {}) {
  const w = await workspace();
  const upstream = handler ? await startUpstream(handler) : await openAi();
  const made = await makeAgent(w, upstream, agent, {}, header);
  const token = await makeToken(w, made, options);
  await served(running, w);
  return { w, upstream, ...made, token: token.text, made };
}

const json =
  (body: unknown, headers: Record<string, string> = {}, status = 200): Handler =>
  (_, res) =>
    void res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

async function charged(answer: Answer): Promise<{ input_tokens: string; output_tokens: string; status: string; final_model: string }> {
  await flushCalls();
  const { rows } = await sql().query('select * from ai_request_logs where request_id = $1', [answer.headers['x-svc-request-id']]);
  return rows[0] as never;
}

const sentTo = ({ seen }: { seen: { body: string; url?: string }[] }): Data => JSON.parse(seen.at(-1)?.body ?? '{}') as Data;

test('a deployment in the path doesn’t let the body name a model that is denied', async () => {
  const { w, agent, token, upstream } = await setUp(undefined, { model_allowlist: ['gpt-cheap'] });
  const path = '/openai/deployments/gpt-cheap/chat/completions';
  const answer = await askAgent(running, w, agent, token, { ...PROMPT, model: 'gpt-expensive' }, { path });
  assert.equal(answer.status, 200, answer.body);
  assert.equal(sentTo(upstream).model, 'gpt-cheap');
});

test('nor an upload', async () => {
  const { w, agent, token, upstream } = await setUp(json({ text: 'hi' }), { model_allowlist: ['whisper-cheap'] });
  const path = '/openai/deployments/whisper-cheap/audio/transcriptions';
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  const body = '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-expensive\r\n--x--\r\n';
  assert.equal((await askAgent(running, w, agent, token, body, { path, headers })).json().code, 'invalid_request_body');
  assert.equal(upstream.seen.length, 0);
});

test('a stream can’t be asked for by another spelling of true', async () => {
  const { w, agent, token, upstream } = await setUp(undefined, { streaming_enabled: false });
  for (const stream of ['true', 1])
    assert.equal((await askAgent(running, w, agent, token, { ...PROMPT, stream })).json().code, 'invalid_request_body');
  assert.equal(upstream.seen.length, 0);
});

test('an answer in another form than the one that is judged goes to nobody', async () => {
  const cases: Handler[] = [
    (_, res) => void res.writeHead(200, { 'content-type': 'text/plain' }).end('4111 1111 1111 1111'),
    (_, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames().join('')),
    (_, res) => void res.writeHead(200).end('{"choices":[{'),
  ];
  for (const handler of cases) {
    const { w, agent, token } = await setUp(handler);
    assert.equal((await askAgent(running, w, agent, token, PROMPT)).json().code, 'upstream_invalid_response');
  }
});

test('a body is read as JSON in UTF-8, whatever its Content-Type says', async () => {
  const { w, agent, token, upstream } = await setUp(undefined);
  await askAgent(running, w, agent, token, PROMPT, { headers: { 'content-type': 'application/json; charset=utf-7' } });
  assert.deepEqual(upstream.seen.at(-1)?.headers['content-type'], 'application/json');
});

const PII = { pii_request_mode: 'tokenize' };

test('personal data is found wherever a lenient provider reads text', async () => {
  const { w, agent, token, upstream } = await setUp(undefined, PII);
  const text = 'Write to jane.doe@example.com';
  for (const content of [[text], { type: 'text', text }, [{ type: 'text', text }]]) {
    const answer = await askAgent(running, w, agent, token, { ...PROMPT, messages: [{ role: 'user', content }], documents: [{ text }] });
    assert.equal(answer.status, 200, answer.body);
    assert.equal(upstream.seen.at(-1)?.body.includes('jane.doe'), false, JSON.stringify(content));
  }
});

test('in Google’s shape too, where lists may be left out', async () => {
  const answer = { candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] };
  const { w, agent, token, upstream } = await setUp(json(answer), { ...PII, provider: 'gemini' });
  const path = '/v1beta/models/gemini-x:generateContent?fields=candidates&$alt=proto';
  const body = {
    contents: { role: 'user', parts: { text: 'Write to jane.doe@example.com' } },
    system_instruction: { parts: { text: 'x@example.com' } },
  };
  const got = await askAgent(running, w, agent, token, body, { path, headers: { 'x-goog-fieldmask': 'candidates' } });
  assert.equal(got.status, 200, got.body);
  const { body: sent = '', headers, url } = upstream.seen.at(-1) as never as { body: string; headers: Data; url: string };
  assert.equal(sent.includes('@example.com'), false, sent);
  assert.deepEqual([url.includes('fields'), url.includes('alt'), headers['x-goog-fieldmask']], [false, false, undefined]);
});

test('personal data in the fields of an upload doesn’t leave', async () => {
  const { w, agent, token, upstream } = await setUp(json({ data: [] }), PII);
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  const upload = (prompt: string) =>
    `--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nimg\r\n--x\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n${prompt}\r\n--x--\r\n`;
  const path = '/v1/images/edits';
  assert.equal(
    (await askAgent(running, w, agent, token, upload('for jane.doe@example.com'), { path, headers })).json().code,
    'pii_unavailable',
  );
  assert.equal(upstream.seen.length, 0);
  assert.equal((await askAgent(running, w, agent, token, upload('a cat'), { path, headers })).status, 200);
});

test('no fall-back leads out of the providers of the token', async () => {
  const failing = await startUpstream(json({ error: { message: 'x' } }, {}, 500));
  const { w, made, token, upstream } = await setUp(
    undefined,
    { budget_daily_usd: 0, budget_overage_action: 'fallback' },
    {
      scope: { providers: ['openai-compatible'] },
    },
  );
  const other = await makeAgent(w, failing, { gateway_id: made.gateway.id, provider: 'anthropic' });
  await sql().query('update ai_agents set fallback_agent_id = $2 where id = $1', [made.agent.id, other.agent.id]);
  await served(running, w);
  const answer = await askAgent(running, w, made.agent, token, PROMPT);
  assert.deepEqual([answer.json().code, upstream.seen.length, failing.seen.length], ['budget_exceeded', 0, 0]);
});

test('an item of an answer is its agent’s alone', async () => {
  const { w, agent, token, upstream } = await setUp(
    json({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', id: 'msg_own', role: 'assistant', content: [] }],
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  );
  const path = '/v1/responses';
  const ask = (item: Data) =>
    askAgent(running, w, agent, token, { model: 'gpt-test', input: [item, { role: 'user', content: 'Hi' }] }, { path });
  assert.equal((await ask({ role: 'user', content: 'Hi' })).status, 200);
  for (const item of [{ type: 'item_reference', id: 'msg_foreign' }, { id: 'msg_foreign' }])
    assert.equal((await ask(item)).json().code, 'operation_not_allowed');
  assert.equal(upstream.seen.length, 1);
  assert.equal((await ask({ type: 'item_reference', id: 'msg_own' })).status, 200);
});

test('what goes on in the background is charged with what was reserved', async () => {
  const { w, agent, token } = await setUp(json({ id: 'resp_2', object: 'response', status: 'queued', output: [], usage: null }));
  const body = { model: 'gpt-test', input: 'Hi', background: true, max_output_tokens: 3_000 };
  const row = await charged(await askAgent(running, w, agent, token, body, { path: '/v1/responses' }));
  assert.equal(Number(row.output_tokens), 3_000);
});

test('a background answer is settled with what it used when it is asked for, once, in the periods in which it began', async () => {
  let answer: Data = { id: 'resp_3', object: 'response', status: 'queued', output: [], usage: null };
  const { w, agent, token } = await setUp((req, res, body) => json(answer)(req, res, body));
  const path = '/v1/responses';
  const begun = { model: 'gpt-test', input: 'Hi', background: true, max_output_tokens: 3_000 };
  await charged(await askAgent(running, w, agent, token, begun, { path }));
  const spent = async () => {
    const { rows } = await sql().query(
      "select tokens::int from ai_spend_counters where tenant_id = $1 and subject_type = 'agent' and period = 'day'",
      [w.tenant.id],
    );
    return (rows[0] as { tokens: number }).tokens;
  };
  const retrieve = () => askAgent(running, w, agent, token, undefined, { method: 'GET', path: `${path}/resp_3` });
  assert.ok((await spent()) >= 3_000);
  const usage = { input_tokens: 5, output_tokens: 7, total_tokens: 12, input_tokens_details: {}, output_tokens_details: {} };
  answer = { ...answer, status: 'in_progress' };
  await charged(await retrieve());
  assert.ok((await spent()) >= 3_000, 'still under way');
  answer = { ...answer, status: 'completed', usage };
  const answers = await Promise.all([1, 2, 3, 4].map(retrieve));
  for (const one of answers) assert.equal(one.status, 200, one.body);
  await charged(answers[0] as Answer);
  assert.equal(await spent(), 12);
  await charged(await retrieve());
  assert.equal(await spent(), 12);
});

test('a failed call with the status of a good one costs nothing', async () => {
  const { w, agent, token } = await setUp(json({ error: { message: 'overloaded' } }));
  const row = await charged(await askAgent(running, w, agent, token, PROMPT));
  assert.deepEqual([Number(row.input_tokens), Number(row.output_tokens)], [0, 0]);
});

test('a stream with nothing but an error costs nothing, and one that breaks off after some words costs those', async () => {
  const stream =
    (...events: unknown[]): Handler =>
    (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) res.write(sse(event));
      res.end();
    };
  const failure = { error: { message: 'overloaded', type: 'server_error', param: null, code: null } };
  const failed = await setUp(stream(failure));
  const nothing = await charged(await askAgent(running, failed.w, failed.agent, failed.token, { ...PROMPT, stream: true }));
  assert.deepEqual([Number(nothing.input_tokens), Number(nothing.output_tokens), nothing.status], [0, 0, 'upstream_error']);
  const some = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'eight by' }, finish_reason: null }] };
  const cut = await setUp(stream(some, failure));
  const estimated = await charged(await askAgent(running, cut.w, cut.agent, cut.token, { ...PROMPT, stream: true }));
  assert.equal(Number(estimated.output_tokens), 2);
  assert.ok(Number(estimated.input_tokens) > 0);
});

test('words that the database can’t hold don’t take the spend of their call along', async () => {
  const { w, agent, token } = await setUp(undefined);
  for (const model of ['gpt\u0000', 'g'.repeat(100_000)]) {
    const answer = await askAgent(running, w, agent, token, JSON.stringify({ ...PROMPT, model }));
    assert.equal(answer.status, 200, answer.body);
    assert.equal(Number((await charged(answer)).input_tokens), 10, JSON.stringify(model.slice(0, 5)));
  }
});

test('a caller who asks for endless output doesn’t break the reservations of others', async () => {
  const { w, made, token } = await setUp(undefined, { budget_daily_usd: 100, provider: 'openai' });
  const body = { ...PROMPT, model: 'gpt-5', max_tokens: 1e12, n: 128 };
  assert.notEqual((await askAgent(running, w, made.agent, token, body)).json().code, 'budget_unavailable');
});

test('Google’s OpenAI-compatible door gets the key as a bearer token', async () => {
  const { w, agent, token, upstream } = await setUp(undefined, { provider: 'gemini' }, {}, { 'x-goog-api-key': '$KEY' });
  const answer = await askAgent(running, w, agent, token, PROMPT);
  assert.equal(answer.status, 200, answer.body);
  const { headers } = upstream.seen.at(-1) as never as { headers: Data };
  assert.match(String(headers.authorization), /^Bearer sk-provider-/);
  assert.equal(headers['x-goog-api-key'], undefined);
});

test('counts of Bedrock’s invocations are taken from its headers', async () => {
  const { w, agent, token } = await setUp(
    json({ generation: 'Hello' }, { 'x-amzn-bedrock-input-token-count': '7', 'x-amzn-bedrock-output-token-count': '3' }),
    { provider: 'bedrock' },
  );
  const row = await charged(await askAgent(running, w, agent, token, { prompt: 'Hi' }, { path: '/model/meta.llama3/invoke' }));
  assert.deepEqual([Number(row.input_tokens), Number(row.output_tokens)], [7, 3]);
});

test('a provider that hangs, sends endless heads or breaks the schema of tools is held off', async () => {
  const hangs = await setUp(() => undefined, { routing_policy: { attempt_timeout_ms: 1_000, max_attempts: 1 } });
  assert.equal((await askAgent(running, hangs.w, hangs.agent, hangs.token, PROMPT)).json().code, 'upstream_timeout');
  const heads = await setUp((_, res) => {
    res.socket?.write(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(2_000_000)}\r\n\r\n`);
  });
  assert.match(String((await askAgent(running, heads.w, heads.agent, heads.token, PROMPT)).json().code), /^upstream_/);
  const call = { id: 7, type: 'function', function: { name: { a: 1 }, arguments: '{"a":' } };
  const tools = await setUp(
    json({ ...completion(), choices: [{ message: { role: 'assistant', content: 5, tool_calls: [call, null, 'x'] } }] }),
    {
      ...PII,
      tool_allowlist: ['search'],
    },
  );
  const answer = await askAgent(running, tools.w, tools.agent, tools.token, PROMPT);
  assert.equal(answer.status, 200, answer.body);
  assert.equal(answer.body.includes('"tool_calls"'), false, 'a call without a name isn’t on the list');
});

test('a list of tools holds for servers of tools too, which the provider would call itself', async () => {
  const { w, agent, token, upstream } = await setUp(json({ type: 'message', content: [] }), {
    provider: 'anthropic',
    tool_allowlist: ['search'],
  });
  const mcp_servers = [{ type: 'url', url: 'https://tools.example', name: 'everything' }];
  const body = { model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], mcp_servers };
  const answer = await askAgent(running, w, agent, token, body, { path: '/v1/messages' });
  assert.deepEqual(
    [answer.status, answer.headers['x-svc-ai-tools-dropped'], 'mcp_servers' in sentTo(upstream)],
    [200, '1', false],
    answer.body,
  );
});
