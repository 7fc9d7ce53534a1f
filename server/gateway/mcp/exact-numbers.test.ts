import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { jsonOfColumn, parseExact } from '#server/kernel/lossless-json.ts';
import { toolHash } from '#server/mcp/pinning.ts';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { HOSTILE_JSON as HOSTILE } from '#server/testing/hostile/json-document.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { makeMcp, makeTool } from './mcp.fixture.ts';

// Arguments and results keep the digits and names that were given; what the protocol itself reads are numbers.

await testDatabase();
const running = await startGateway();

const SCHEMA = '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807,"default":1.0}}}';

/** An MCP server in the words that its bytes are: other servers would parse and write them. Of `era`, which only the modern one has a discovery for. */
async function startRaw(era: 'legacy' | 'modern') {
  const raw = { schema: SCHEMA };
  const texts: string[] = [];
  const answers: string[] = [];
  const port = await listen(
    createServer(async (req, res) => {
      let text = '';
      for await (const part of req) text += part;
      if (text === '') return void res.writeHead(405).end();
      const { id, method, params } = JSON.parse(text);
      if (method === 'tools/call') texts.push(text);
      if (method === undefined) answers.push(text);
      if (id === undefined || method === undefined) return void res.writeHead(202).end();
      const send = (json: string, before = '') =>
        res
          .writeHead(200, { 'content-type': before === '' ? 'application/json' : 'text/event-stream' })
          .end(before === '' ? `{"jsonrpc":"2.0","id":"${id}",${json}}` : `${before}data: {"jsonrpc":"2.0","id":"${id}",${json}}\n\n`);
      if (method === 'tools/list') return void send(`"result":{"tools":[{"name":"echo","description":"d","inputSchema":${raw.schema}}]}`);
      if (method === 'initialize')
        return void send('"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}');
      if (method === 'server/discover' && era === 'modern') return void send('"result":{"supportedVersions":["2026-07-28"]}');
      if (method !== 'tools/call') return void send('"error":{"code":-32601,"message":"no such method"}');
      const token = JSON.stringify(params._meta?.progressToken);
      const heard = `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":50.0,"total":1E2}}\n\ndata: {"jsonrpc":"2.0","id":7615917337495251231,"method":"sampling/createMessage","params":{}}\n\n`;
      send(`"result":{"content":[],"structuredContent":${HOSTILE}}`, token === undefined ? '' : heard);
    }),
  );
  return Object.assign(raw, { url: `http://127.0.0.1:${port}/`, texts, answers });
}

