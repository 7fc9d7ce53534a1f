import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:http';
import test from 'node:test';
import { AI_CODES, type AiCode } from '#server/ai/codes.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Answer, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, completion, frames, makeAgent, makeToken, openAi, PROMPT, SECRET, sse } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();

type Handler = (req: IncomingMessage, res: ServerResponse, body: Buffer) => void;

async function setUp(handler: Handler | undefined, agent: Record<string, unknown> = {}, header: Record<string, unknown> = {}) {
  const w = await workspace();
  const upstream = handler ? await startUpstream(handler) : await openAi();
  const made = await makeAgent(w, upstream, agent, {}, header);
  const token = await makeToken(w, made);
  await served(running, w);
  return { w, upstream, ...made, token: token.text, tokenRow: token.row };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (_, res) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers }).end(text);
  };

function refused(answer: Answer, code: AiCode, upstreamStatus?: string): void {
  assert.deepEqual(
    [answer.status, answer.json().code, answer.headers['x-svc-upstream-status']],
    [AI_CODES[code], code, upstreamStatus],
    answer.body,
  );
  assert.equal(answer.body.includes(SECRET), false);
}

test('a provider’s 401 and 403 are never the caller’s, and what they quote stays here', async () => {
  for (const status of [401, 403]) {
    const { w, agent, token } = await setUp(json(status, { error: { message: `Incorrect API key: ${SECRET}` } }));
    const answer = await askAgent(running, w, agent, token, PROMPT);
    refused(answer, 'upstream_auth_failed', String(status));
    assert.equal(answer.headers['www-authenticate'], undefined);
    await running.flush();
    const row = await db().request_logs.findFirstOrThrow({ where: { request_id: answer.headers['x-svc-request-id'] ?? '' } });
    assert.equal(JSON.stringify(row.error_detail).includes(SECRET), false);
  }
});

test('a provider’s own refusal comes back with its status and words, but without our credential', async () => {
  const { w, agent, token } = await setUp(
    json(
      400,
      { error: { message: `bad request from ${SECRET} and ${Buffer.from(SECRET).toString('base64')}` } },
      { 'retry-after': '7', 'x-echo': SECRET },
    ),
  );
  const answer = await askAgent(running, w, agent, token, PROMPT);
  assert.deepEqual(
    [answer.status, answer.headers['x-svc-origin'], answer.headers['x-svc-upstream-status'], answer.headers['retry-after']],
    [400, 'upstream', '400', '7'],
  );
  assert.match(answer.body, /bad request from \[redacted/);
  assert.equal(
    answer.body.includes(SECRET) ||
      answer.body.includes(Buffer.from(SECRET).toString('base64')) ||
      JSON.stringify(answer.headers).includes(SECRET),
    false,
  );
});

test('an answer and a stream that echo the credential don’t give it away', async () => {
  const whole = await setUp(
    json(200, completion(`the key is ${SECRET}`), { 'openai-organization': 'org-x', 'set-cookie': 'a=b', server: 'x', 'cf-ray': '1' }),
  );
  const answer = await askAgent(running, whole.w, whole.agent, whole.token, PROMPT);
  assert.equal(answer.status, 200);
  assert.equal(answer.body.includes(SECRET), false);
  for (const name of ['openai-organization', 'set-cookie', 'server', 'cf-ray']) assert.equal(answer.headers[name], undefined, name);
  const streamed = await setUp((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of frames(`hello ${SECRET} bye`)) res.write(frame);
    res.end();
  });
  const cut = await askAgent(running, streamed.w, streamed.agent, streamed.token, { ...PROMPT, stream: true });
  assert.equal(cut.body.includes(SECRET), false, cut.body);
});

