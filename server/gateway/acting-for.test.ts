import assert from 'node:assert/strict';
import test from 'node:test';
import { handleInboundWebhook } from '#server/api/inbound-webhooks.ts';
import { execute } from '#server/api/perform.ts';
import { mintToken } from '#server/crypto/tokens.ts';
import { signDelivery, webhookMaterial } from '#server/crypto/transit/webhook-formats.ts';
import * as routes from '#server/domain/routes/operations.ts';
import { ended, working } from '#server/domain/workflows/engine/running.fixture.ts';
import * as wrap from '#server/domain/wrap/operations.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { callApi, startApi, startTlsUpstream } from './ephemeral/ephemeral.fixture.ts';
import { ask, makeRoute, served, startUpstream } from './gateway.fixture.ts';
import { client, makeGateway, makeServer, makeToken, makeTool } from './mcp/mcp.fixture.ts';
import { withKey, withPerson, withToken } from './workflows/callers.fixture.ts';

// A call that is made for somebody is bound by the tenant policies that bind them, by whichever door it comes.

await ownDatabase();
const running = await startApi();
await running.controlSocket.listen(controlSocketPath());
working();
const VALUE = 'value-that-policies-hide';
const NAMED = '{{secret:HIDDEN}}';
const PINNED = '{{secret:HIDDEN_PINNED}}';
const HOST = 'api.acting.example';
const LIMIT = 1_000;
const upstream = await startUpstream((_req, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
const outside = await startTlsUpstream([HOST]);
const SPACES: readonly Space[] = ['live', 'test'];

type Subjects = { user_ids?: string[]; api_key_ids?: string[]; roles?: string[]; oauth_client_ids?: string[] };
type Place = { w: Workspace; space: Space; host: string; route: Awaited<ReturnType<typeof makeRoute>> };
/** A way to the route `fills` or to the proxy, and everybody who is behind a call that takes it. */
type Door = { behind: Record<string, Subjects>; call(): Promise<unknown> };

async function place(space: Space): Promise<Place> {
  const w = await workspace();
  await made(w.ctx(space), 'secrets.create', { name: 'HIDDEN', value: VALUE });
  await made(w.ctx(space), 'secrets.create', { name: 'HIDDEN_PINNED', value: VALUE, allowed_hosts: [HOST] });
  const limit = { rate_limit_enabled: true, rate_limit_requests: LIMIT, rate_limit_window_sec: 3600, rate_limit_per_client: true };
  const route = await makeRoute(w, 'fills', upstream.url, limit, { space });
  await served(running, w);
  return { w, space, host: space === 'live' ? w.tenant.slug : `sandbox-${w.tenant.slug}`, route };
}

const idOf = ({ actor }: Ctx): string => actor.id ?? '';
const ofKey = (by: Ctx): Record<string, Subjects> => ({
  'the key': { api_key_ids: [idOf(by)] },
  'the role of the key': { roles: by.actor.type === 'api_key' ? [...by.actor.role_ids] : [] },
});
const ofPerson = (by: Ctx, what = 'the person'): Record<string, Subjects> => ({
  [what]: { user_ids: [idOf(by)] },
  [`the role of ${what}`]: { roles: by.actor.type === 'member' ? [by.actor.role] : [] },
});

const definition = {
  nodes: [
    { id: 'trigger-node', type: 'trigger', data: { config: { triggerType: 'manual' } } },
    {
      id: 'call',
      type: 'route_request',
      data: { config: { route: 'fills', method: 'POST', path: '/x', body: { x: '{{trigger.data.x}}' } } },
    },
  ],
  edges: [{ id: 'e', source: 'trigger-node', target: 'call' }],
};
const workflow = async (publisher: Ctx, starter: Ctx) => {
  const { id } = await made(publisher, 'workflows.create', { name: fresh('flow'), definition, enabled: true });
  return async () => ended((await made(starter, 'workflows.execute', { id, input: { x: NAMED } })).id);
};

async function receiver({ host, route }: Place, by: Ctx) {
  const { name, secret_key } = await made(by, 'inbound_webhooks.create', {
    name: `in-${newId().slice(-12)}`,
    format: 'github',
    forward_route_id: route.id,
  });
  return () => {
    const body = JSON.stringify({ id: newId(), x: NAMED });
    const signed = { format: 'github', header: null, id: 'evt', current: webhookMaterial(secret_key) } as const;
    const headers = { ...signDelivery(signed, Buffer.from(body), Math.floor(Date.now() / 1_000)), 'content-type': 'application/json' };
    const req = new Request(`http://hooks.test/hooks/in/${host}/${name}`, { method: 'POST', headers, body });
    const edge = { space: 'live' as const, ip: '203.0.113.9', request_id: newId(), user_agent: null, fault: undefined };
    return handleInboundWebhook(req, { label: host, name }, edge);
  };
}

async function collection({ w, space, host, route }: Place) {
  const gateway = await makeGateway(w, {}, space);
  const columns = { server_type: 'collection', transport: null, upstream_url: null, allowed_tools: ['fill'], pii_inspection: false };
  const server = await makeServer(w, gateway, 'vendor', columns);
  const operation = { method: 'POST', path_template: '/x', param_map: [], body_mode: 'json', result: 'json', timeout_ms: 5_000 };
  await makeTool(server, 'fill', { route_id: route.id, operation: { ...operation, param_map: [{ arg: 'x', in: 'body', name: 'x' }] } });
  await served(running, w);
  const call = (token: string) =>
    client(running, host, '/v1/mcp/vendor', token).modern('tools/call', { name: 'fill', arguments: { x: NAMED } });
  return { gateway, call };
}

async function agent({ w, space, host }: Place, by: Ctx) {
  const { id, agent_id } = await made(by, 'agents.create', { name: fresh('agent') });
  await db().agents.update({ where: { id }, data: { mode: 'intercept' } });
  const { token, digest } = mintToken('agent_session');
  await db().agent_sessions.create({
    data: {
      ...{ id: newId(), tenant_id: w.tenant.id, sandbox: space === 'test', agent_id: id, token_digest: new Uint8Array(digest) },
      ...{ window: '2026-10-01T12', fingerprint: 'f', mode: 'intercept', issued_at: new Date() },
      expires_at: new Date(Date.now() + 3_600_000),
    },
  });
  const headers = { 'x-svc-agent-id': agent_id, 'x-svc-agent-token': token, 'content-type': 'application/json' };
  return () => ask(running.port, host, '/fills/x', { method: 'POST', headers, body: JSON.stringify({ x: NAMED }) });
}

const portOf = (space: Space) => (space === 'live' ? running.api : running.sandbox);
const JSON_TYPE = [{ name: 'Content-Type', value: 'application/json' }];
const trial =
  (by: Ctx, { route }: Place) =>
  () =>
    execute(
      routes.test,
      { ...by, now: new Date() },
      { id: route.id, method: 'POST', path: '/x', headers: JSON_TYPE, body: JSON.stringify({ x: NAMED }) },
    );
const proxyTrial = (by: Ctx) => () =>
  execute(
    wrap.testCall,
    { ...by, now: new Date() },
    { url: `https://${HOST}/x`, method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ x: PINNED }) },
  );

