import assert from 'node:assert/strict';
import test from 'node:test';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { readEnvelope } from './envelope.ts';
import { isFault, rpcNumber, statusOf } from './errors.ts';
import { readMessage } from './messages.ts';
import { META, MODERN_VERSION } from './versions.ts';

const meta = { [META.version]: MODERN_VERSION, [META.clientCapabilities]: {}, [META.clientInfo]: { name: 'c', version: '1' } };
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };
const callOf = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta: meta } });
const good = { 'MCP-Protocol-Version': MODERN_VERSION, 'Mcp-Method': 'tools/list' };
const calling = { ...good, 'Mcp-Method': 'tools/call' };
const without = (key: string) => ({
  ...list,
  params: { _meta: Object.fromEntries(Object.entries(meta).filter(([name]) => name !== key)) },
});

function verdict(body: object, headers: Record<string, string>): string {
  const message = readMessage(JSON.stringify(body));
  if (message.kind === 'unreadable')
    return `${statusOf(message.fault.code, 'modern', message.id !== null)} ${rpcNumber(message.fault.code)}`;
  const lower = new Headers(headers);
  const header = (name: string) => lower.get(name) ?? undefined;
  const envelope = readEnvelope(message, {
    version: header('mcp-protocol-version'),
    method: header('mcp-method'),
    name: header('mcp-name'),
  });
  return isFault(envelope) ? `${statusOf(envelope.code, 'modern', true)} ${rpcNumber(envelope.code)}` : envelope.era;
}

const CASES: [what: string, body: object, headers: Record<string, string>][] = [
  ['a good request', list, good],
  ['no version header', list, { 'Mcp-Method': 'tools/list' }],
  ['another version header', list, { ...good, 'MCP-Protocol-Version': '2025-11-25' }],
  [
    'a version nobody speaks',
    { ...list, params: { _meta: { ...meta, [META.version]: '2999-01-01' } } },
    { ...good, 'MCP-Protocol-Version': '2999-01-01' },
  ],
  ['no method header', list, { 'MCP-Protocol-Version': MODERN_VERSION }],
  ['another method header', list, { ...good, 'Mcp-Method': 'tools/call' }],
  ['blanks around the method', list, { ...good, 'Mcp-Method': ' tools/list ' }],
  ['no capabilities', without(META.clientCapabilities), good],
  ['no version in the body', without(META.version), good],
  ['no client info', without(META.clientInfo), good],
  ['no name header', callOf('echo'), calling],
  ['the name', callOf('echo'), { ...calling, 'Mcp-Name': 'echo' }],
  ['another name', callOf('echo'), { ...calling, 'Mcp-Name': 'Echo' }],
  ['an encoded name', callOf('echo'), { ...calling, 'Mcp-Name': '=?base64?ZWNobw==?=' }],
  ['a badly encoded name', callOf('echo'), { ...calling, 'Mcp-Name': '=?base64?***?=' }],
  ['an array', [list], good],
];

test('headers and bodies are judged as the official server judges them', async () => {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 's', version: '1' });
      server.registerTool('echo', { inputSchema: z.object({}) }, () => ({ content: [] }));
      return server;
    },
    { legacy: 'reject' },
  );
  for (const [what, body, headers] of CASES) {
    const all = { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const answer = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers: all, body: JSON.stringify(body) }));
    const text = await answer.text();
    const code = /"code":(-\d+)/.exec(text)?.[1];
    assert.equal(verdict(body, headers), answer.status === 200 ? 'modern' : `${answer.status} ${code}`, `${what}: ${text}`);
  }
});

test('what claims nothing, or an older version, is legacy', () => {
  const plain = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  assert.equal(verdict(plain, {}), 'legacy');
  assert.equal(verdict(plain, { 'MCP-Protocol-Version': '2025-06-18' }), 'legacy');
  assert.equal(verdict(plain, { 'MCP-Protocol-Version': '2024-11-05' }), '400 -32600');
  assert.equal(
    verdict({ ...plain, method: 'initialize' }, { 'MCP-Protocol-Version': '2024-11-05' }),
    'legacy',
    'a client may say there what it likes',
  );
  assert.equal(verdict({ jsonrpc: '2.0', id: 1, result: {} }, {}), 'legacy');
  assert.equal(verdict({ jsonrpc: '2.0', id: 1, result: {} }, { 'MCP-Protocol-Version': MODERN_VERSION }), '400 -32600');
});

test('messages that are none', () => {
  const faultOf = (text: string) => {
    const message = readMessage(text);
    return message.kind === 'unreadable' ? [message.fault.code, message.id] : message.kind;
  };
  assert.deepEqual(faultOf('{'), ['parse_error', null]);
  assert.deepEqual(faultOf('[]'), ['invalid_request', null]);
  assert.deepEqual(faultOf('{"id":1,"method":"ping"}'), ['invalid_request', null]);
  assert.deepEqual(faultOf('{"jsonrpc":"2.0","id":null,"method":"ping"}'), ['invalid_request', null]);
  assert.deepEqual(faultOf('{"jsonrpc":"2.0","id":1.5,"method":"ping"}'), ['invalid_request', null]);
  for (const id of ['9007199254740991.5', '0.99999999999999999999', '1e-400', `1e${'9'.repeat(20)}`, '9'.repeat(401), 'true', '{}'])
    assert.deepEqual(faultOf(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`), ['invalid_request', null], id);
  assert.deepEqual(faultOf('{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}'), ['invalid_request', 3]);
  assert.deepEqual(faultOf('{"jsonrpc":"2.0","id":3}'), ['invalid_request', 3]);
  assert.equal(faultOf('{"jsonrpc":"2.0","id":"a","method":"ping"}'), 'request');
  assert.equal(faultOf('{"jsonrpc":"2.0","method":"notifications/initialized"}'), 'notification');
});

test('a request keeps the digits of its id', () => {
  for (const [id, kept] of [
    ['7615917337495251231', '7615917337495251231'],
    ['-9007199254740993', '-9007199254740993'],
    ['9007199254740992', '9007199254740992'],
    ['3.0', '3'],
    ['1e2', '100'],
  ]) {
    const message = readMessage(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    assert.equal(message.kind === 'request' && JSON.stringify(message.id), kept, id);
  }
});
