import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway } from '../gateway.fixture.ts';
import { client, makeAgentToken, makeGateway, makeMcp, makeServer, makeToken, makeTool, textOf } from './mcp.fixture.ts';
import { startLegacyUpstream, startModernUpstream } from './upstreams.fixture.ts';

await testDatabase();
const running = await startGateway();
const legacy = await startLegacyUpstream();
const modern = await startModernUpstream();

const names = (answer: { rpc: { result?: Record<string, never> } }) =>
  ((answer.rpc.result?.tools ?? []) as { name: string }[]).map(({ name }) => name);

test('clients of both eras list and call tools of upstreams of both eras', async () => {
  for (const upstream of [legacy, modern]) {
    const w = await workspace();
    const { client: c } = await makeMcp(running, w, upstream.url, { pii_inspection: false });
    const begun = await c.begin();
    assert.equal(begun.status, 200, begun.body);
    assert.deepEqual(begun.rpc.result?.serverInfo, { name: 'vendor', version: '1' });
    assert.deepEqual(names(await c.list()), ['echo', 'fail', 'sum']);
    assert.equal(textOf(await c.call('echo', { text: 'hi' })), 'You said: hi');
    const listed = await c.modern('tools/list');
    assert.deepEqual([names(listed), listed.rpc.result?.cacheScope], [['echo', 'fail', 'sum'], 'private']);
    const called = await c.modern('tools/call', { name: 'sum', arguments: { a: 2, b: 3 } });
    assert.deepEqual([called.rpc.result?.structuredContent, called.rpc.result?.resultType], [{ sum: 5 }, 'complete']);
  }
});

const aud = (w: Awaited<ReturnType<typeof workspace>>) =>
  db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'ai_gateway.request_denied' } });

test('nothing is told about servers to who has no good credential', async () => {
  const w = await workspace();
  await makeMcp(running, w, legacy.url);
  const bodies = new Set<string>();
  for (const path of ['/v1/mcp/vendor', '/v1/mcp/missing', '/v1/mcp', '/v1/mcp/a/b', '/v1/mcp/UPPER']) {
    const answer = await client(running, w.tenant.slug, path, null).list();
    assert.equal(answer.status, 401, path);
    assert.equal(answer.headers['x-auth-failure'], 'missing_token');
    assert.match(
      answer.headers['www-authenticate'] ?? '',
      /^Bearer realm="mcp", resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource\/v1\/mcp(\/\w+)?", scope="mcp:tools"$/,
    );
    bodies.add(JSON.stringify({ ...JSON.parse(answer.body), request_id: '', service: '' }));
  }
  assert.equal(bodies.size, 1, 'one answer for all');
  const bad = await client(running, w.tenant.slug, '/v1/mcp/vendor', 'svcp_live_t_nonsense').list();
  assert.deepEqual([bad.status, bad.rpc.error as unknown], [401, 'malformed']);
  assert.match(bad.headers['www-authenticate'] ?? '', /error="invalid_token"/);
});

test('a token bound to one server is refused at another, with a challenge and an entry in the audit log', async () => {
  const w = await workspace();
  const gateway = await makeGateway(w);
  await makeServer(w, gateway, 'a', { upstream_url: legacy.url, allowed_tools: ['echo'] });
  await makeServer(w, gateway, 'b', { upstream_url: legacy.url, allowed_tools: ['echo'] });
  const other = await makeGateway(w);
  const resources = {
    connect: `https://${w.tenant.slug}.localhost/v1/mcp/a`,
    upper: `HTTPS://${w.tenant.slug.toUpperCase()}.LOCALHOST/v1/mcp/a/`,
  };
  const bound = await makeToken(w, gateway, { scope: { resource: resources.connect } });
  const spelled = await makeToken(w, gateway, { scope: { resource: resources.upper } });
  const foreign = await makeToken(w, other);
  await served(running, w);
  const ask = (path: string, token: string) => client(running, w.tenant.slug, path, token).modern('tools/list');
  assert.equal((await ask('/v1/mcp/a', bound.text)).status, 200);
  assert.equal((await ask('/v1/mcp/a', spelled.text)).status, 200);
  for (const [path, token] of [
    ['/v1/mcp/b', bound.text],
    ['/v1/mcp', bound.text],
    ['/v1/mcp/a', foreign.text],
  ] as const) {
    const answer = await ask(path, token);
    assert.deepEqual(
      [answer.status, answer.rpc.error as unknown, answer.headers['x-auth-failure'], answer.headers['x-svc-plane']],
      [403, 'invalid_target', 'invalid_target', 'ai'],
    );
    assert.match(answer.headers['www-authenticate'] ?? '', /error="invalid_token", error_description="token is bound to another resource"/);
  }
  const entries = await aud(w);
  assert.ok(entries.length >= 2);
  assert.ok(entries.every(({ details }) => (details as { plane: string }).plane === 'mcp'));
  assert.ok(entries.some(({ details }) => (details as Record<string, unknown>).mcp_server_slug === 'b'));
  assert.ok(!JSON.stringify(entries.map(({ details }) => details)).includes(bound.text));
});