const DOORS: Record<string, (at: Place) => Promise<Door>> = {
  async 'a workflow that a key published and started'({ w, space }) {
    const by = await withKey(w, { space });
    return { behind: ofKey(by), call: await workflow(by, by) };
  },
  async 'a workflow of one person that another started'({ w, space }) {
    const [publisher, starter] = [await withPerson(w, 'owner', space), await withPerson(w, 'editor', space)];
    return {
      behind: { ...ofPerson(publisher, 'the publisher'), ...ofPerson(starter, 'the starter') },
      call: await workflow(publisher, starter),
    };
  },
  async 'a workflow that an application started for a person'({ w, space }) {
    const [publisher, person] = [await withPerson(w, 'owner', space), await withPerson(w, 'editor', space)];
    const by = await withToken(w, space, person);
    const behind = { ...ofPerson(person), 'the application': { oauth_client_ids: [idOf(by)] } };
    return { behind, call: await workflow(publisher, by) };
  },
  async 'a receiver of a person'(at) {
    const by = await withPerson(at.w, 'editor', at.space);
    return { behind: ofPerson(by), call: await receiver(at, by) };
  },
  async 'a receiver of a key'(at) {
    const by = await withKey(at.w, { space: at.space });
    return { behind: ofKey(by), call: await receiver(at, by) };
  },
  async 'a tool that a person calls'(at) {
    const { w, space, host } = at;
    const by = await withPerson(w, 'editor', space);
    const { call } = await collection(at);
    const app = await w.client(space, { allowed_scopes: ['mcp:tools'] });
    const aud = `https://${host}.localhost/v1/mcp/vendor`;
    const person = await db().users.findUniqueOrThrow({ where: { id: idOf(by) } });
    const { text } = await w.token({ space, scopes: ['mcp:tools'], of: app, person, extra: { aud } });
    return { behind: { ...ofPerson(by), 'the application': { oauth_client_ids: [app.id] } }, call: () => call(text) };
  },
  async 'a tool that a token of a key calls'(at) {
    const by = await withKey(at.w, { space: at.space });
    const { gateway, call } = await collection(at);
    const { text } = await makeToken(at.w, gateway, { columns: { created_by: idOf(by) } });
    return { behind: ofKey(by), call: () => call(text) };
  },
  async 'the test of a route by a person'(at) {
    const by = await withPerson(at.w, 'editor', at.space);
    return { behind: ofPerson(by), call: trial(by, at) };
  },
  async 'the test of a route by a key'(at) {
    const by = await withKey(at.w, { space: at.space });
    return { behind: ofKey(by), call: trial(by, at) };
  },
  async 'an agent whose secret a key made'(at) {
    const by = await withKey(at.w, { space: at.space });
    return { behind: ofKey(by), call: await agent(at, by) };
  },
  async 'an agent whose secret a person made'(at) {
    const by = await withPerson(at.w, 'owner', at.space);
    return { behind: ofPerson(by), call: await agent(at, by) };
  },
  async 'the test of a proxy call by a person'({ w, space }) {
    const by = await withPerson(w, 'editor', space);
    return { behind: ofPerson(by), call: proxyTrial(by) };
  },
  async 'a call of the proxy with a key'({ w, space }) {
    const { row, text: key } = await w.key(space);
    const headers = { 'x-svc-proxy-url': `https://${HOST}/x`, 'content-type': 'application/json' };
    const call = () => callApi(portOf(space), '/v1/proxy', { key, method: 'POST', headers, body: JSON.stringify({ x: PINNED }) });
    return { behind: { 'the key': { api_key_ids: [row.id] }, 'the role of the key': { roles: row.role_ids } }, call };
  },
  async 'a gateway token of a key'({ w, space }) {
    const by = await withKey(w, { space });
    const credential = { name: 'HIDDEN_WRAPPED', provider: 'x', value: VALUE, hosts: [HOST] };
    const { secret_id } = await made(by, 'wrap.create_credential', credential);
    const { token } = await made(by, 'wrap.create_token', { secret: secret_id });
    return { behind: ofKey(by), call: () => callApi(portOf(space), `/wg/${token}/${HOST}/x`) };
  },
};

