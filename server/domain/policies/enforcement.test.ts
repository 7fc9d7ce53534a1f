import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { keyCapabilities } from '#server/kernel/capabilities.ts';
import type { Actor, Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';

await testDatabase();

/** A policy that an Owner makes by the operation. */
async function policy(w: Workspace, given: Record<string, unknown>) {
  const owner = w.member('owner');
  await verified(owner, 'policy.change');
  return made(owner, 'policies.create', { name: `p-${newId()}`, subjects: { all: true }, ...given });
}
const route = (ctx: Ctx, name: string) => made(ctx, 'routes.create', { name, target_base_url: 'https://api.example.com' });
const refusal = (name: string) => ({ type: 'forbidden', message: `denied by tenant policy ${name}` });
const run = (id: string, ctx: Ctx, input: Record<string, unknown> = {}) => perform(operationById(id), ctx, input);

test('a policy acts on the next request, on /v1 and in the dashboard, and names itself', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  assert.equal((await call('GET', '/routes', { key })).status, 200);
  const made = await policy(w, { name: 'no routes', actions: ['route:list'] });
  const denied = await call('GET', '/routes', { key });
  assert.deepEqual(
    [denied.status, denied.body.error.type, denied.body.error.message],
    [403, 'forbidden', 'denied by tenant policy no routes'],
  );
  await assert.rejects(run('routes.list', w.member('owner')), {
    type: 'role_denied',
    message: /tenant policy no routes\. An Owner or Admin can change it/,
  });
  const owner = w.member('owner');
  await verified(owner, 'policy.change');
  await run('policies.update', owner, { id: made.id, enabled: false });
  assert.equal((await call('GET', '/routes', { key })).status, 200);
});

test('a rule narrowed to a name refuses that object by ID and by slug, and changes that would take its name', async () => {
  const w = await workspace();
  const [prod, other] = [await route(w.live, 'prod-orders'), await route(w.live, 'staging-orders')];
  await policy(w, { name: 'hands off', actions: ['route:read', 'route:update', 'route:delete', 'route:create'], resources: ['prod-*'] });
  for (const id of [prod.id, String(prod.id).toUpperCase(), prod.slug])
    await assert.rejects(run('routes.get', w.live, { id }), refusal('hands off'), id);
  await assert.rejects(run('routes.update', w.live, { id: prod.id, name: 'free' }), refusal('hands off'));
  await assert.rejects(run('routes.delete', w.live, { id: prod.id }), refusal('hands off'));
  await run('routes.get', w.live, { id: other.id });
  await assert.rejects(run('routes.update', w.live, { id: other.id, name: 'prod-mine' }), refusal('hands off'));
  await assert.rejects(
    run('routes.create', w.live, { name: 'prod-new', target_base_url: 'https://api.example.com' }),
    refusal('hands off'),
  );
  await run('routes.update', w.live, { id: other.id, name: 'staging-2' });
  await assert.rejects(run('routes.get', w.live, { id: newId() }), { type: 'not_found' });
});

test('a rule narrowed to an ID finds an API key by its public ID too', async () => {
  const w = await workspace();
  const key = await w.key('live');
  await policy(w, { name: 'this key', actions: ['api_key:read', 'api_key:revoke'], resources: [key.row.id] });
  await assert.rejects(run('api_keys.get', w.live, { id: key.row.key_id }), refusal('this key'));
  await assert.rejects(run('api_keys.revoke', w.live, { id: key.row.key_id }), refusal('this key'));
});

test('lists leave out what a narrowed rule hides and say so; a denied read leaves names only', async () => {
  const w = await workspace();
  const ids = [await route(w.live, 'prod-orders'), await route(w.live, 'staging-orders')].map(({ id }) => id);
  await made(w.live, 'secrets.create', { name: 'prod-token', value: 'v' });
  await policy(w, { actions: ['route:read', 'secret:read'], resources: ['prod-*'] });
  const ctx = w.ctx('live');
  const names = (answer: { output: unknown }) => (answer.output as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names(await run('routes.list', ctx)), ['staging-orders']);
  assert.deepEqual(ctx.warnings, ['1 row is hidden by a tenant policy.']);
  assert.deepEqual(names(await run('secrets.list', w.ctx('live'))), []);
  assert.equal(names(await run('routes.overview', w.member('owner'), { ids: ids.join(',') })).length, 1);
  const found = await run('search.query', w.member('owner'), { q: 'orders' });
  assert.deepEqual(
    (found.output as { groups: { items: { title: string }[] }[] }).groups.flatMap(({ items }) => items.map(({ title }) => title)),
    ['staging-orders'],
  );
  await policy(w, { actions: ['route:read'] });
  const { output } = await run('routes.list', w.ctx('live'));
  assert.ok((output as object[]).every((row) => !('target_base_url' in row) && 'name' in row));
});