test('only tokens of kind tool, of this space, for servers that exist', async () => {
  const w = await workspace();
  const { gateway } = await makeMcp(running, w, legacy.url);
  const test = await makeGateway(w, {}, 'test');
  await makeServer(w, test, 'only-test', { upstream_url: legacy.url });
  const tokens = { agent: await makeAgentToken(w, gateway), tool: await makeToken(w, gateway), test: await makeToken(w, test) };
  await served(running, w);
  const live = (path: string, token: string) => client(running, w.tenant.slug, path, token).modern('tools/list');
  const agent = await live('/v1/mcp/vendor', tokens.agent.text);
  assert.deepEqual([agent.status, agent.rpc.error as unknown], [403, 'insufficient_scope']);
  assert.match(agent.headers['www-authenticate'] ?? '', /scope="mcp:tools", error="insufficient_scope"/);
  const space = await live('/v1/mcp/vendor', tokens.test.text);
  assert.deepEqual([space.status, space.rpc.error as unknown], [401, 'bad_env']);
  for (const path of ['/v1/mcp/only-test', '/v1/mcp/missing', '/v1/mcp/a/b']) {
    const answer = await live(path, tokens.tool.text);
    assert.deepEqual([answer.status, answer.rpc.error as unknown], [404, 'unknown_mcp_resource'], path);
  }
  const sandbox = await client(running, `sandbox-${w.tenant.slug}`, '/v1/mcp/only-test', tokens.test.text).modern('tools/list');
  assert.deepEqual([sandbox.status, names(sandbox)], [200, []]);
});

