import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { parseTarget } from '#server/platform/http-out/target-url.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { routePlane } from '../route/plane.ts';
import { readHeadFields } from './head-fields.ts';
import { enterWorkspace, limitMonthAnd, limitWorkspaceRate } from './limits.ts';
import { ANSWERED, definePlane, type Phase } from './plane.ts';
import { verify } from './presented-credential.ts';
import { refused, statusOf } from './refusal.ts';

// A plane that exists only here: whatever a new plane needs of the core is proven by what this one is made of.

type EchoState = { tone: string };

const identify: Phase<EchoState> = (call) => {
  readHeadFields(call, ({ state }, name, value) => {
    if (name === 'x-svc-tone') state.tone = value;
  });
  call.credential = verify(call.presentedKey, call.snapshot, call.otherSpace, call.receivedAt);
  if (call.credential.state !== 'valid') return refused('authentication_required', 'Send a key.');
  call.admitted = true;
  if (!call.target.startsWith('/echo/self')) return undefined;
  call.status = 200;
  call.res.writeHead(200, { 'Content-Length': 4 }).end(call.state.tone.padEnd(4));
  return ANSWERED;
};

const limit: Phase<EchoState> = (call, runtime) => {
  const crowded = enterWorkspace(call, runtime);
  if (crowded) return crowded;
  call.upstream = target;
  call.upstreamPath = `/from-${call.state.tone}`;
  call.forwarding = { timeoutMs: 5_000, retryAttempts: 0, droppedHeaders: new Set(['x-unwanted']), forwardClientIp: false };
  const allowed = limitWorkspaceRate(call, runtime);
  assert.ok(!(allowed instanceof Promise), 'counters are in memory here');
  const rule = { key: `echo:${call.snapshot.tenant.id}`, limit: 2, windowMs: 3_600_000, burst: null };
  const judge = ([verdict]: readonly { admitted: boolean; retryAfter: number }[]) =>
    verdict?.admitted ? undefined : refused('route_rate_limit_exceeded', 'Too loud.', { retryAfter: verdict?.retryAfter ?? 1 });
  return allowed ?? limitMonthAnd(call, runtime, [rule], judge);
};

const echoPlane = definePlane<EchoState>({
  name: 'echo',
  matches: (match) => match.plane === 'tenant' && /^\/echo(?:\/|$)/.test(match.target),
  newState: () => ({ tone: 'low' }),
  phases: { identify, limit },
  refusalAnswer(call, { code, message }) {
    const body = `${code}: ${message} (${call.state.tone})`;
    return {
      status: statusOf(code),
      head: { lines: `X-Tone: ${call.state.tone}\r\n`, fields: ['Content-Length', String(body.length)] },
      body,
    };
  },
  logSubject: ({ state, target: path }) => ({ mode: 'route', route: null, environment: state.tone, path, query: null }),
});

await testDatabase();
const running = await startGateway([echoPlane, routePlane]);
const { port } = running;
const upstream = await startUpstream();
const verdict = parseTarget(upstream.url, running.runtime.resolver.settings);
assert.ok(verdict.ok);
const { target } = verdict;

const rowOf = async (requestId: string | undefined) => {
  await running.flush();
  return db().request_logs.findFirstOrThrow({ where: { request_id: requestId ?? '' } });
};

test('a plane of two phases is served, forwarded, limited, refused in its own words and logged, beside the route plane', async () => {
  const w = await workspace();
  const { text: key, row } = await w.key();
  await makeRoute(w, 'r', upstream.url);
  await served(running, w);
  const headers = { 'x-svc-tone': 'high', 'x-unwanted': '1' };

  const answer = await ask(port, w.tenant.slug, '/echo/x', { key, headers });
  assert.deepEqual([answer.status, answer.body, answer.headers['x-svc-plane']], [200, '{"ok":true}', 'echo']);
  assert.equal(answer.headers['x-svc-ratelimit-monthly'] !== undefined || answer.headers['x-svc-ratelimit-tenant'] !== undefined, true);
  const seen = upstream.seen.at(-1);
  assert.deepEqual([seen?.url, seen?.headers['x-svc-tone'], seen?.headers['x-unwanted']], ['/from-high', undefined, undefined]);
  const logged = await rowOf(answer.headers['x-svc-request-id']);
  assert.deepEqual(
    [logged.environment, logged.route_id, logged.api_key_id, logged.status_code, logged.upstream_status],
    ['high', null, row.id, 200, 200],
  );
  assert.deepEqual(Object.keys((logged.trace as { phases_ms: object }).phases_ms).sort(), ['identify', 'limit']);

  const own = await ask(port, w.tenant.slug, '/echo/self', { key });
  assert.deepEqual([own.status, own.body], [200, 'low ']);
  await ask(port, w.tenant.slug, '/echo', { key });
  const sent = upstream.seen.length;
  const limited = await ask(port, w.tenant.slug, '/echo', { key });
  assert.deepEqual([limited.status, limited.body, limited.headers['x-tone']], [429, 'route_rate_limit_exceeded: Too loud. (low)', 'low']);
  assert.equal(upstream.seen.length, sent, 'nothing was sent to the upstream');
  assert.equal((await ask(port, w.tenant.slug, '/echo')).status, 401);
  assert.equal(running.runtime.inFlight.get(w.tenant.id), undefined, 'every place was given back');

  const route = await ask(port, w.tenant.slug, '/r', { key });
  assert.deepEqual([route.status, route.headers['x-svc-plane']], [200, 'route']);
});

test('a head that no plane may see is refused in the words of the plane it was for', async () => {
  const w = await workspace();
  await served(running, w);
  const { status, body } = await ask(port, w.tenant.slug, '/echo', { headers: { 'x-svc-tone': ['a', 'b'] } });
  assert.deepEqual([status, body], [400, 'invalid_request: The header x-svc-tone must be sent only once. (low)']);
});
