import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { frontDoorToken } from '#server/crypto/derive.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import type { callOwnGateway } from '#server/platform/own-gateway.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handlePlayground, playAs } from './playground.ts';

await testDatabase();

const messages = [{ role: 'user', content: 'Say hello' }];
const { signal } = new AbortController();

async function anAgent(ctx: Ctx): Promise<string> {
  const { id } = await made(ctx, 'ai_gateways.create', { name: 'Support', slug: 'support' });
  return (await made(ctx, 'ai_gateways.agents.create', { id, name: 'Bot', slug: 'bot', default_model: 'gpt-test' })).id as string;
}

/** A server in the place of the plane, on a real socket. */
async function plane(answer: (res: http.ServerResponse) => void) {
  const seen: { url: string; token: string; body: Record<string, unknown> }[] = [];
  const server = http.createServer(async (req, res) => {
    const body = JSON.parse(Buffer.concat(await req.toArray()).toString());
    seen.push({ url: req.url ?? '', token: String(req.headers.authorization), body });
    answer(res);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const send: typeof callOwnGateway = ({ url, headers, body }) =>
    new Promise((resolve, reject) =>
      http.request({ port, method: 'POST', path: url.pathname, headers }, resolve).on('error', reject).end(body),
    );
  return { seen, send, close: () => server.close() };
}

test('a call is made by a one-shot token of a minute, minted and audited as the person, that the answer does not hold', async () => {
  const w = await workspace();
  const ctx = w.member('owner', 'test');
  const agent_id = await anAgent(ctx);
  const { seen, send, close } = await plane((res) =>
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'r1', 'set-cookie': 'a=b' }).end('data: {}\n\n'),
  );
  const answer = await playAs(ctx, { agent_id, messages }, signal, send);
  assert.equal(await answer.text(), 'data: {}\n\n');
  assert.deepEqual([answer.status, answer.headers.get('x-request-id'), answer.headers.get('set-cookie')], [200, 'r1', null]);
  close();
  const [call] = seen;
  assert.ok(call?.url.endsWith('/v1/ai/bot/v1/chat/completions'), call?.url);
  assert.match(call?.token ?? '', /^Bearer svcp_test_o_/);
  assert.deepEqual(call?.body, { messages, model: 'gpt-test', stream: true, stream_options: { include_usage: true } });
  const row = await db().ai_tokens.findFirstOrThrow({ where: { agent_id } });
  assert.deepEqual([row.kind, row.name, row.created_by, row.sandbox], ['oneshot', 'Playground', ctx.actor.id, true]);
  assert.ok(row.expires_at.getTime() - ctx.now.getTime() <= 60_000);
  const entry = await db().audit_logs.findFirstOrThrow({ where: { resource_id: row.id, action: 'create' } });
  assert.deepEqual([entry.actor_type, entry.actor_id], ['user', ctx.actor.id]);
});

test('a refusal of the plane arrives as it is', async () => {
  const w = await workspace();
  const ctx = w.member('owner', 'test');
  const agent_id = await anAgent(ctx);
  const { send, close } = await plane((res) =>
    res.writeHead(429, { 'content-type': 'application/json', 'retry-after': '60' }).end('{"error":"budget_exceeded"}'),
  );
  const answer = await playAs(ctx, { agent_id, messages, stream: false }, signal, send);
  assert.deepEqual([answer.status, answer.headers.get('retry-after'), await answer.json()], [429, '60', { error: 'budget_exceeded' }]);
  close();
});

test('whoever may not mint makes no call, and an agent of another workspace is not found', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const agent_id = await anAgent(w.member('owner', 'test'));
  const never = () => Promise.reject(new Error('nothing may be sent'));
  for (const [ctx, type] of [
    [w.member('viewer', 'test'), 'role_denied'],
    [other.member('owner', 'test'), 'not_found'],
    [w.member('owner', 'live'), 'not_found'],
  ] as const)
    await assert.rejects(playAs(ctx, { agent_id, messages }, signal, never), (error) => error instanceof Refusal && error.type === type);
  assert.equal(await db().ai_tokens.count({ where: { agent_id } }), 0);
  await assert.rejects(playAs(w.member('owner', 'test'), { agent_id, messages: [] }, signal, never), /messages/);
});

test('without a session nothing is sent', async () => {
  const headers = { 'x-sallyport-front': frontDoorToken(rootKeys().current), 'x-svc-space': 'test', 'content-type': 'application/json' };
  const request = new Request('http://admin.test/admin/ai/playground', { method: 'POST', headers, body: '{}' });
  assert.equal((await handlePlayground(request)).status, 401);
});