test('allowed_tools decides what is there: not allowed and not existing are the same answer', async () => {
  const w = await workspace();
  const { server, client: c } = await makeMcp(running, w, legacy.url, { allowed_tools: [] });
  await c.begin();
  assert.deepEqual((await c.list()).rpc.result, { tools: [] });
  await db().mcp_servers.update({ where: { id: server.id }, data: { allowed_tools: ['echo', 'sum', 'ghost'] } });
  await makeTool(server, 'sum', { enabled: false });
  await makeTool(server, 'fail');
  await served(running, w);
  assert.deepEqual(names(await c.list()), ['echo']);
  const before = legacy.calls('tools/call').length;
  const bodies = new Set<string>();
  for (const name of ['fail', 'sum', 'ghost', 'nonsense']) {
    const answer = await c.call(name);
    assert.deepEqual([answer.status, answer.rpc.error?.code, answer.headers['x-svc-error']], [200, -32001, 'tool_not_allowed'], name);
    bodies.add(answer.body.replaceAll(/"id":\d+|"request_id":"[^"]+"/g, ''));
  }
  assert.equal(bodies.size, 1);
  assert.equal(legacy.calls('tools/call').length, before, 'nothing was sent');
  assert.equal((await aud(w)).length, 0, 'who is authenticated is not denied');
});

test('a token sees of the tools what its scope names, in the aggregate too', async () => {
  const w = await workspace();
  const { gateway, client: c } = await makeMcp(running, w, legacy.url, {}, { tools: ['echo'] });
  await makeServer(w, gateway, 'down', { upstream_url: 'http://127.0.0.1:1/mcp', allowed_tools: ['echo'] });
  await makeServer(w, gateway, 'second', { upstream_url: modern.url, allowed_tools: ['echo', 'sum'], pii_inspection: false });
  const wide = await makeToken(w, gateway);
  await served(running, w);
  assert.deepEqual(names(await c.modern('tools/list')), ['echo']);
  assert.equal((await c.modern('tools/call', { name: 'sum', arguments: { a: 1, b: 1 } })).rpc.error?.code, -32001);
  const all = client(running, w.tenant.slug, '/v1/mcp', wide.text);
  const listed = await all.modern('tools/list');
  assert.deepEqual(names(listed), ['second__echo', 'second__sum', 'vendor__echo', 'vendor__fail', 'vendor__sum']);
  assert.deepEqual(listed.rpc.result?._meta, { ...(listed.rpc.result?._meta as object | undefined), 'svc/unavailable': ['down'] });
  assert.equal(textOf(await all.modern('tools/call', { name: 'second__echo', arguments: { text: 'a' } })), 'You said: a');
  assert.equal((await all.modern('tools/call', { name: 'second__fail', arguments: {} })).rpc.error?.code, -32001);
});

test('a session is good for its token and server, and for nobody else', async () => {
  const w = await workspace();
  const { gateway, client: c } = await makeMcp(running, w, legacy.url);
  await makeServer(w, gateway, 'other', { upstream_url: legacy.url, allowed_tools: ['echo'] });
  const second = await makeToken(w, gateway);
  await served(running, w);
  assert.equal((await c.list()).status, 400, 'a session is required');
  await c.begin();
  const session = c.session as string;
  assert.match(session, /^[\x21-\x7e]{1,512}$/);
  assert.equal((await c.list()).status, 200);
  const with_ = async (path: string, token: string, id: string) => {
    const other = client(running, w.tenant.slug, path, token);
    other.session = id;
    return (await other.list()).status;
  };
  const token = second.text;
  assert.equal(await with_('/v1/mcp/vendor', token, session), 404);
  assert.equal(await with_('/v1/mcp/vendor', token, 'nonsense'), 404);
  const mine = client(running, w.tenant.slug, '/v1/mcp/other', token);
  await mine.begin();
  assert.equal(await with_('/v1/mcp/vendor', token, mine.session as string), 404, 'of another server');
  const deletions = legacy.seen.filter(({ method }) => method === 'DELETE').length;
  assert.equal((await c.send('', {}, 'DELETE')).status, 204);
  assert.equal((await c.list()).status, 404, 'it is over');
  await until(() => legacy.seen.filter(({ method }) => method === 'DELETE').length === deletions + 1, 'the upstream hears of it');
  assert.equal((await client(running, w.tenant.slug, '/v1/mcp/vendor', token).send('', {}, 'DELETE')).status, 404);
});

test('each legacy client has an upstream session of its own; others share one, which is opened again when it is lost', async () => {
  const upstream = await startLegacyUpstream();
  const w = await workspace();
  const { client: one, token } = await makeMcp(running, w, upstream.url);
  const two = client(running, w.tenant.slug, '/v1/mcp/vendor', token.text);
  await one.begin();
  await two.begin();
  await one.call('echo', { text: 'a' });
  await two.call('echo', { text: 'b' });
  const sessions = () => upstream.calls('tools/call').map(({ headers }) => headers['mcp-session-id']);
  assert.equal(new Set(sessions()).size, 2);
  await one.modern('tools/call', { name: 'echo', arguments: { text: 'c' } });
  await two.modern('tools/call', { name: 'echo', arguments: { text: 'd' } });
  assert.equal(new Set(sessions()).size, 3);
  upstream.forgetSessions();
  assert.equal((await one.modern('tools/call', { name: 'echo', arguments: { text: 'e' } })).status, 200);
  assert.equal(new Set(sessions()).size, 4);
  const lost = await one.call('echo', { text: 'f' });
  assert.deepEqual([lost.status, lost.rpc.error?.data.code], [404, 'unknown_session'], 'the client begins anew');
});

test('what is not served is unknown, in the words of the era', async () => {
  const w = await workspace();
  const { client: c } = await makeMcp(running, w, legacy.url);
  await c.begin();
  for (const method of [
    'resources/list',
    'resources/read',
    'prompts/list',
    'prompts/get',
    'completion/complete',
    'sampling/createMessage',
    'tasks/list',
    'subscriptions/listen',
    'nonsense',
    'constructor',
  ]) {
    const old = await c.request(method);
    assert.deepEqual([old.status, old.rpc.error?.code], [200, -32601], method);
    const recent = await c.modern(method);
    assert.deepEqual([recent.status, recent.rpc.error?.code], [404, -32601], method);
  }
  assert.deepEqual((await c.request('ping')).rpc.result, {});
  assert.deepEqual((await c.request('logging/setLevel', { level: 'debug' })).rpc.result, {});
  assert.equal((await c.modern('ping')).status, 404);
  const discovered = await c.modern('server/discover');
  assert.match(JSON.stringify(discovered.rpc.result?.supportedVersions), /2026-07-28/);
  assert.equal((await c.send({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
  assert.equal((await c.send({ jsonrpc: '2.0', id: 1, result: {} })).status, 202);
  const get = await c.send('', {}, 'GET');
  assert.deepEqual([get.status, get.headers.allow], [405, 'POST, DELETE']);
  const batch = await c.send([{ jsonrpc: '2.0', id: 1, method: 'ping' }]);
  assert.deepEqual([batch.status, batch.rpc.error?.code], [400, -32600]);
  assert.deepEqual([(await c.send('{')).status, (await c.send('{')).rpc.error?.code], [400, -32700]);
  assert.equal((await c.send({ jsonrpc: '2.0', id: 1, method: 'ping' }, { 'content-type': 'text/plain' })).status, 415);
  const mismatch = await c.modern('tools/list', {}, { 'mcp-method': 'tools/call' });
  assert.deepEqual([mismatch.status, mismatch.rpc.error?.code], [400, -32020]);
  const version = await c.modern('tools/list', {}, { 'mcp-protocol-version': '2025-11-25' });
  assert.deepEqual([version.status, version.rpc.error?.code], [400, -32020]);
  assert.equal((await c.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'x'.repeat(1024 * 1024)}"}}`)).status, 413);
});

test('a paused gateway or server answers nothing', async () => {
  const w = await workspace();
  const { gateway, server, client: c } = await makeMcp(running, w, legacy.url);
  await db().mcp_servers.update({ where: { id: server.id }, data: { status: 'paused' } });
  await served(running, w);
  const paused = await c.modern('tools/list');
  assert.deepEqual([paused.status, paused.rpc.error?.code, paused.rpc.error?.data.code], [503, -32603, 'server_not_active']);
  await db().ai_gateways.update({ where: { id: gateway.id }, data: { status: 'paused' } });
  await served(running, w);
  const both = await c.modern('tools/call', { name: 'echo', arguments: { text: 'a' } });
  assert.deepEqual([both.status, both.rpc.error?.code, both.rpc.error?.data.code], [503, -32603, 'gateway_not_active']);
});

test('an access token of a person is good at the server that it was made for, and nowhere else', async () => {
  const w = await workspace();
  const { gateway } = await makeMcp(running, w, modern.url, { pii_inspection: false });
  await makeServer(w, gateway, 'other', { upstream_url: modern.url, allowed_tools: ['echo'] });
  await served(running, w);
  const person = await db().users.create({ data: { id: newId(), email: `${newId()}@example.com` } });
  await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: person.id, role: 'editor' } });
  const resource = `https://${w.tenant.slug}.localhost/v1/mcp/vendor`;
  const app = await w.client('live', { allowed_scopes: ['mcp:tools', 'routes:read'] });
  const login = async (scopes: string[], aud: string | null) => (await w.token({ scopes, of: app, person, extra: { aud } })).text;
  const at = (path: string, token: string) =>
    client(running, w.tenant.slug, path, token).modern('tools/call', { name: 'echo', arguments: { text: 'me' } });
  const token = await login(['mcp:tools'], resource);
  assert.equal(textOf(await at('/v1/mcp/vendor', token)), 'You said: me');
  const foreign = await at('/v1/mcp/other', token);
  // RFC 6750 §3.1: invalid_token is 401, so that its client signs in again.
  assert.deepEqual([foreign.status, foreign.rpc.error as unknown], [401, 'invalid_target']);
  assert.match(foreign.headers['www-authenticate'] ?? '', /error="invalid_token", error_description="token is bound to another resource"/);
  assert.deepEqual((await at('/v1/mcp', token)).rpc.error as unknown, 'invalid_target');
  const plain = await at('/v1/mcp/vendor', await login(['routes:read'], null));
  assert.deepEqual([plain.status, plain.rpc.error as unknown], [401, 'invalid_target']);
  const narrow = await at('/v1/mcp/vendor', await login(['routes:read'], resource));
  assert.deepEqual([narrow.status, narrow.rpc.error as unknown], [403, 'insufficient_scope']);
  const unknown = await at('/v1/mcp/vendor', `svc_live_${'x'.repeat(43)}`);
  assert.deepEqual([unknown.status, unknown.rpc.error as unknown], [401, 'invalid_token']);
  await db().memberships.updateMany({ where: { tenant_id: w.tenant.id, user_id: person.id }, data: { removed_at: new Date() } });
  await until(async () => (await at('/v1/mcp/vendor', token)).status === 401, 'who leaves the workspace is out');
  const machine = await w.token({ scopes: ['mcp:tools'], of: app, extra: { aud: resource } });
  assert.equal((await at('/v1/mcp/vendor', machine.text)).status, 401, 'a machine has a capability token');
});

test('the kill switch, a paused server and a revoked access token end a running call of a person, in the aggregate too', async () => {
  const slow = await startLegacyUpstream({
    more: (server) => void server.registerTool('slow', { description: 'Never ends', inputSchema: {} }, () => new Promise(() => undefined)),
  });
  const w = await workspace();
  const { gateway, server } = await makeMcp(running, w, slow.url, { pii_inspection: false, allowed_tools: ['slow'] });
  const person = await db().users.create({ data: { id: newId(), email: `${newId()}@example.com` } });
  await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: person.id, role: 'editor' } });
  const app = await w.client('live', { allowed_scopes: ['mcp:tools'] });
  const base = `https://${w.tenant.slug}.localhost/v1/mcp`;
  const login = (aud: string) => w.token({ scopes: ['mcp:tools'], of: app, person, extra: { aud } });
  const [all, one] = [await login(base), await login(`${base}/vendor`)];
  /** What a call gets that runs while something changes. */
  const during = async (change: () => Promise<unknown>, path = '/v1/mcp', { text } = all, name = 'vendor__slow') => {
    const before = slow.calls('tools/call').length;
    const call = client(running, w.tenant.slug, path, text).modern('tools/call', { name, arguments: {} });
    await until(() => slow.calls('tools/call').length > before);
    await change();
    const { status, rpc } = await call;
    return [status, rpc.error?.data.code];
  };
  const set = (status: string) => async () => {
    await db().ai_gateways.update({ where: { id: gateway.id }, data: { status } });
    await served(running, w);
  };
  const setServer = (status: string) => async () => {
    await db().mcp_servers.update({ where: { id: server.id }, data: { status } });
    await served(running, w);
  };
  const revoke =
    ({ row }: typeof all) =>
    () =>
      db().oauth_access.update({ where: { id: row.id }, data: { revoked_at: new Date() } });
  assert.deepEqual(await during(set('paused')), [503, 'gateway_not_active']);
  await set('active')();
  assert.deepEqual(await during(setServer('paused')), [503, 'server_not_active']);
  await setServer('active')();
  assert.deepEqual(await during(revoke(all)), [401, 'missing_auth']);
  assert.deepEqual(await during(revoke(one), '/v1/mcp/vendor', one, 'slow'), [401, 'missing_auth']);
});

test('the API host serves a server too: the token names the workspace', async () => {
  const w = await workspace();
  const { token } = await makeMcp(running, w, modern.url, { pii_inspection: false });
  const { port } = await running.gateway.listen('api', 0, '127.0.0.1');
  const api = { ...running, port };
  const at = (path: string, text: string | null) => client(api, 'api', path, text);
  const hosted = (path: string, text: string | null) => {
    const one = at(path, text);
    return one.modern('tools/call', { name: 'echo', arguments: { text: 'api' } }, { host: `localhost:${port}` });
  };
  assert.equal(textOf(await hosted('/v1/mcp/vendor', token.text)), 'You said: api');
  const none = await hosted('/v1/mcp/vendor', null);
  assert.deepEqual([none.status, none.headers['x-svc-plane']], [401, 'ai']);
  assert.match(
    none.headers['www-authenticate'] ?? '',
    /^Bearer realm="mcp", resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource\/v1\/mcp\/vendor", scope="mcp:tools"$/,
  );
});
