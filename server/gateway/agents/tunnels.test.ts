import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import test, { after } from 'node:test';
import { mintToken } from '#server/crypto/tokens.ts';
import { target } from '#server/domain/dyn-db/target.fixture.ts';
import { newId } from '#server/kernel/ids.ts';
import { dialThroughAgent } from '#server/platform/agent-tunnel.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { startTunnel } from '../../../sdk/agent/tunnel.ts';
import { ask, served, startGateway } from '../gateway.fixture.ts';

await ownDatabase();
const running = await startGateway();
await running.controlSocket.listen(controlSocketPath());
const { port } = await running.gateway.listen('api', 0, '127.0.0.1');
const apiBase = `http://127.0.0.1:${port}`;

/** Sends back what it gets. */
const echo = net
  .createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => socket.destroy()).pipe(socket))
  .listen(0, '127.0.0.1');
await once(echo, 'listening');
after(() => echo.close());
const echoPort = (echo.address() as AddressInfo).port;

async function agentIn(w: Workspace) {
  const [id, agent_id] = [newId(), `svc_agent_${newId().replaceAll('-', '').slice(0, 22)}`];
  const own = { tenant_id: w.tenant.id, sandbox: false };
  await db().agents.create({ data: { ...own, id, agent_id, name: agent_id, mode: 'control' } });
  const { token, digest } = mintToken('agent_session');
  const of = { agent_id: id, token_digest: new Uint8Array(digest), window: '2026-10-01T12', fingerprint: 'f', mode: 'control' };
  await db().agent_sessions.create({
    data: { ...own, ...of, id: newId(), issued_at: new Date(), expires_at: new Date(Date.now() + 3_600_000) },
  });
  return { id, agent_id, token, tenant_id: w.tenant.id, sandbox: false };
}

async function connected(w: Workspace, allows?: (host: string) => boolean) {
  const agent = await agentIn(w);
  const tunnel = startTunnel({ apiBase, agentId: agent.agent_id, token: () => agent.token, allows });
  onFileEnd(async () => tunnel.close());
  await until(() => tunnel.connected);
  return { agent, tunnel };
}

test('bytes go both ways through the tunnel, many streams beside each other, in order and whole', async () => {
  const { agent } = await connected(await workspace());
  const sizes = [1, 70_000, 3_000_000, 12];
  await Promise.all(
    sizes.map(async (size, i) => {
      const stream = await dialThroughAgent(agent, '127.0.0.1', echoPort, 20_000);
      const sent = Buffer.alloc(size, `${i}-abcdefghij`);
      stream.end(sent);
      assert.ok((await buffer(stream)).equals(sent), `${size} bytes`);
    }),
  );
});

test('a stream that nobody reads holds up no other, and takes no more than its window', async () => {
  const { agent } = await connected(await workspace());
  const slow = await dialThroughAgent(agent, '127.0.0.1', echoPort, 20_000);
  slow.pause();
  for (let i = 0; i < 40; i++) slow.write(Buffer.alloc(200_000, 'x'));
  const quick = await dialThroughAgent(agent, '127.0.0.1', echoPort, 20_000);
  quick.end('hello');
  assert.equal((await buffer(quick)).toString(), 'hello');
  slow.destroy();
});

test('without a tunnel, for another workspace and another space the agent is offline; a closed port is told from neither', async () => {
  const w = await workspace();
  const { agent } = await connected(w);
  const other = await workspace();
  const offline = { code: 'agent_offline' };
  await assert.rejects(dialThroughAgent({ ...agent, tenant_id: other.tenant.id }, '127.0.0.1', echoPort, 20_000), offline);
  await assert.rejects(dialThroughAgent({ ...agent, sandbox: true }, '127.0.0.1', echoPort, 20_000), offline);
  await assert.rejects(dialThroughAgent({ ...agent, id: newId() }, '127.0.0.1', echoPort, 20_000), offline);
  await assert.rejects(dialThroughAgent(agent, '127.0.0.1', 1, 20_000), { code: 'refused' });
  const picky = await connected(w, (host) => host === 'db.inside');
  await assert.rejects(dialThroughAgent(picky.agent, '127.0.0.1', echoPort, 20_000), { code: 'refused' });
});

test('a revoked agent’s tunnel is cut without waiting for its next call, with what runs in it', async () => {
  const { agent, tunnel } = await connected(await workspace());
  const stream = await dialThroughAgent(agent, '127.0.0.1', echoPort, 20_000);
  await db().agents.update({ where: { id: agent.id }, data: { status: 'revoked', revoked_at: new Date() } });
  await once(
    stream.on('error', () => {}),
    'close',
  );
  await until(() => !tunnel.connected);
  await assert.rejects(dialThroughAgent(agent, '127.0.0.1', echoPort, 20_000), { code: 'agent_offline' });
});

test('strangers get no tunnel, and the path is a route’s on hosts of workspaces', async () => {
  const w = await workspace();
  const agent = await agentIn(w);
  const shake = async (headers: Record<string, string>, host = '127.0.0.1') => {
    const socket = net.connect(port, '127.0.0.1');
    const lines = Object.entries({ host, connection: 'Upgrade', upgrade: 'sallyport-tunnel/1', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    socket.end(`GET /agent/v1/tunnel HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    return (await buffer(socket)).toString().split('\r\n')[0];
  };
  assert.match((await shake({})) ?? '', / 401 /);
  assert.match((await shake({ 'x-svc-agent-id': agent.agent_id, 'x-svc-agent-token': mintToken('agent_session').token })) ?? '', / 401 /);
  assert.match((await shake({ 'x-svc-agent-id': `svc_agent_${'x'.repeat(22)}`, 'x-svc-agent-token': agent.token })) ?? '', / 401 /);
  await served(running, w);
  const onRoute = await ask(running.port, w.tenant.slug, '/agent/v1/tunnel', {
    headers: { connection: 'Upgrade', upgrade: 'sallyport-tunnel/1' },
  });
  assert.equal(onRoute.status, 401);
});

test('database credentials are minted through an agent, and refused as agent_offline without it', async () => {
  const w = await workspace();
  const { agent, tunnel } = await connected(w);
  const { admin } = await target();
  const place = {
    engine: 'postgres',
    ...(await placeOf()),
    database_name: 'shop',
    admin_username: admin.username,
    admin_password: admin.password,
  };
  const { name } = await made(w.live, 'dyn_db.create', { name: fresh('db'), execution_mode: 'agent_tunnel', agent_id: agent.id, ...place });
  const { name: role } = await made(w.live, 'dyn_db.create_role', { connection: name, name: fresh('role'), template: 'readonly' });
  const lease = await made(w.live, 'dyn_db.mint', { connection: name, role });
  assert.ok(lease.username && lease.password);
  tunnel.close();
  await until(async () => (await dialThroughAgent(agent, '127.0.0.1', echoPort, 500).catch(({ code }) => code)) === 'agent_offline');
  await assert.rejects(made(w.live, 'dyn_db.mint', { connection: name, role }), { type: 'agent_offline', status: 503, retryAfter: 30 });
});

async function placeOf(): Promise<{ host: string; port?: number }> {
  const { host, port: own } = (await target()) as { host: string; port?: number };
  return own === undefined ? { host } : { host, port: own };
}