const sent = () => upstream.seen.length + outside.seen.length;
const last = () => JSON.stringify([upstream.seen.at(-1)?.body, outside.seen.at(-1)?.body, outside.seen.at(-1)?.headers]);

for (const [what, open] of Object.entries(DOORS))
  test(`a policy hides a secret from ${what}`, async () => {
    for (const space of SPACES) {
      const at = await place(space);
      const { behind, call } = await open(at);
      await served(running, at.w);
      const fills = async (note: string) => {
        const before = sent();
        const answer = await call();
        assert.equal(sent(), before + 1, `${note} in ${space}: ${JSON.stringify(answer)}`);
        assert.ok(last().includes(VALUE), `${note} in ${space}`);
      };
      await fills('without a policy');
      for (const [who, subjects] of Object.entries(behind)) {
        const rule = { tenant_id: at.w.tenant.id, name: fresh('hides'), actions: ['secret:read'], subjects, resources: ['HIDDEN*'] };
        const { id } = await db().tenant_policies.create({ data: { id: newId(), ...rule } });
        await served(running, at.w);
        const before = sent();
        await call();
        assert.equal(sent(), before, `a policy that names ${who} in ${space}`);
        await db().tenant_policies.delete({ where: { id } });
        await served(running, at.w);
      }
      await fills('without one again');
    }
  });

test('a limit per caller counts a call for everybody it is made for', async () => {
  for (const what of [
    'a workflow that a key published and started',
    'a workflow of one person that another started',
    'a receiver of a key',
  ])
    for (const space of SPACES) {
      const at = await place(space);
      const door = await DOORS[what]?.(at);
      assert.ok(door);
      await served(running, at.w);
      for (let calls = 0; calls < 2; calls++) await door.call();
      const rate = running.runtime.snapshots.byId(at.w.tenant.id)?.[space].route(at.route.id)?.environment(at.route.environment.name);
      const key = rate?.config('POST').rateLimit?.key;
      const ids = Object.values(door.behind).flatMap(({ user_ids = [], api_key_ids = [] }) => [...user_ids, ...api_key_ids]);
      for (const id of ids) {
        const rule = { key: `${key}:c:${id}`, limit: LIMIT, windowMs: 3_600_000, burst: null };
        const [verdict] = await running.runtime.counters.take([rule], Date.now());
        assert.equal(verdict?.remaining, LIMIT - 3, `${what} in ${space}`);
      }
    }
});

test('a policy against minting binds what a key minted from the snapshot that the gateway serves, without asking the database', async () => {
  for (const space of SPACES) {
    const at = await place(space);
    const by = await withKey(at.w, { space });
    const { gateway, call } = await collection(at);
    const { text } = await makeToken(at.w, gateway, { columns: { created_by: idOf(by) } });
    assert.equal((await call(text)).status, 200);
    for (const subjects of Object.values(ofKey(by))) {
      const rule = { tenant_id: at.w.tenant.id, name: fresh('mints nothing'), actions: ['ai_gateway:mint'], subjects };
      const { id } = await db().tenant_policies.create({ data: { id: newId(), ...rule } });
      await served(running, at.w);
      const refused = await call(text);
      assert.deepEqual([refused.status, refused.headers['x-svc-error']], [401, 'revoked'], space);
      await db().tenant_policies.delete({ where: { id } });
      await served(running, at.w);
      assert.equal((await call(text)).status, 200);
    }
  }
});
