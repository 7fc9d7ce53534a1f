import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { callApi, startApi, startTlsUpstream } from './ephemeral/ephemeral.fixture.ts';
import { type Answer, ask, makeRoute, served, startUpstream } from './gateway.fixture.ts';

// What an API key minted is worth no more than the key: on every plane that accepts such a token, in both spaces, for everything that ends or narrows a key.

await testDatabase();
const running = await startApi();
const HOST = 'api.minted.example';
await startTlsUpstream([HOST]);
const plain = await startUpstream();

type Minting = { w: Workspace; as: Ctx; space: Space };
type Kind = {
  mint(minting: Minting): Promise<string>;
  /** Uses the token from 127.0.0.1: `status code`. */
  use(minting: Minting, token: string): Promise<string>;
  works: string;
  ended: string;
  /** When the key lives but may not do this any more; `ended` where that is the same. */
  narrowed?: string;
  elsewhere: string;
};

const said = ({ status, headers }: Answer) => `${status} ${headers['x-svc-error'] ?? 'ok'}`;
const governed =
  (path: string): Kind['use'] =>
  async ({ w, space }, token) => {
    const host = space === 'live' ? w.tenant.slug : `sandbox-${w.tenant.slug}`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    return said(await ask(running.port, host, path, { method: 'POST', headers, body: '{"model":"m","messages":[]}' }));
  };
const gatewayOf = (as: Ctx) => made(as, 'ai_gateways.create', { name: fresh('g'), slug: fresh('g') });

const KINDS: Record<string, Kind> = {
  'gateway token': {
    async mint({ as }) {
      const name = fresh('W').replaceAll('-', '_');
      const { secret_id } = await made(as, 'wrap.create_credential', { name, provider: 'x', value: fresh('value'), hosts: [HOST] });
      return (await made(as, 'wrap.create_token', { secret: secret_id })).token;
    },
    use: async ({ space }, token) => said(await callApi(space === 'live' ? running.api : running.sandbox, `/wg/${token}/${HOST}/x`)),
    works: '200 ok',
    ended: '401 wrap_token_invalid',
    elsewhere: '403 forbidden',
  },
  'AI token on the AI plane': {
    mint: async ({ as }) => (await made(as, 'ai_gateways.tokens.create', { id: (await gatewayOf(as)).id })).token,
    use: governed('/v1/ai/nothing/v1/chat/completions'),
    works: '401 agent_missing',
    ended: '401 revoked',
    elsewhere: '403 ip_cidr_mismatch',
  },
  'AI token on the MCP plane': {
    mint: async ({ as }) => (await made(as, 'ai_gateways.tokens.create', { id: (await gatewayOf(as)).id })).token,
    use: governed('/v1/mcp/nothing'),
    works: '404 unknown_mcp_resource',
    ended: '401 revoked',
    elsewhere: '403 ip_cidr_mismatch',
  },
  'access token on the proxy plane': {
    async mint({ w, as, space }) {
      const mirror = await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: as.actor.id as string } });
      return (await w.token({ space, of: mirror })).text;
    },
    async use({ w, space }, token) {
      const host = space === 'live' ? w.tenant.slug : `sandbox-${w.tenant.slug}`;
      return said(await ask(running.port, host, '/minted/x', { headers: { authorization: `Bearer ${token}` } }));
    },
    works: '200 ok',
    ended: '401 invalid_api_key',
    narrowed: '403 forbidden',
    elsewhere: '403 forbidden',
  },
};

async function becomes(minting: Minting, token: string, kind: Kind, wanted: string, what: string): Promise<void> {
  let last = '';
  try {
    await until(async () => {
      last = await kind.use(minting, token);
      return last === wanted;
    });
  } catch {
    assert.equal(last, wanted, `after the key ${what}`);
  }
}

const PAST = new Date(Date.now() - 1_000);
const ENDINGS: Record<string, (id: string, minting: Minting) => Promise<unknown>> = {
  'is revoked': (id, { w, space }) => made(w.member('owner', space), 'api_keys.revoke', { id }),
  'is disabled': (id) => db().api_keys.update({ where: { id }, data: { active: false } }),
  expires: (id) => db().api_keys.update({ where: { id }, data: { expires_at: PAST } }),
  'is replaced': (id) => db().api_keys.update({ where: { id }, data: { revoke_at: PAST } }),
  'is narrowed to scopes that mint nothing': (id) =>
    db().api_keys.update({ where: { id }, data: { scoped: true, scopes: ['routes:read'] } }),
  'loses its roles': (id) => db().api_keys.update({ where: { id }, data: { role_ids: [] } }),
};

