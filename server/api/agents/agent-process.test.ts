import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#scripts/ports.ts';
import { inspectAgent } from '#server/domain/agents/browsing.ts';
import { listCommands, sendCommand } from '#server/domain/agents/commands.ts';
import { resetFingerprint, revokeAgent, rotateAgentSecret, tamperEvents } from '#server/domain/agents/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { agentRelease } from '#server/platform/agent-release.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handleAgentDownload } from '../agent-download.ts';
import { agent, installToken } from './agents.fixture.ts';
import { handleAgents } from './handle.ts';

// The agent as hosts run it: the built file in a process of its own, enrolled with an install token, against the plane on a socket. What a workspace's
// service sees of it is read by the same verbs as the dashboard's.

await testDatabase();
const w = await workspace();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-process-'));
const program = path.join(folder, 'agent.mjs');
fs.writeFileSync(program, agentRelease().program);

/** `cut` closes every connection that comes, as a broken network does. */
const network = { cut: false };
const plane = http.createServer((req, res) => {
  if (network.cut) return void req.socket.destroy();
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const body = Buffer.concat(chunks);
    const headers = Object.entries(req.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    );
    const asked = new Request(`http://agents.test${req.url}`, {
      method: req.method ?? 'GET',
      headers,
      ...(body.length > 0 ? { body } : {}),
    });
    const edge = { space: 'live' as const, ip: '127.0.0.1', request_id: newId(), user_agent: null };
    void (req.url?.startsWith('/agent/v1/') ? handleAgents(asked, edge) : handleAgentDownload(asked, edge)).then(async (answer) => {
      res.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
    });
  });
});
await new Promise<void>((resolve) => plane.listen(0, '127.0.0.1', resolve));
const api = `http://127.0.0.1:${(plane.address() as AddressInfo).port}`;
const running = new Set<ChildProcess>();
const said = new Map<ChildProcess, () => string>();
const stopAll = async () => {
  for (const child of running) child.kill('SIGKILL');
  plane.closeAllConnections();
  await new Promise((resolve) => plane.close(resolve));
};
onFileEnd(stopAll);
after(() => fs.rmSync(folder, { recursive: true, force: true }));

type Host = { home: string; env: Record<string, string> };
type Run = { child: ChildProcess; said: () => string; code: Promise<number | null> };

function run({ env }: Host, args: string[], input = ''): Run {
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env }, stdio: 'pipe' });
  running.add(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (text += bytes.toString()));
  child.stdin.end(input);
  const code = new Promise<number | null>((resolve) =>
    child.on('close', (given) => {
      running.delete(child);
      resolve(given);
    }),
  );
  said.set(child, () => text);
  return { child, said: () => text, code };
}

async function hostNamed(name: string): Promise<Host> {
  const home = path.join(folder, name);
  const env = {
    ...{ SVC_AGENT_HOME: home, SVC_AGENT_API: api, SVC_AGENT_PORT: String(await freePort()) },
    ...{ SVC_AGENT_HEARTBEAT_SECONDS: '1', SVC_AGENT_MANIFEST_SECONDS: '1', NODE_ENV: 'test' },
  };
  return { home, env };
}

/** An agent of the service, enrolled on a host of its own. */
async function installed(name: string, mode: 'control' | 'intercept' | 'server' = 'control') {
  const of = await agent(w.live, mode);
  const host = await hostNamed(name);
  fs.mkdirSync(host.home, { mode: 0o711 });
  const seal = await (await handleAgentDownload(new Request('http://agents.test/agent/agent.mjs.sig'), edgeOfTest())).text();
  fs.writeFileSync(path.join(host.home, 'agent.mjs.sig'), seal);
  const enrolling = run(host, ['enroll'], `${await installToken(w.live, of.id)}\n`);
  assert.equal(await enrolling.code, 0, enrolling.said());
  return { ...of, ...host };
}
const edgeOfTest = () => ({ space: 'live' as const, ip: null, request_id: newId(), user_agent: null });

async function until<T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false, seconds = 90): Promise<T> {
  for (let i = 0; i < seconds * 10; i++) {
    const found = await look();
    if (found) return found;
    await sleep(100);
  }
  throw new Error(
    `${what} didn’t happen in ${seconds} s. The agents said:\n${[...running].map((child) => said.get(child)?.()).join('\n')}`,
  );
}
const seen = (id: string) => inspectAgent(w.live, { id });
const stop = async ({ child, code }: Run) => {
  child.kill('SIGTERM');
  assert.equal(await code, 0);
};

