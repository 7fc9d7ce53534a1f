import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { pythonWith } from '#server/testing/python.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { served, startGateway } from '../gateway.fixture.ts';
import { doorTo } from './door.fixture.ts';
import { makeMcp, makeServer, makeTool } from './mcp.fixture.ts';
import { start } from './upstreams.fixture.ts';

// The official Python client of 1.x takes any status but 200 for the end of the session, so one session has to live through every kind of refusal.

const run = promisify(execFile);
let interpreter: string | undefined;
let skip: string | false = false;
try {
  interpreter = await pythonWith(['mcp==1.30.0']);
} catch (error) {
  skip = `the Python client can't be installed: ${(error as Error).message.split('\n')[0]}`;
}

await testDatabase();
const running = await startGateway();

/** What a session of the client prints: its tools, then each call. */
async function session(url: string, token: string, names: readonly string[]): Promise<Printed[]> {
  const script = path.join(import.meta.dirname, 'python-client.py');
  const { stdout } = await run(interpreter as string, [script, url, token, ...names], {
    timeout: 90_000,
    env: { ...process.env, NO_PROXY: '*' },
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

type Printed = { tools?: string[]; code?: number; reason?: string; text?: string; ended?: number };
const told = ({ code, reason, text, ended }: Printed) => text ?? (ended === undefined ? `${code} ${reason}` : `ended by ${ended}`);

test('a session of the Python client survives refusals of tools', { skip }, async () => {
  const upstream = await start(answerBadly);
  const w = await workspace();
  const { server, token } = await makeMcp(running, w, upstream.url, {
    allowed_tools: [...NAMES.slice(1)],
    firewall_policy_id: await firewall(w),
  });
  await makeTool(server, 'ruled', { argument_rules: [{ path: '$.text', op: 'forbid', value: 'hello' }] });
  await served(running, w);
  const url = `${await doorTo(running, w.tenant.slug)}/v1/mcp/vendor`;
  const [listed, ...calls] = await session(url, token.text, NAMES);
  assert.deepEqual(listed?.tools, NAMES.slice(1).sort());
  assert.deepEqual(calls.map(told), [
    '-32001 tool_not_allowed',
    '-32000 argument_rule',
    '-32002 firewall_block',
    '-32000 upstream_auth_failed',
    '-32000 upstream_invalid_response',
    '-32000 upstream_unreachable',
    '-32602 invalid_arguments',
    'still here',
  ]);
});

test('a session of the Python client survives a server that is paused in the middle of a call', { skip }, async () => {
  const w = await workspace();
  let id = '';
  const status = async (value: string) => {
    await db().mcp_servers.update({ where: { id }, data: { status: value } });
    await served(running, w);
  };
  const upstream = await start((req, res, message: Message) => {
    if (message?.params?.name === 'pauses') return status('paused');
    answerBadly(req, res, message);
  });
  const { gateway, server, token } = await makeMcp(running, w, upstream.url, { allowed_tools: ['pauses'] });
  id = server.id;
  await makeServer(w, gateway, 'other', { upstream_url: upstream.url, allowed_tools: ['fine'] });
  await makeTool(server, 'pauses');
  await served(running, w);
  const [, ...calls] = await session(`${await doorTo(running, w.tenant.slug)}/v1/mcp`, token.text, ['vendor__pauses', 'other__fine']);
  assert.deepEqual(calls.map(told), ['-32603 server_not_active', 'still here']);
});

// The client throws on these statuses before it reads a body, so no body could keep its session.
test('a status that the interface fixes ends a session of the Python client, and a new one goes on', { skip }, async () => {
  const upstream = await start(answerBadly);
  const guardrail = await start(
    (_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ action: 'block' })),
  );
  const guarded = (url: string) => ({ guardrail_webhook_url: url, guardrail_webhook_mode: 'request' });
  const open = { guardrail_webhook_url: null, guardrail_webhook_mode: 'off' };
  const w = await workspace();
  const { gateway, server, token } = await makeMcp(running, w, upstream.url, { allowed_tools: ['fine'] });
  const url = `${await doorTo(running, w.tenant.slug)}/v1/mcp/vendor`;
  const change = async (columns: object, of: object = {}) => {
    await db().mcp_servers.update({ where: { id: server.id }, data: columns });
    await db().ai_gateways.update({ where: { id: gateway.id }, data: of });
    await served(running, w);
  };
  const cases: [number, columns: object, of?: object][] = [
    [429, {}, { budget_daily_usd: 0 }],
    [400, guarded(guardrail.url)],
    [503, guarded('http://127.0.0.1:1/check')],
  ];
  for (const [status, columns, of] of cases) {
    await change(columns, of);
    assert.deepEqual((await session(url, token.text, ['fine', 'fine'])).slice(1).map(told), [`ended by ${status}`]);
    await change(open, { budget_daily_usd: null });
    assert.deepEqual((await session(url, token.text, ['fine'])).slice(1).map(told), ['still here']);
  }
});

/** Each of them is refused in its own way, but the last. */
const NAMES = ['missing', 'ruled', 'guarded', 'denied', 'broken', 'closes', 'needs_number', 'fine'];

const firewall = async (w: Workspace): Promise<string> => {
  const id = newId();
  const data = { id, tenant_id: w.tenant.id, sandbox: false, name: `f-${id.slice(-6)}`, action: 'block' };
  await db().ai_firewall_policies.create({ data: data as never });
  return id;
};

type Message = { id?: number; method: string; params?: { name: string } };

function answerBadly(_: IncomingMessage, res: ServerResponse, message: Message) {
  const { id, method, params } = message ?? {};
  const json = (result: object) =>
    void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  if (id === undefined) return void res.writeHead(202).end();
  if (method === 'initialize')
    return json({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'bad', version: '1' } });
  if (method === 'tools/list') return json({ tools: [...NAMES, 'pauses'].map((name) => ({ name, inputSchema: schemaOf(name) })) });
  if (method !== 'tools/call') return void res.writeHead(404).end();
  if (params?.name === 'denied') return void res.writeHead(401).end();
  if (params?.name === 'broken') return void res.writeHead(500, { 'content-type': 'text/html' }).end('<p>Sorry');
  if (params?.name === 'closes') return void res.destroy();
  return json({ content: [{ type: 'text', text: 'still here' }] });
}

const schemaOf = (name: string) => ({ type: 'object', properties: { text: { type: name === 'needs_number' ? 'number' : 'string' } } });
