import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { WebSocket } from 'ws';
import { type Agent, agent, BEAT, installToken, openSession, withToken } from '#server/api/agents/agents.fixture.ts';
import { mintToken } from '#server/crypto/tokens.ts';
import { inspectAgent } from '#server/domain/agents/browsing.ts';
import { listCommands, sendCommand } from '#server/domain/agents/commands.ts';
import { resetFingerprint, revokeAgent } from '#server/domain/agents/service.ts';
import { agentRelease } from '#server/platform/agent-release.ts';
import { db } from '#server/platform/db.ts';
import { throttled } from '#server/platform/throttle.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { assemble } from '../assemble.ts';
import { ask, served, startGateway } from '../gateway.fixture.ts';
import { startWeb } from '../v1/web.fixture.ts';

// Control connections of agents as another implementation of WebSockets (ws), bare sockets, and the agent itself open them.

await ownDatabase();
const web = await startWeb();
const running = await startGateway();
const { port } = await running.gateway.listen('api', 0, '127.0.0.1');
const sandbox = await running.gateway.listen('sandbox', 0, '127.0.0.1');
const w = await workspace();

type Answer = { ok?: boolean; commands?: { id: string; command: string }[]; revoked?: boolean; pushed?: boolean; error?: { type: string } };
type Client = { socket: WebSocket; said: Answer[]; closed: Promise<{ code: number; reason: string }> };

async function inSession(): Promise<Agent & { token: string }> {
  const of = await agent(w.live);
  const { status, body } = await openSession(of);
  assert.equal(status, 200);
  return { ...of, token: body.session_token };
}

function client(headers: Record<string, string>, at = port, target = '/agent/v1/control'): Client {
  const socket = new WebSocket(`ws://127.0.0.1:${at}${target}`, { headers });
  const said: Answer[] = [];
  socket.on('message', (data) => said.push(JSON.parse(String(data))));
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('error', () => undefined).on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  );
  onFileEnd(async () => socket.terminate());
  return { socket, said, closed };
}

async function connected(of: Agent & { token: string }, at = port): Promise<Client> {
  const made = client(withToken(of, of.token), at);
  await once(made.socket, 'open');
  return made;
}
const beat = ({ socket }: Client, more: object = {}) => socket.send(JSON.stringify({ ...BEAT, ...more }));
const seen = (id: string) => inspectAgent(w.live, { id });

test('a heartbeat is noted and answered as by POST, with the commands that wait', async () => {
  const a = await inSession();
  const { id } = await sendCommand(w.live, { id: a.id, command: 'doctor' });
  const one = await connected(a);
  beat(one, { version: '9.9.9' });
  await until(() => one.said.length >= 2);
  assert.deepEqual(
    one.said.flatMap(({ commands = [] }) => commands.map(({ id, command }) => [id, command])),
    [[id, 'doctor']],
  );
  assert.ok(one.said.some(({ ok, revoked, pushed }) => ok && !revoked && !pushed));
  const found = await seen(a.id);
  assert.deepEqual([found.connectivity, found.version, found.last_ip], ['online', '9.9.9', '127.0.0.1']);
});

test('a command arrives without a heartbeat, once, and only at its agent', async () => {
  const [a, b] = [await inSession(), await inSession()];
  const [one, other] = [await connected(a), await connected(b)];
  const { id } = await sendCommand(w.live, { id: a.id, command: 'refresh' });
  await until(() => one.said.length > 0);
  assert.deepEqual(one.said, [
    { ...one.said[0], ok: true, pushed: true, revoked: false, commands: [{ id, command: 'refresh', args: {} }] },
  ]);
  assert.equal((await listCommands(w.live, { id: a.id })).rows[0]?.status, 'sent');
  assert.equal((await seen(a.id)).last_heartbeat_at, null);
  beat(one);
  await until(() => one.said.length > 1);
  assert.deepEqual([one.said[1]?.commands, other.said], [[], []]);
});

test('revoked, an agent is told and closed at once; the others stay', async () => {
  const [a, b] = [await inSession(), await inSession()];
  const [one, other] = [await connected(a), await connected(b)];
  await revokeAgent(w.live, { id: a.id });
  assert.deepEqual(await one.closed, { code: 1008, reason: 'agent_revoked' });
  assert.deepEqual([one.said.at(-1)?.revoked, one.said.at(-1)?.ok], [true, false]);
  beat(other);
  await until(() => other.said.some(({ ok }) => ok));
});

