import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import test, { after } from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { endAll, folderOf, startRole } from '#server/testing/processes.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { freePorts } from '../../scripts/ports.ts';
import { makeRoute, startUpstream } from './gateway.fixture.ts';

// G1: two gateways behind HAProxy. One is killed under load: the calls in its hands are lost, no other, and none runs twice. One is asked to stop: no call is lost.

const program = ['haproxy', '/usr/sbin/haproxy'].find((name) => spawnSync(name, ['-v']).status === 0);
const skip = program === undefined && 'haproxy is not installed here';
const CALLERS = 16;

const { url } = await testDatabase();
const { directory, remove } = folderOf('haproxy');
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
  endAll();
  remove();
});

/** As docs/self-hosting.md shows it, with a log of which server had which call. */
const configuration = (port: number, servers: readonly number[]) => `
global
  log stdout format raw local0
defaults
  mode http
  log global
  log-format "call %[capture.req.hdr(0)] server %s status %ST"
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 5s
  retries 3
  option redispatch 1
  option forwardfor
frontend public
  bind 127.0.0.1:${port}
  http-request capture req.hdr(x-call) len 64
  default_backend gateways
backend gateways
  option httpchk GET /readyz
  http-response set-header x-served-by %s
${servers.map((server, i) => `  server ${'ab'[i]} 127.0.0.1:${server} check inter 250ms fall 1 rise 1`).join('\n')}
`;

async function startHaproxy(servers: readonly number[]) {
  const [port = 0] = await freePorts(1);
  const file = path.join(directory, 'haproxy.cfg');
  fs.writeFileSync(file, configuration(port, servers));
  const child = spawn(program as string, ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { port, log: () => text };
}

type Done = { id: string; began: number; ended: number; status: number | string; by: string; requestId: string };

/** Callers who call one after the other over a connection of their own, until they are told to stop; POST, which nobody may repeat for them. */
function startCallers(port: number, target: string, key: string) {
  const calls: Done[] = [];
  let running = true;
  let serial = 0;
  const call = (agent: Agent, kind: string) =>
    new Promise<Done>((resolve) => {
      const id = `${kind}-${serial++}`;
      const began = performance.now();
      const end = (status: number | string, headers: Record<string, unknown> = {}) =>
        resolve({
          id,
          began,
          ended: performance.now(),
          status,
          by: String(headers['x-served-by']),
          requestId: String(headers['x-svc-request-id']),
        });
      const headers = { 'x-svc-key': key, 'x-call': id, 'content-length': 2 };
      const req = request({ agent, host: '127.0.0.1', port, path: target, method: 'POST', headers }, (res) => {
        res.on('error', (error) => end(error.message)).on('end', () => end(res.complete ? (res.statusCode ?? 0) : 'cut off', res.headers));
        res.resume();
      });
      req.on('error', (error) => end(error.message)).end('{}');
    });
  const callers = Array.from({ length: CALLERS }, async (_, i) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (running) calls.push(await call(agent, i === 0 ? 'slow' : 'quick'));
    agent.destroy();
  });
  return {
    calls,
    good: (by?: string) => calls.filter(({ status, by: server }) => status === 200 && (by === undefined || server === by)).length,
    stop: async () => {
      running = false;
      await Promise.all(callers);
    },
  };
}

test('a gateway killed behind HAProxy loses the calls in its hands alone, and one that stops loses none', { skip }, async () => {
  const seen: string[] = [];
  const upstream = await startUpstream((req, res) => {
    const id = String(req.headers['x-call']);
    seen.push(id);
    setTimeout(() => res.end('{"ok":true}'), id.startsWith('slow') ? 1_000 : 20);
  });
  const w = await workspace();
  const { text: key } = await w.key();
  await makeRoute(w, 'orders', upstream.url);
  const env = { DATABASE_URL: url, SVC_GATEWAYS: '2', TRUSTED_PROXIES: '127.0.0.1/32', SHUTDOWN_DELAY_SECONDS: '3' };
  const [a, b] = await Promise.all([startRole('gateway', { env, directory }), startRole('gateway', { env, directory })]);
  const balancer = await startHaproxy([a.ports.proxy, b.ports.proxy]);
  const load = startCallers(balancer.port, `/p/${w.tenant.slug}/orders`, key);
  const serves = (by: string, more: number) => {
    const before = load.good(by);
    return until(() => load.good(by) >= before + more, undefined, 240_000).catch((error: Error) => {
      const told = Object.entries(Object.groupBy(load.calls, ({ by: server, status }) => `${server} ${status}`));
      const counts = told.map(([what, calls]) => `${what}: ${calls?.length}`).join(', ');
      throw new Error(`${by}: ${error.message}; ${counts}\n${balancer.log().replace(/^call .*\n/gm, '')}`);
    });
  };
  await Promise.all([serves('a', 50), serves('b', 50)]);
  const settled = load.calls.length;

  const killedAt = performance.now();
  await a.kill();
  const diedAt = performance.now();
  await serves('b', 200);
  await a.start();
  await serves('a', 50);
  const restarted = load.calls.length;

  const code = await b.stop();
  await serves('a', 200);
  await load.stop();
  assert.equal(code, 0, b.log().slice(-2_000));

  const lost = load.calls.slice(settled, restarted).filter(({ status }) => status !== 200);
  const server = new Map(
    [...balancer.log().matchAll(/call (\S+) server (\S+) status/g)].map(([, id, name]) => [id as string, name as string]),
  );
  for (const call of lost) {
    // HAProxy keeps silent of a call on a connection that it had used before: the caller is to repeat it.
    assert.ok(['a', undefined].includes(server.get(call.id)), `${JSON.stringify(call)} was lost by another than the one that died`);
    assert.ok(call.began <= diedAt && call.ended >= killedAt, `${JSON.stringify(call)} was lost although nothing had died`);
  }
  assert.ok(lost.length <= CALLERS);
  assert.deepEqual(
    load.calls.slice(restarted).filter(({ status }) => status !== 200),
    [],
    'a gateway that stops in order loses nothing',
  );
  assert.equal(new Set(seen).size, seen.length, 'no call ran twice');
  const answered = load.calls.filter(({ status }) => status === 200);
  assert.deepEqual(
    answered.filter(({ id }) => !seen.includes(id)),
    [],
  );
  // What b answered was written before it went.
  const stopped = answered.filter(({ by }) => by === 'b').map(({ requestId }) => requestId);
  const rows = await db().$queryRaw<
    { n: number }[]
  >`select count(*)::int as n from request_logs where request_id = any(${stopped}::uuid[])`;
  assert.equal(rows[0]?.n, stopped.length);
  console.log(`${load.calls.length} calls, ${lost.length} lost with the gateway that was killed`);
});