for (const space of ['live', 'test'] as const)
  for (const [name, kind] of Object.entries(KINDS))
    test(`${space}: ${name} ends with the key that minted it, and works only where the key does`, async () => {
      const w = await workspace();
      await makeRoute(w, 'minted', plain.url, {}, { space });
      for (const [what, end] of Object.entries(ENDINGS)) {
        const { row, as } = await w.key(space);
        const minting = { w, as, space };
        const token = await kind.mint(minting);
        await served(running, w);
        assert.equal(await kind.use(minting, token), kind.works, `before the key ${what}`);
        await end(row.id, minting);
        await becomes(
          minting,
          token,
          kind,
          what.includes('loses') || what.includes('narrowed') ? (kind.narrowed ?? kind.ended) : kind.ended,
          what,
        );
      }
      const { row, as } = await w.key(space);
      const minting = { w, as, space };
      const token = await kind.mint(minting);
      await served(running, w);
      await db().api_keys.update({ where: { id: row.id }, data: { ip_allowlist: ['203.0.113.0/24'] } });
      await becomes(minting, token, kind, kind.elsewhere, 'is used elsewhere');
      await db().api_keys.update({ where: { id: row.id }, data: { ip_allowlist: ['203.0.113.0/24', '127.0.0.1'] } });
      await becomes(minting, token, kind, kind.works, 'is used there again');
    });

test('a policy that binds a key, or one of its roles, binds the gateway and AI tokens that it minted', async () => {
  const w = await workspace();
  const { row, as } = await w.key('live');
  const minting: Minting = { w, as, space: 'live' };
  const [wrap, ai] = [KINDS['gateway token'] as Kind, KINDS['AI token on the AI plane'] as Kind];
  const tokens = [await wrap.mint(minting), await ai.mint(minting)] as const;
  await served(running, w);
  for (const subjects of [{ api_key_ids: [row.id] }, { roles: row.role_ids }]) {
    const owner = w.member('owner');
    await verified(owner, 'policy.change');
    const policy = await made(owner, 'policies.create', {
      name: fresh('held'),
      actions: ['proxy:invoke', 'ai_gateway:mint'],
      subjects,
      space: 'both',
    });
    await until(async () => (await wrap.use(minting, tokens[0])) === '403 forbidden');
    await until(async () => (await ai.use(minting, tokens[1])) === '401 revoked');
    await verified(owner, 'policy.change');
    await made(owner, 'policies.delete', { id: policy.id });
    await until(async () => (await wrap.use(minting, tokens[0])) === wrap.works);
    await until(async () => (await ai.use(minting, tokens[1])) === ai.works);
  }
});

test('a token is minted for no longer than its key works', async () => {
  const w = await workspace();
  const ends = new Date(Date.now() + 600_000);
  const { as } = await w.key('live', 'Key - Infrastructure', { expires_at: ends });
  const gateway = await gatewayOf(as);
  const ai = await made(as, 'ai_gateways.tokens.create', { id: gateway.id });
  assert.equal(new Date(ai.expires_at).getTime(), ends.getTime());
  const { secret_id } = await made(as, 'wrap.create_credential', { name: 'W', provider: 'x', value: fresh('value'), hosts: [HOST] });
  for (const ttl of [{}, { ttl_seconds: 31_536_000 }]) {
    const token = await made(as, 'wrap.create_token', { secret: secret_id, ...ttl });
    assert.equal(new Date(token.expires_at).getTime(), ends.getTime());
  }
});

test('the successor of a rotated key is bound by the policies that named its predecessor', async () => {
  const w = await workspace();
  const { row } = await w.key('live');
  const owner = w.member('owner');
  await verified(owner, 'policy.change');
  const policy = await made(owner, 'policies.create', {
    name: 'held',
    actions: ['route:list'],
    subjects: { api_key_ids: [row.id] },
    space: 'both',
  });
  await verified(owner, 'capability.grant');
  const next = await made(owner, 'api_keys.rotate', { id: row.id, revoke_old_after_sec: 3600 });
  await verified(owner, 'capability.grant');
  const last = await made(owner, 'api_keys.rotate', { id: next.id });
  for (const { api_key } of [next, last]) {
    const answer = await call('GET', '/routes', { key: api_key });
    assert.deepEqual([answer.status, answer.body.error?.message], [403, 'denied by tenant policy held']);
  }
  const { subjects } = await db().tenant_policies.findUniqueOrThrow({ where: { id: policy.id } });
  assert.deepEqual((subjects as { api_key_ids: string[] }).api_key_ids, [row.id, next.id, last.id]);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'policy', action: 'update' } });
  assert.equal(entries.length, 2);
});

test('a policy that is narrowed to a key covers its successor, and forgets keys that have ended', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const { row } = await w.key('live');
  await verified(owner, 'policy.change');
  const policy = await made(owner, 'policies.create', {
    ...{ name: 'kept', actions: ['api_key:revoke'], subjects: { api_key_ids: [row.id] }, resources: [row.id, row.key_id], space: 'both' },
  });
  const rotated = async (id: string) => {
    await verified(owner, 'capability.grant');
    return made(owner, 'api_keys.rotate', { id, revoke_old_after_sec: 0 });
  };
  const next = await rotated(row.id);
  const last = await rotated(next.id);
  const { subjects, resources } = await db().tenant_policies.findUniqueOrThrow({ where: { id: policy.id } });
  assert.deepEqual((subjects as { api_key_ids: string[] }).api_key_ids, [last.id]);
  assert.deepEqual(resources, [last.id, last.key_id]);
});