test('a connection ends with its session: when it is ended, and when it runs out', async () => {
  const [a, b] = [await inSession(), await inSession()];
  const one = await connected(a);
  await resetFingerprint(w.live, { id: a.id });
  assert.deepEqual(await one.closed, { code: 1008, reason: 'session_ended' });
  await db().agent_sessions.updateMany({ where: { agent_id: b.id }, data: { expires_at: new Date(Date.now() + 2_000) } });
  const short = await connected(b);
  assert.deepEqual(await short.closed, { code: 1008, reason: 'session_ended' });
  assert.equal((await seen(b.id)).status, 'active');
});

test('without a session of its own nobody gets a connection', async () => {
  const [a, b, gone, ended] = [await inSession(), await inSession(), await inSession(), await inSession()];
  await revokeAgent(w.live, { id: gone.id });
  await resetFingerprint(w.live, { id: ended.id });
  const refused = async (headers: Record<string, string>, at?: number, target?: string) => {
    const { socket } = client(headers, at, target);
    const [error] = await once(socket, 'error');
    return /\d{3}/.exec(String(error))?.[0];
  };
  assert.equal(await refused({}), '401');
  assert.equal(await refused(withToken(a, mintToken('agent_session').token)), '401');
  assert.equal(await refused(withToken(a, b.token)), '401');
  assert.equal(await refused(withToken(gone, gone.token)), '401');
  assert.equal(await refused(withToken(ended, ended.token)), '401');
  assert.equal(await refused({ ...withToken(a, 'x'), authorization: `Bearer ${a.token}` }), '401');
  assert.equal(await refused(withToken(a, a.token), sandbox.port), '403');
  assert.equal(await refused({ 'x-svc-agent-id': a.agent_id }, port, `/agent/v1/control?x-svc-agent-token=${a.token}`), '401');
  // What only the gateway may ask.
  const asked = (headers: Record<string, string>) =>
    ask(port, 'api', '/agent/v1/control', { headers: { host: `127.0.0.1:${port}`, ...withToken(a, a.token), ...headers } });
  const attempts: Record<string, string>[] = [
    {},
    { 'x-sallyport-control': 'commands' },
    { upgrade: 'websocket', 'x-sallyport-control': 'open' },
  ];
  for (const headers of attempts) assert.equal((await asked(headers)).status, 400);
  await served(running, w);
  const onRoute = await ask(running.port, w.tenant.slug, '/agent/v1/control', { headers: { connection: 'Upgrade', upgrade: 'websocket' } });
  assert.notEqual(onRoute.status, 101);
});

/** A connection by hand, and the code that the gateway closes it with. */
async function closeCodeOf(of: Agent & { token: string }, bytes: Buffer): Promise<number> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => undefined);
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const lines = Object.entries({ host: '127.0.0.1', ...headers, ...withToken(of, of.token) }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET /agent/v1/control HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  // Behind the handshake at once, as a hostile client would.
  socket.write(bytes);
  let all = Buffer.alloc(0);
  for await (const chunk of socket) all = Buffer.concat([all, chunk as Buffer]);
  const text = all.toString('latin1');
  assert.match(text, /^HTTP\/1\.1 101 .*\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/is);
  return all.readUInt16BE(text.lastIndexOf('\x88', all.length - 3) + 2);
}
const masked = (first: number, payload: Buffer | string, length = Buffer.byteLength(payload)) => {
  const head =
    length < 126
      ? [0x80 | length]
      : length < 65_536
        ? [0xfe, length >> 8, length & 255]
        : [0xff, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255];
  return Buffer.concat([Buffer.from([first, ...head, 0, 0, 0, 0]), Buffer.from(payload)]);
};

test('hostile frames close their connection alone, with the code of the fault', async () => {
  const a = await inSession();
  const steady = await connected(await inSession());
  const faults: [string, number, Buffer][] = [
    ['binary', 1003, masked(0x82, '{}')],
    ['not masked', 1002, Buffer.from([0x81, 2, 0x7b, 0x7d])],
    ['an extension', 1002, masked(0xc1, '{}')],
    ['an unknown opcode', 1002, masked(0x83, '{}')],
    ['a fragment of nothing', 1002, masked(0x80, '{}')],
    ['a message inside a message', 1002, Buffer.concat([masked(0x01, '{'), masked(0x81, '}')])],
    ['a long ping', 1002, masked(0x89, 'x'.repeat(126))],
    ['a ping in parts', 1002, masked(0x09, 'x')],
    ['not UTF-8', 1007, masked(0x81, Buffer.from([0xc3, 0x28]))],
    ['a message above 64 KiB', 1009, masked(0x81, '', 65_537)],
    ['a message above 64 KiB in parts', 1009, Buffer.concat([masked(0x01, 'x'.repeat(40_000)), masked(0x80, 'x'.repeat(40_000))])],
    ['a length of 2^63', 1009, Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])],
    ['not JSON', 1008, masked(0x81, 'hello')],
    ['not a heartbeat', 1008, masked(0x81, '{"uptime_s":-1}')],
    ['many messages at once', 1008, Buffer.concat(Array.from({ length: 40 }, () => masked(0x81, JSON.stringify(BEAT))))],
    ['a close without a code', 1000, masked(0x88, '')],
    ['a close with a code that is none', 1002, masked(0x88, Buffer.from([3, 237]))],
  ];
  for (const [what, code, bytes] of faults) assert.equal(await closeCodeOf(a, bytes), code, what);
  assert.equal(steady.socket.readyState, WebSocket.OPEN);
  beat(steady);
  await until(() => steady.said.some(({ ok }) => ok));
});