test('a change that does not say which object it is about is denied by a narrowed rule', async () => {
  const w = await workspace();
  const staging = await made(w.live, 'environments.create', { name: 'qa' });
  await policy(w, { name: 'production routes', actions: ['route:update'], resources: ['prod-*'], subjects: { roles: ['editor'] } });
  await assert.rejects(run('environments.duplicate', w.member('editor'), { id: staging.id, name: 'qa2' }), { type: 'role_denied' });
  await run('environments.duplicate', w.member('admin'), { id: staging.id, name: 'qa2' });
});

test('a rule holds in its space and for its subjects only', async () => {
  const w = await workspace();
  const [bound, free] = [await w.key('live'), await w.key('live')];
  const there = await w.key('test');
  await policy(w, { actions: ['environment:*'], subjects: { api_key_ids: [bound.row.id, there.row.id] }, space: 'live' });
  const status = async (key: string) => (await call('GET', '/environments', { key })).status;
  assert.deepEqual([await status(bound.text), await status(free.text), await status(there.text)], [403, 200, 200]);
});

test('a token that works for a key is bound by what binds the key, and a person’s token by what binds the person', async () => {
  const w = await workspace();
  const key = await w.key('live');
  const userId = newId();
  await db().users.create({ data: { id: userId, email: `${userId}@example.test`, full_name: 'P' } });
  await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: userId, role: 'editor' } });
  await policy(w, { name: 'k', actions: ['route:list'], subjects: { api_key_ids: [key.row.id], user_ids: [userId] } });
  const capabilities = keyCapabilities(key.row.role_ids);
  const tokens: Actor[] = [
    {
      type: 'client_token',
      bound: { payload_sha256: null, key_id: null, vault_id: null, token_id: null, role: null },
      id: newId(),
      label: 't',
      origin: null,
      capabilities,
      minted_by: { type: 'api_key', id: key.row.id, label: 'k' },
    },
    {
      ...{
        type: 'oauth_token',
        id: newId(),
        client_id: 'c',
        token_id: 't',
        user_id: userId,
        person: { email: 'ada@example.com', role: 'editor' },
        source_key: null,
        family_id: null,
        scopes: [],
        step_up_at: null,
      },
      ...{ label: 't', capabilities },
    },
  ];
  for (const actor of tokens) await assert.rejects(run('routes.list', w.ctx('live', actor)), refusal('k'), actor.type);
});

test('a forged token of a person with forbidden rights is denied at evaluation', async () => {
  const w = await workspace();
  const capabilities = keyCapabilities([...(await w.key('live')).row.role_ids]);
  const token = (user_id: string | null): Ctx =>
    w.ctx('live', {
      ...{
        type: 'oauth_token',
        id: newId(),
        client_id: 'c',
        token_id: 't',
        user_id,
        person: null,
        source_key: null,
        family_id: null,
        scopes: [],
        step_up_at: null,
      },
      ...{ label: 't', capabilities },
    });
  const op = { ...operationById('routes.list'), needs: ['transit:decrypt'] };
  await assert.rejects(perform(op as never, token(newId()), {}), { type: 'forbidden', message: /lacks the capability transit:decrypt/ });
  await perform(op as never, token(null), {});
});

test('a key held back for some routes cannot make an heir that is not', async () => {
  const w = await workspace();
  const key = await w.key('live', 'Key - Editor');
  await policy(w, { actions: ['route:delete'], subjects: { api_key_ids: [key.row.id] }, resources: ['prod-*'] });
  const answer = await call('POST', '/api-keys', { key: key.text, body: { name: 'heir' } });
  assert.deepEqual([answer.status, answer.body.error.type], [403, 'privilege_escalation']);
  assert.match(answer.body.error.message, /route:delete/);
  const everybody = await workspace();
  const free = await everybody.key('live', 'Key - Editor');
  await policy(everybody, { actions: ['route:delete'], resources: ['prod-*'] });
  assert.equal((await call('POST', '/api-keys', { key: free.text, body: { name: 'as bound as its maker' } })).status, 201);
});

test('denied calls are counted for the policy, with who and what', async () => {
  const w = await workspace();
  const key = await w.key('live');
  const { id } = await policy(w, { actions: ['route:list'] });
  for (let i = 0; i < 3; i++) await call('GET', '/routes', { key: key.text });
  const { output } = await run('policies.denials', w.member('owner'), { id });
  const [row] = output as { capability: string; actor: string; calls: number; actor_id: string }[];
  assert.deepEqual([row?.capability, row?.calls, row?.actor_id], ['route:list', 3, key.row.id]);
  const shown = (await run('policies.get', w.member('owner'), { id })).output as { denied_calls: number };
  assert.equal(shown.denied_calls, 3);
});