test('redirections are not followed, and what cannot be read is not passed on', async () => {
  const moved = await setUp((_, res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end());
  refused(await askAgent(running, moved.w, moved.agent, moved.token, PROMPT), 'upstream_invalid_response', '302');
  const broken = await setUp(json(200, '{"choices":['));
  refused(await askAgent(running, broken.w, broken.agent, broken.token, PROMPT), 'upstream_invalid_response', '200');
  const gone = await setUp((req) => req.socket.destroy());
  refused(await askAgent(running, gone.w, gone.agent, gone.token, PROMPT), 'upstream_unreachable');
  const silent = await setUp(() => undefined, { routing_policy: { attempt_timeout_ms: 1_000 } });
  refused(await askAgent(running, silent.w, silent.agent, silent.token, PROMPT), 'upstream_timeout');
});

test('a host that now leads inside is blocked at the call', async () => {
  const { w, agent, token, route } = await setUp(undefined);
  await db().route_environment_configs.updateMany({ where: { route_id: route.id }, data: { target_base_url: 'http://169.254.169.254' } });
  await served(running, w);
  refused(await askAgent(running, w, agent, token, PROMPT), 'upstream_blocked');
});

test('a secret that is gone is named, and nothing is sent', async () => {
  const { w, agent, token, upstream, secret } = await setUp(undefined);
  await db().secret_environments.updateMany({ where: { secret_id: secret.id }, data: { current_value_id: null } });
  await served(running, w);
  refused(await askAgent(running, w, agent, token, PROMPT), 'upstream_credential_unavailable');
  assert.equal(upstream.seen.length, 0);
});

test('attempts, waits and the next route follow the routing policy', async () => {
  let n = 0;
  const { w, agent, token } = await setUp(
    (req, res, body) => (++n < 3 ? json(503, { error: { message: 'busy' } })(req, res, body) : json(200, completion())(req, res, body)),
    {
      routing_policy: { max_attempts: 3, retry_on: ['5xx'], backoff_ms: 1, jitter: false },
    },
  );
  const answer = await askAgent(running, w, agent, token, PROMPT);
  assert.deepEqual([answer.status, answer.headers['x-svc-ai-attempts']], [200, '3'], answer.body);

  const spare = await openAi();
  const first = await setUp(json(500, { error: { message: 'down' } }));
  const second = await makeAgent(first.w, spare);
  await db().ai_agents.update({ where: { id: first.agent.id }, data: { fallback_route_ids: [second.route.id] } });
  await served(running, first.w);
  const saved = await askAgent(running, first.w, first.agent, first.token, PROMPT);
  assert.deepEqual(
    [saved.status, saved.headers['x-svc-ai-fallback'], saved.headers['x-svc-ai-route']],
    [200, 'route', second.route.id],
    saved.body,
  );

  const asked = await setUp(json(429, { error: { message: 'slow down' } }));
  const limited = await askAgent(running, asked.w, asked.agent, asked.token, PROMPT);
  assert.deepEqual([limited.status, limited.headers['x-svc-origin'], asked.upstream.seen.length], [429, 'upstream', 1]);
});

test('a stream that ends before its last event says so in a frame, and never looks whole', async () => {
  for (const cut of ['end', 'reset']) {
    const { w, agent, token } = await setUp((_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const frame of frames().slice(0, 2)) res.write(frame);
      setImmediate(() => (cut === 'end' ? res.end() : res.destroy()));
    });
    const answer = await askAgent(running, w, agent, token, { ...PROMPT, stream: true });
    assert.equal(answer.status, 200);
    assert.match(answer.body, /event: error\ndata: \{"error":"upstream_stream_failed".*"request_id":"[0-9a-f-]{36}"\}\n\n$/, answer.body);
    assert.equal(answer.body.includes('[DONE]'), false);
    await running.flush();
    const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: answer.headers['x-svc-request-id'] ?? '' } });
    assert.equal(row.status, 'stream_failed');
  }
});

test('a stream that fails before its first event is answered with a status', async () => {
  const { w, agent, token } = await setUp((_, res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).end());
  refused(await askAgent(running, w, agent, token, { ...PROMPT, stream: true }), 'upstream_invalid_response', '200');
});

for (const how of ['agent', 'gateway', 'token'] as const)
  test(`pausing or revoking the ${how} in mid-stream cuts it, with why`, async () => {
    const { w, agent, gateway, token, tokenRow } = await setUp((_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(frames()[0]);
      const timer = setInterval(
        () => res.write(sse({ ...completion(), choices: [{ index: 0, delta: { content: 'more ' }, finish_reason: null }] })),
        50,
      );
      res.on('close', () => clearInterval(timer));
    });
    const answer = askAgent(running, w, agent, token, { ...PROMPT, stream: true });
    await until(() => running.runtime.inFlight.get(w.tenant.id) === 1);
    if (how === 'agent') await db().ai_agents.update({ where: { id: agent.id }, data: { status: 'paused' } });
    else if (how === 'gateway') await db().ai_gateways.update({ where: { id: gateway.id }, data: { status: 'paused' } });
    else await db().ai_tokens.update({ where: { id: tokenRow.id }, data: { revoked_at: new Date(), capability_hmac: '' } });
    const { body } = await answer;
    const cause = { agent: 'agent_not_active', gateway: 'gateway_not_active', token: 'revoked' }[how];
    assert.match(body, new RegExp(`"code":"upstream_stream_failed","cause":"${cause}"`));
  });

test('when the caller goes, the provider is hung up on and what came is charged', async () => {
  let closed = false;
  const { w, agent, token } = await setUp((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of frames().slice(0, 3)) res.write(frame);
    res.on('close', () => {
      closed = true;
    });
  });
  const body = JSON.stringify({ ...PROMPT, stream: true });
  const req = request({
    port: running.port,
    host: '127.0.0.1',
    method: 'POST',
    path: `/v1/ai/${agent.slug}/v1/chat/completions`,
    headers: {
      host: `${w.tenant.slug}.localhost`,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  });
  req.on('error', () => undefined);
  req.on('response', (res) => res.once('data', () => req.destroy()));
  req.end(body);
  await until(() => closed);
  await until(async () => {
    await running.flush();
    return (await db().ai_request_logs.count({ where: { agent_id: agent.id, status: 'client_closed' } })) === 1;
  });
  const row = await db().ai_request_logs.findFirstOrThrow({ where: { agent_id: agent.id } });
  assert.ok(Number(row.input_tokens) > 0, 'estimated');
  assert.equal(running.runtime.inFlight.get(w.tenant.id), undefined);
});