test('too many heartbeats are refused as by POST, and too many connections', async () => {
  const a = await inSession();
  const spent = (what: string, already: number) =>
    Promise.all(
      Array.from({ length: 120 - already }, () =>
        throttled([{ what, subject: a.id, limit: 120, window_sec: 3_600 }], new Date(), 'rate_limited'),
      ),
    );
  await spent('agent-heartbeat', 0);
  const one = await connected(a);
  beat(one);
  assert.deepEqual(await one.closed, { code: 1013, reason: 'rate_limit_exceeded' });
  assert.equal(one.said.at(-1)?.error?.type, 'rate_limit_exceeded');
  await spent('agent-control', 1);
  const [error] = await once(client(withToken(a, a.token)).socket, 'error');
  assert.match(String(error), /429/);
});

test('of two connections of an agent the newer one stays; pings are answered', async () => {
  const a = await inSession();
  const older = await connected(a);
  const newer = await connected(a);
  assert.deepEqual(await older.closed, { code: 1008, reason: 'replaced' });
  newer.socket.ping('still there?');
  const [answer] = await once(newer.socket, 'pong');
  assert.equal(String(answer), 'still there?');
  const { id } = await sendCommand(w.live, { id: a.id, command: 'doctor' });
  await until(() => newer.said.some(({ commands }) => commands?.[0]?.id === id));
});

test('a gateway that ends tells its agents to come back, and takes no more', async () => {
  const going = await assemble();
  const at = await going.gateway.listen('api', 0, '127.0.0.1');
  const one = await connected(await inSession(), at.port);
  const ending = going.close(200);
  assert.deepEqual(await one.closed, { code: 1012, reason: 'restarting' });
  await ending;
});

type Run = { child: ChildProcess; said: () => string; code: Promise<number | null> };
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-control-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

function run(args: string[], input = ''): Run {
  const program = path.join(folder, 'agent.mjs');
  fs.writeFileSync(program, agentRelease().program);
  const env = { SVC_AGENT_HOME: path.join(folder, 'home'), SVC_AGENT_API: `http://127.0.0.1:${port}`, SVC_AGENT_TUNNEL_HOSTS: 'off' };
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env, NODE_ENV: 'test' }, stdio: 'pipe' });
  onFileEnd(async () => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (text += bytes.toString()));
  child.stdin.end(input);
  return { child, said: () => text, code: once(child, 'close').then(([code]) => code as number | null) };
}

test('the agent runs a command long before its next heartbeat, and stops at once when it is revoked', async () => {
  const a = await agent(w.live);
  const enrolling = run(['enroll'], `${await installToken(w.live, a.id)}\n`);
  assert.equal(await enrolling.code, 0, enrolling.said());
  const before = web.seen.length;
  const working = run(['run']);
  const opened = () => web.seen.slice(before).includes('GET /agent/v1/control');
  const heartbeat = async () => (await db().agents.findUniqueOrThrow({ where: { id: a.id } })).last_heartbeat_at;
  await until(async () => opened() && (await heartbeat()) !== null);
  const first = await heartbeat();
  const { id } = await sendCommand(w.live, { id: a.id, command: 'refresh' });
  await until(async () => (await db().agent_commands.findUniqueOrThrow({ where: { id } })).status === 'succeeded');
  assert.deepEqual(await heartbeat(), first);
  await revokeAgent(w.live, { id: a.id });
  assert.equal(await working.code, 3, working.said());
  assert.match(working.said(), /was revoked/);
});

test('while web is away a heartbeat is told so, and the connection stays', async () => {
  const one = await connected(await inSession());
  await web.stop();
  beat(one);
  await until(() => one.said.some(({ error }) => error?.type === 'dependency_unavailable'));
  assert.equal(one.socket.readyState, WebSocket.OPEN);
});