test('enrols once, keeps its credentials to itself, beats, and runs what it is told', async () => {
  const a = await installed('first');
  assert.equal(fs.statSync(path.join(a.home, 'credentials.json')).mode & 0o777, 0o600);
  const again = run(a, ['enroll'], 'svc_ait_'.padEnd(51, 'A'));
  assert.equal(await again.code, 1);
  assert.match(again.said(), /unknown, used or expired/);

  const working = run(a, ['run']);
  const online = await until('a heartbeat', async () => (await seen(a.id)).connectivity === 'online' && seen(a.id));
  assert.equal(online.build_verified, true);
  assert.equal(online.hostname, os.hostname());
  const bundle = fs.readFileSync(path.join(a.home, 'bundle.json'), 'utf8');
  assert.equal(fs.statSync(path.join(a.home, 'bundle.json')).mode & 0o777, 0o600);
  assert.doesNotMatch(bundle + fs.readFileSync(path.join(a.home, 'credentials.json'), 'utf8'), /svc_ast_/, 'no session token on disk');

  const secret = `sk_live_${createHash('sha256').update('a value').digest('hex')}`;
  fs.mkdirSync(path.join(folder, 'app'));
  fs.writeFileSync(path.join(folder, 'app', '.env'), `STRIPE=${secret}\n`);
  const { id } = await sendCommand(w.live, {
    id: a.id,
    command: 'scan',
    args: { paths: [path.join(folder, 'app')], env: false, connections: false },
  });
  const scan = await until('the scan', async () =>
    (await listCommands(w.live, { id: a.id })).rows.find((one) => one.id === id && one.finished_at),
  );
  assert.equal(scan.status, 'succeeded', JSON.stringify(scan));
  const [finding] = (scan.output as { findings: Record<string, unknown>[] }).findings;
  assert.deepEqual([finding?.kind, finding?.first4, finding?.line_number], ['stripe_key', 'sk_l', 1]);
  assert.ok(!JSON.stringify(scan.output).includes(secret.slice(0, 12)), 'the value stays on the host');

  const before = (await seen(a.id)).open_sessions;
  await sendCommand(w.live, { id: a.id, command: 'refresh' });
  await until('the refresh', async () => (await seen(a.id)).open_sessions > before);
  await stop(working);
  assert.doesNotMatch(working.said(), /svc_as_|svc_ast_|sk_live_/);
});

test('goes on when the connection comes back', async (t) => {
  const a = await installed('cut');
  const working = run(a, ['run']);
  await until('a heartbeat', async () => (await seen(a.id)).last_heartbeat_at);
  network.cut = true;
  t.after(() => {
    network.cut = false;
  });
  plane.closeAllConnections();
  await until('the agent notices', () => /can’t be reached/.test(working.said()));
  assert.equal(working.child.exitCode, null);
  network.cut = false;
  const before = (await seen(a.id)).last_heartbeat_at?.getTime() ?? 0;
  await until('the next heartbeat', async () => ((await seen(a.id)).last_heartbeat_at?.getTime() ?? 0) > before);
  await stop(working);
});

test('a revoked agent wipes its cache and stops with its next heartbeat', async () => {
  const a = await installed('revoked');
  const working = run(a, ['run']);
  await until('a heartbeat', async () => (await seen(a.id)).last_heartbeat_at);
  assert.ok(fs.existsSync(path.join(a.home, 'bundle.json')));
  await revokeAgent(w.live, { id: a.id });
  assert.equal(await working.code, 3, working.said());
  assert.equal(fs.existsSync(path.join(a.home, 'bundle.json')), false);
  assert.match(working.said(), /was revoked/);
});

test('a second machine gets no session until the fingerprint is reset', async () => {
  const a = await installed('machine-one');
  const working = run(a, ['run']);
  await until('a heartbeat', async () => (await seen(a.id)).last_heartbeat_at);
  await stop(working);
  const other = await hostNamed('machine-two');
  fs.cpSync(a.home, other.home, { recursive: true });
  fs.rmSync(path.join(other.home, 'salt'));
  const stolen = run(other, ['run']);
  await until('the refusal', () => /another machine|machine/i.test(stolen.said()) && /warn/.test(stolen.said()));
  assert.ok((await tamperEvents(w.live, { id: a.id })).rows.some(({ kind }) => kind === 'fingerprint_mismatch'));
  await stop(stolen);
  await resetFingerprint(w.live, { id: a.id });
  const rebuilt = run(other, ['run']);
  const before = Date.now();
  await until('a heartbeat of the new machine', async () => ((await seen(a.id)).last_heartbeat_at?.getTime() ?? 0) > before);
  await stop(rebuilt);
});

