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
import { makeMcp, makeTool } from './mcp.fixture.ts';
import { start } from './upstreams.fixture.ts';

// The official Python client of 1.x takes any status but 200 for the end of the session, so one session has to live through every kind of refusal.

await testDatabase();
const running = await startGateway();
const run = promisify(execFile);

test('a session of the Python client survives refusals of tools', async (t) => {
  let interpreter: string;
  try {
    interpreter = await pythonWith(['mcp==1.30.0']);
  } catch (error) {
    t.skip(`the Python client can't be installed: ${(error as Error).message.split('\n')[0]}`);
    return;
  }
  const upstream = await start(answerBadly);
  const w = await workspace();
  const { server, token } = await makeMcp(running, w, upstream.url, {
    allowed_tools: [...NAMES.slice(1)],
    firewall_policy_id: await firewall(w),
  });
  await makeTool(server, 'ruled', { argument_rules: [{ path: '$.text', op: 'forbid', value: 'hello' }] });
  await served(running, w);
  const url = `${await doorTo(running, w.tenant.slug)}/v1/mcp/vendor`;
  const script = path.join(import.meta.dirname, 'python-client.py');
  const { stdout } = await run(interpreter, [script, url, token.text, ...NAMES], {
    timeout: 90_000,
    env: { ...process.env, NO_PROXY: '*' },
  });
  const [listed, ...calls] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(listed.tools, NAMES.slice(1).sort());
  assert.deepEqual(
    calls.map(({ code, reason, text }) => text ?? `${code} ${reason}`),
    [
      '-32001 tool_not_allowed',
      '-32000 argument_rule',
      '-32002 firewall_block',
      '-32000 upstream_auth_failed',
      '-32000 upstream_invalid_response',
      '-32000 upstream_unreachable',
      '-32602 invalid_arguments',
      'still here',
    ],
  );
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
  if (method === 'tools/list') return json({ tools: NAMES.map((name) => ({ name, inputSchema: schemaOf(name) })) });
  if (method !== 'tools/call') return void res.writeHead(404).end();
  if (params?.name === 'denied') return void res.writeHead(401).end();
  if (params?.name === 'broken') return void res.writeHead(500, { 'content-type': 'text/html' }).end('<p>Sorry');
  if (params?.name === 'closes') return void res.destroy();
  return json({ content: [{ type: 'text', text: 'still here' }] });
}

const schemaOf = (name: string) => ({ type: 'object', properties: { text: { type: name === 'needs_number' ? 'number' : 'string' } } });