const callOf = (args: string, meta = '') =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args}${meta}}}`;

for (const era of ['legacy', 'modern'] as const)
  test(`arguments and results of a ${era} server are passed on with their digits and names`, async () => {
    const upstream = await startRaw(era);
    const w = await workspace();
    const { client: c } = await makeMcp(running, w, upstream.url, { pii_inspection: true });
    await c.begin();
    const answer = await c.send(callOf(HOSTILE));
    assert.equal(answer.status, 200, answer.body);
    assert.ok(upstream.texts[0]?.includes(`"arguments":${HOSTILE}`), upstream.texts[0]);
    assert.ok(answer.body.includes(`"structuredContent":${HOSTILE}`), answer.body);
    for (const token of ['3.0', '7615917337495251231', '"t"']) {
      const told = await c.send(callOf(HOSTILE, `,"_meta":{"progressToken":${token}}`).replace('"id":7', '"id":7615917337495251231'));
      assert.ok(told.body.includes(`"params":{"progressToken":${token},"progress":50.0,"total":1E2}`), told.body);
      assert.ok(told.body.includes(`"id":7615917337495251231,"result":{`), told.body);
      assert.ok(told.body.includes(`"structuredContent":${HOSTILE}`), told.body);
    }
    if (era === 'legacy') await until(() => upstream.answers.some((one) => one.includes('"id":7615917337495251231,"error"')));
  });

test('a list of tools keeps digits, and an approved definition is another when one of them changes', async () => {
  const upstream = await startRaw('legacy');
  const w = await workspace();
  const { server, client: c } = await makeMcp(running, w, upstream.url);
  await c.begin();
  assert.ok((await c.list()).body.includes(`"inputSchema":${SCHEMA}`));
  const { text: key } = await w.key();
  const path = `/ai-gateway/mcp-servers/${server.id}`;
  const refresh = (pin: boolean) => call('POST', `${path}/refresh`, { key, body: { pin } });
  const refreshed = await refresh(true);
  assert.ok(refreshed.text.includes(`"input_schema":${SCHEMA}`), refreshed.text);
  const stored = () => db().mcp_tools.findFirstOrThrow({ where: { mcp_server_id: server.id } });
  const { pinned_hash } = await stored();
  assert.equal(pinned_hash, toolHash({ name: 'echo', description: 'd', inputSchema: parseExact(SCHEMA) }));
  upstream.schema = SCHEMA.replace('9223372036854775807', '9223372036854775808').replace('1.0', '1');
  const { text } = await call('GET', `${path}/tools`, { key });
  assert.equal(text.split(`"inputSchema":${SCHEMA}`).length, 3, text);
  await refresh(false);
  const { data } = (await call('GET', `${path}/tools`, { key })).body;
  assert.equal(data[0].pin_state, 'changed');
  upstream.schema = SCHEMA.replace('1.0', '1');
  await refresh(false);
  assert.equal((await stored()).upstream_hash, pinned_hash, 'another spelling of the same number');
});

test('the gateway keeps the digits of a definition that it hears of', async () => {
  const upstream = await startRaw('legacy');
  const w = await workspace();
  const { server, client: c } = await makeMcp(running, w, upstream.url);
  const row = await makeTool(server, 'echo', {});
  await served(running, w);
  await c.begin();
  await c.list();
  const stored = async () => (await db().mcp_tools.findUniqueOrThrow({ where: { id: row.id } })).upstream_tool;
  await until(async () => (await stored()) !== null, 'the tool is noted');
  assert.ok(JSON.stringify(jsonOfColumn(await stored())).includes('"maximum":9223372036854775807'));
});

test('an approval is for the digits that were sent', async () => {
  const upstream = await startRaw('legacy');
  const w = await workspace();
  const { server, client: c } = await makeMcp(running, w, upstream.url);
  await makeTool(server, 'echo', { approval: 'required' });
  await served(running, w);
  await c.begin();
  const rows = () => db().mcp_approvals.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { created_at: 'asc' } });
  const calls = ['7615917337495251231', '7615917337495251232'].map((id) => c.send(callOf(`{"id":${id}}`)));
  await until(async () => (await rows()).length === 2);
  for (const { id } of await rows()) {
    const at = new Date();
    await db().mcp_approvals.update({
      where: { id },
      data: { status: 'approved', decided_at: at, passes_until: new Date(at.getTime() + 600_000) },
    });
    await db().$executeRaw`select pg_notify('mcp_decided', ${id})`;
  }
  for (const call of calls) assert.equal((await call).status, 200);
  assert.deepEqual(upstream.texts.map((text) => /"id":(\d{19})/.exec(text)?.[1]).sort(), ['7615917337495251231', '7615917337495251232']);
});

test('a tool of a collection sends the digits to its route, and gives back those of its answer', async () => {
  let sent = '';
  const api = await startUpstream((req, res, body) => {
    sent = `${req.url} ${body}`;
    res.writeHead(200, { 'content-type': 'application/json' }).end(HOSTILE);
  });
  const w = await workspace();
  const route = await makeRoute(w, 'accounts', api.url);
  const columns = { server_type: 'collection', transport: null, upstream_url: null, allowed_tools: ['echo'] };
  const { server, client: c } = await makeMcp(running, w, '', columns);
  const param_map = [
    { arg: 'id', in: 'path', name: 'id' },
    { arg: 'ids', in: 'query', name: 'ids' },
    { arg: 'body', in: 'body', name: '' },
  ];
  const operation = { method: 'POST', path_template: '/a/{id}', param_map, body_mode: 'json', result: 'json', timeout_ms: 5_000 };
  // As the operation writes a schema that a double would change.
  await makeTool(server, 'echo', { route_id: route.id, operation, description: 'd', input_schema: SCHEMA });
  await served(running, w);
  await c.begin();
  const answer = await c.send(callOf(`{"id":7615917337495251231,"ids":[1.10,18446744073709551616],"body":${HOSTILE}}`));
  assert.equal(sent, `/a/7615917337495251231?ids=1.10&ids=18446744073709551616 ${HOSTILE}`, answer.body);
  assert.ok(answer.body.includes(`"structuredContent":${HOSTILE}`), answer.body);
  assert.ok(JSON.parse(answer.body).result.content[0].text.includes('"id": 7615917337495251231'));
});
