import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { ownerOf } from '#server/testing/owner.ts';
import { enrolled } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { operations } from '../operations.ts';
import { serveManagementMcp } from './serve.ts';
import { managementTools } from './tools.ts';

await testDatabase();

type Asked = { query?: string; headers?: Record<string, string>; space?: 'live' | 'test' };

/** One message to the server, by a credential. */
async function rpc(key: string, method: string, params: object = {}, { query = '', headers = {}, space = 'live' }: Asked = {}) {
  const request = new Request(`https://api.example.com/v1/mcp/sallyport${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const edge = { space, ip: '127.0.0.1', request_id: newId(), user_agent: 'test' };
  const response = await serveManagementMcp(request, edge);
  return { status: response.status, headers: response.headers, body: await response.json() };
}
const names = ({ body }: { body: { result: { tools: { name: string }[] } } }) => body.result.tools.map(({ name }) => name);

test('every tool is a row of the operation table that neither reveals nor mints, with its own words', () => {
  const tools = [...managementTools().values()];
  assert.ok(tools.length > 100);
  for (const { name, row, description, inputSchema } of tools) {
    assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
    assert.ok(operations.includes(row) && ['read', 'change'].includes(row.kind), row.id);
    assert.ok(description.length > 8 && inputSchema.type === 'object', row.id);
  }
  assert.equal(managementTools().has('secrets_reveal'), false);
  assert.equal(managementTools().has('api_keys_create'), false, 'it answers with a key');
});

test('a connection is read-only unless it asks for changes, and never gets more than its key may', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const { body } = await rpc(key, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  });
  assert.equal(body.result.serverInfo.name, 'Sallyport Management API');
  const plain = names(await rpc(key, 'tools/list'));
  assert.ok(plain.includes('environments_list') && !plain.includes('environments_create'));
  const writing = names(await rpc(key, 'tools/list', {}, { query: '?mode=write' }));
  assert.ok(writing.includes('environments_create'));
  assert.deepEqual(names(await rpc(key, 'tools/list', {}, { headers: { 'x-svc-mcp-mode': 'write' } })), writing);
  assert.deepEqual(
    [...new Set(names(await rpc(key, 'tools/list', {}, { query: '?families=environments' })).map((one) => one.split('_')[0]))],
    ['environments'],
  );

  const create = { name: 'environments_create', arguments: { body: { name: 'from-mcp' } } };
  const refused = await rpc(key, 'tools/call', create);
  const unknown = await rpc(key, 'tools/call', { name: 'nothing_like_it' });
  assert.deepEqual([refused.status, { ...refused.body.error.data, request_id: '' }], [200, { ...unknown.body.error.data, request_id: '' }]);
  assert.equal(await db().environments.count({ where: { tenant_id: w.tenant.id, name: 'from-mcp' } }), 0);
});

test('a call runs through the pipeline of the API: input, rights, audit and announcement', async () => {
  const w = await workspace();
  const { text: key, row } = await w.key('live');
  const write = { query: '?mode=write' };
  const made = await rpc(key, 'tools/call', { name: 'environments_create', arguments: { body: { name: 'from-mcp' } } }, write);
  assert.equal(made.body.result.structuredContent.data.name, 'from-mcp');
  assert.equal(made.headers.get('x-sallyport-changed'), `${w.tenant.id}:live`);
  const entry = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: w.tenant.id, resource_type: 'environment', action: 'create' },
    orderBy: { seq: 'desc' },
  });
  assert.equal(entry.actor_id, row.id);

  const { id } = made.body.result.structuredContent.data;
  assert.equal((await rpc(key, 'tools/call', { name: 'environments_get', arguments: { id } })).body.result.structuredContent.data.id, id);
  const again = await rpc(key, 'tools/call', { name: 'environments_create', arguments: { body: { name: 'from-mcp' } } }, write);
  assert.deepEqual([again.status, again.body.result.isError], [200, true]);
  assert.match(again.body.result.content[0].text, /conflict/);
  const wrong = await rpc(key, 'tools/call', { name: 'environments_get', arguments: { id, extra: 1 } });
  assert.equal(wrong.body.error.data.code, 'invalid_arguments');
  const escaping = await rpc(key, 'tools/call', { name: 'environments_get', arguments: { id: '../secrets' } });
  assert.equal(escaping.body.result.isError, true, 'an ID stays in its segment');
});

test('an argument of the path that is the word of another operation calls the tool that was named, or nothing', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const words = [...managementTools().values()].flatMap(({ row }) => {
    const other = [...managementTools().values()].find((one) => one.row !== row && shadows(row.http, one.row.http));
    return other ? [[row, other.row] as const] : [];
  });
  assert.ok(words.length > 0, 'there are such pairs');
  for (const [row, other] of words.slice(0, 12)) {
    const parts = other.http.split('/');
    const args = Object.fromEntries(
      row.http
        .split('/')
        .flatMap((part, i) => (part.startsWith('{') ? [[part.slice(1, -1), (parts[i] as string).replace(/^\{.*/, newId())]] : [])),
    );
    const { body } = await rpc(key, 'tools/call', { name: row.id.replaceAll('.', '_'), arguments: args }, { query: '?mode=write' });
    assert.equal(body.result?.isError, true, `${row.id} answered as ${other.id}`);
  }
});

/** Whether values of the parameters of one address can make it the other. */
const shadows = (pattern: string, other: string): boolean => {
  const [a, b] = [pattern.split('/'), other.split('/')];
  return a.length === b.length && a.every((part, i) => part === b[i] || (part.startsWith('{') && b[i] !== undefined));
};

test('strangers, web pages and keys of the other space are refused before anything is read', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const stranger = await rpc('AKEnothing', 'tools/list');
  assert.equal(stranger.status, 401);
  assert.match(
    stranger.headers.get('www-authenticate') ?? '',
    /resource_metadata="https:\/\/api\.example\.com\/\.well-known\/oauth-protected-resource\/v1"/,
  );
  assert.equal((await rpc(key, 'tools/list', {}, { headers: { origin: 'https://evil.example' } })).status, 403);
  assert.equal((await rpc(key, 'tools/list', {}, { space: 'test' })).status, 403);
  assert.equal((await rpc(key, 'resources/list')).body.error.code, -32601);
});

test('a model that acts for a person changes nothing that takes a confirmed login', async () => {
  for (const space of ['live', 'test'] as const) {
    const w = await workspace();
    const client = await w.client(space, { allowed_scopes: ['routes:read'] });
    const person = await ownerOf(w);
    await enrolled(person.id);
    const { text } = await w.token({ space, person });
    const update = (key: string, body: object) =>
      rpc(key, 'tools/call', { name: 'oauth_clients_update', arguments: { id: client.id, body } }, { query: '?mode=write', space });
    const widened = { allowed_scopes: ['routes:read', 'routes:write'] };
    const refused = await update(text, widened);
    assert.equal(refused.body.result.isError, true);
    assert.match(refused.body.result.content[0].text, /step_up_required/);
    assert.equal((await update(text, { name: 'Renamed' })).body.result.isError, undefined);
    assert.deepEqual((await db().oauth_clients.findUniqueOrThrow({ where: { id: client.id } })).allowed_scopes, ['routes:read']);
    const confirmed = await w.token({ space, person, step_up_at: new Date() });
    assert.equal((await update(confirmed.text, widened)).body.result.isError, undefined);
    const offered = names(await rpc(confirmed.text, 'tools/list', {}, { query: '?mode=write', space }));
    assert.ok(!offered.includes('crypto_keys_delete') && !offered.includes('pki_update_root'), 'what always takes one is for no model');
  }
});
