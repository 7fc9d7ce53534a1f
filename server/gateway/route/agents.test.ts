import assert from 'node:assert/strict';
import test from 'node:test';
import { mintToken } from '#server/crypto/tokens.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { type Ask, ask, makeRoute, type Running, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase({ SVC_GATEWAYS: '2' });
const [first, second] = [await startGateway(), await startGateway()];
const upstream = await startUpstream();

type Made = { id: string; agent_id: string; token: string };

/** An agent with a session, as the control plane writes them. */
async function agentIn(
  w: Workspace,
  more: Record<string, unknown> = {},
  { sandbox = false, expires_at = new Date(Date.now() + 3_600_000) } = {},
): Promise<Made> {
  const [id, agent_id] = [newId(), `svc_agent_${newId().replaceAll('-', '').slice(0, 22)}`];
  const own = { tenant_id: w.tenant.id, sandbox };
  await db().agents.create({ data: { ...own, id, agent_id, name: agent_id, mode: 'intercept', ...more } });
  const { token, digest } = mintToken('agent_session');
  const of = { agent_id: id, token_digest: new Uint8Array(digest), window: '2026-10-01T12', fingerprint: 'f', mode: 'intercept' };
  await db().agent_sessions.create({ data: { ...own, ...of, id: newId(), issued_at: new Date(), expires_at } });
  return { id, agent_id, token };
}
const pair = ({ agent_id, token }: Made): Ask => ({ headers: { 'x-svc-agent-id': agent_id, 'x-svc-agent-token': token } });
const told = ({ status, headers }: { status: number; headers: Record<string, string> }) => [status, headers['x-svc-error']];

async function withRoutes() {
  const w = await workspace();
  const r = await makeRoute(w, 'r', upstream.url);
  await makeRoute(w, 'other', upstream.url);
  await makeRoute(w, 'r', upstream.url, {}, { space: 'test' });
  await served(first, w);
  await served(second, w);
  const call = (how: Ask, path = '/r/x', at: Running = first, host = w.tenant.slug) => ask(at.port, host, path, how);
  return { w, r, call };
}

test('a session of an agent calls routes, and neither header is forwarded', async () => {
  const { w, call } = await withRoutes();
  const agent = await agentIn(w);
  const answer = await call(pair(agent));
  assert.equal(answer.status, 200, answer.body);
  const seen = JSON.stringify(upstream.seen.at(-1));
  assert.ok(!seen.includes(agent.token) && !seen.includes(agent.agent_id));
  await first.flush();
  const row = await db().request_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, status_code: 200 } });
  assert.deepEqual([row.identification_method, row.api_key_id], ['agent', null]);
});

test('wrong, foreign, ended and incomplete pairs are refused alike', async () => {
  const { w, call } = await withRoutes();
  const other = await workspace();
  const agent = await agentIn(w);
  const twin = await agentIn(w);
  const cases: [string, Ask][] = [
    ['unknown token', pair({ ...agent, token: mintToken('agent_session').token })],
    ['malformed token', pair({ ...agent, token: 'svc_ast_x' })],
    ['the token of another agent', pair({ ...agent, token: twin.token })],
    ['another workspace', pair(await agentIn(other))],
    ['ended', pair(await agentIn(w, {}, { expires_at: new Date(Date.now() - 1_000) }))],
    ['the token alone', { headers: { 'x-svc-agent-token': agent.token } }],
    ['a revoked agent', pair(await agentIn(w, { status: 'revoked', revoked_at: new Date() }))],
  ];
  for (const [what, how] of cases) assert.deepEqual(told(await call(how)), [401, 'invalid_api_key'], what);
  assert.deepEqual(told(await call(pair(await agentIn(w, {}, { sandbox: true })))), [403, 'wrong_key_type']);
  assert.deepEqual(told(await call(pair(await agentIn(w, { mode: 'control' })))), [403, 'forbidden'], 'control runs commands only');
});

test('routes that an agent may not serve don’t exist for it, and addresses bind it', async () => {
  const { w, r, call } = await withRoutes();
  const agent = await agentIn(w, { allowed_route_ids: [r.id] });
  assert.equal((await call(pair(agent))).status, 200);
  const hidden = await call(pair(agent), '/other/x');
  const missing = await call(pair(agent), '/never/x');
  assert.deepEqual(told(hidden), [404, 'route_not_found']);
  assert.deepEqual(told(missing), told(hidden));
  assert.equal(JSON.parse(missing.body).error.message, JSON.parse(hidden.body).error.message);
  const bound = await agentIn(w, { allowed_cidrs: ['203.0.113.0/24'] });
  assert.deepEqual(told(await call(pair(bound))), [403, 'forbidden']);
});

test('a revocation holds at every gateway', async () => {
  const { w, call } = await withRoutes();
  const agent = await agentIn(w);
  for (const at of [first, second]) assert.equal((await call(pair(agent), '/r/x', at)).status, 200);
  await db().agents.update({ where: { id: agent.id }, data: { status: 'revoked', revoked_at: new Date() } });
  for (const at of [first, second]) await until(async () => (await call(pair(agent), '/r/x', at)).status === 401);
});
