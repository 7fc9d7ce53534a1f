import assert from 'node:assert/strict';
import test from 'node:test';
import { ownDatabase } from '#server/testing/database.ts';
import { databaseDoor } from '#server/testing/database-door.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { askAgent, makeAgent, makeToken } from './ai/ai.fixture.ts';
import { ask, makeRoute, startUpstream } from './gateway.fixture.ts';
import { startGatewayProcess } from './gateway-process.fixture.ts';
import { client, makeGateway, makeToken as makeMcpToken, makeServer } from './mcp/mcp.fixture.ts';

await ownDatabase();
const upstream = await startUpstream((_, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
const w = await workspace();
const { text: key } = await w.key();
await makeRoute(w, 'r', upstream.url);
const made = await makeAgent(w, upstream);
const { text: token } = await makeToken(w, made);
const mcp = await makeGateway(w);
await makeServer(w, mcp, 'vendor', { upstream_url: upstream.url, allowed_tools: ['echo'] });
const { text: mcpToken } = await makeMcpToken(w, mcp);

test('while the database is silent routes are served, and what needs it is refused with 503 before long, each time', {
  timeout: 120_000,
}, async () => {
  const door = await databaseDoor();
  const gateway = await startGatewayProcess({ DATABASE_URL: door.url });
  const route = () => ask(gateway.port, w.tenant.slug, '/r', { key });
  const chat = () => askAgent(gateway, w, made.agent, token, { messages: [{ role: 'user', content: 'Hi' }] });
  const begin = () => client(gateway, w.tenant.slug, '/v1/mcp/vendor', mcpToken).begin();
  await until(async () => (await route()).status === 200);
  await until(async () => (await chat()).status !== 503 && (await begin()).status !== 503, 'the database is asked');
  door.mute();
  // The first may be decided by what the gateway knows still.
  await until(async () => (await chat()).status === 503 && (await begin()).status === 503, 'the planes are refused', 60_000);
  for (let i = 0; i < 20; i++) {
    const answers = await Promise.all([chat(), begin()]);
    for (const { status, headers, body } of answers) assert.deepEqual([status, Number(headers['retry-after']) > 0], [503, true], body);
    assert.equal((await route()).status, 200);
  }
  door.unmute();
  await until(async () => (await chat()).status !== 503 && (await begin()).status !== 503, 'it goes on');
  await gateway.kill();
});