test('a bundle that was changed on disk counts for nothing, and a changed program is not verified', async () => {
  const a = await installed('tampered');
  const working = run(a, ['run']);
  await until('a heartbeat', async () => (await seen(a.id)).last_heartbeat_at);
  await stop(working);
  const file = path.join(a.home, 'bundle.json');
  const bundle = JSON.parse(fs.readFileSync(file, 'utf8'));
  fs.writeFileSync(file, JSON.stringify({ ...bundle, expires_at: '2999-01-01T00:00:00.000Z' }));
  fs.writeFileSync(path.join(a.home, 'agent.mjs.sig'), `${Buffer.alloc(64, 1).toString('base64')}\n`);
  const changed = run(a, ['run']);
  const before = Date.now();
  await until('a heartbeat', async () => ((await seen(a.id)).last_heartbeat_at?.getTime() ?? 0) > before);
  assert.notEqual(JSON.parse(fs.readFileSync(file, 'utf8')).expires_at, '2999-01-01T00:00:00.000Z');
  const { build_verified } = await seen(a.id);
  assert.equal(build_verified, false);
  assert.ok(
    (await tamperEvents(w.live, { id: a.id })).rows.some(
      ({ kind, action_taken }) => kind === 'unknown_build' && action_taken === 'alerted',
    ),
  );
  await stop(changed);
});

test('a rotated secret ends the old one, and a new install token brings the host back', async () => {
  const a = await installed('rotated');
  await rotateAgentSecret(w.live, { id: a.id, grace_minutes: 0 });
  const old = run(a, ['run']);
  await until('the refusal', () => /signature/i.test(old.said()));
  assert.equal((await seen(a.id)).last_session_issued_at, null);
  await stop(old);
  const enrolling = run(a, ['enroll'], `${await installToken(w.live, a.id)}\n`);
  assert.equal(await enrolling.code, 0, enrolling.said());
  const back = run(a, ['run']);
  await until('a heartbeat', async () => (await seen(a.id)).last_heartbeat_at);
  await stop(back);
});

test('in mode server it serves a route inside the network: the secret is opened here, a change reaches it, and revoked it serves nothing', async () => {
  const seen: { url: string | undefined; authorization: string | undefined }[] = [];
  const target = http.createServer((req, res) => {
    seen.push({ url: req.url, authorization: req.headers.authorization });
    res.end('from inside');
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  onFileEnd(async () => void target.close());
  const secret = await made(w.live, 'secrets.create', { name: 'INSIDE_KEY', value: 'swordfish-inside' });
  const route = await made(w.live, 'routes.create', {
    name: 'Inside',
    slug: 'inside',
    target_base_url: `http://127.0.0.1:${(target.address() as AddressInfo).port}/v1`,
    inject_headers_json: { authorization: 'Bearer {{secret:INSIDE_KEY}}' },
  });
  const a = await installed('inside', 'server');
  const port = await freePort();
  const working = run({ ...a, env: { ...a.env, SVC_AGENT_LISTEN: `127.0.0.1:${port}` } }, ['run']);
  await until('a session', async () => (await inspectAgent(w.live, { id: a.id })).last_heartbeat_at);
  const call = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).then((answer) => answer.text());
  assert.equal(await call('/inside/orders?x=1'), 'from inside');
  assert.deepEqual(seen.at(-1), { url: '/v1/orders?x=1', authorization: 'Bearer swordfish-inside' });
  assert.doesNotMatch(fs.readFileSync(path.join(a.home, 'bundle.json'), 'utf8'), /swordfish-inside/, 'wrapped on disk');

  await made(w.live, 'secrets.put_value', { id: secret.id, environment: 'production', value: 'herring-inside' });
  await until('the new value', async () => (await call('/inside/again')) && seen.at(-1)?.authorization === 'Bearer herring-inside');
  await made(w.live, 'routes.update', { id: route.id, target_base_url: `http://127.0.0.1:${(target.address() as AddressInfo).port}/v2` });
  await until('the new target', async () => (await call('/inside/again')) && seen.at(-1)?.url === '/v2/again');
  const logged = () => db().request_logs.findMany({ where: { tenant_id: w.tenant.id, node_id: a.agent_id } });
  await until('its calls are in the log', async () => (await logged()).some(({ path }) => path === '/inside/orders'));
  assert.ok((await logged()).every((row) => row.route_id === route.id && row.slug === 'inside' && row.status_code === 200));

  await revokeAgent(w.live, { id: a.id });
  assert.equal(await working.code, 3, working.said());
  await assert.rejects(call('/inside/late'));
  assert.doesNotMatch(working.said(), /swordfish|herring|svc_as_|svc_ast_/);
});

test('beyond loopback routes are served to callers with a key alone', async () => {
  const a = await installed('open', 'server');
  const open = run({ ...a, env: { ...a.env, SVC_AGENT_LISTEN: '0.0.0.0:0' } }, ['run']);
  assert.equal(await open.code, 1);
  assert.match(open.said(), /Set SVC_AGENT_CALLER_KEY/);
});

test('credentials that others can read are refused', async () => {
  const a = await installed('readable');
  fs.chmodSync(path.join(a.home, 'credentials.json'), 0o644);
  const refused = run(a, ['run']);
  assert.equal(await refused.code, 1);
  assert.match(refused.said(), /chmod 600/);
});
