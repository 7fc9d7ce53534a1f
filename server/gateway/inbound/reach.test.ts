import assert from 'node:assert/strict';
import test from 'node:test';
import { handleInboundWebhook } from '#server/api/inbound-webhooks.ts';
import { signDelivery, webhookMaterial } from '#server/crypto/transit/webhook-formats.ts';
import { forgetRules } from '#server/domain/policies/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { FIRST_ID, fillAuthorship } from '#server/platform/authorship.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { withKey, withPerson, withToken } from '../workflows/callers.fixture.ts';

// A receiver is no way round the right to call a route: who sets the route must have it, and the receiver ends with it.

await ownDatabase();
const running = await startGateway();
await running.controlSocket.listen(controlSocketPath());
const upstream = await startUpstream((_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{"of":"upstream"}'));
const SPACES: readonly Space[] = ['live', 'test'];

/** A workspace with a route in both spaces, and its Owner. */
async function place(space: Space) {
  const w = await workspace();
  const route = await makeRoute(w, 'orders', upstream.url, {}, { space });
  await served(running, w);
  return { w, route, owner: await withPerson(w, 'owner', space) };
}

type Receiver = { id: string; name: string; secret_key: string };
const receiver = (by: Ctx, more: Record<string, unknown>): Promise<Receiver> =>
  made(by, 'inbound_webhooks.create', { name: `in-${newId().slice(-12)}`, format: 'github', ...more });

/** A signed call, as whoever has the secret makes it. */
async function call(w: Workspace, space: Space, { name, secret_key }: Receiver): Promise<[number, string]> {
  const body = `{"id":"${newId()}"}`;
  const at = Math.floor(Date.now() / 1_000);
  const signed = { format: 'github', header: null, id: 'evt', current: webhookMaterial(secret_key) } as const;
  const headers = { ...signDelivery(signed, Buffer.from(body), at) };
  const label = space === 'test' ? `sandbox-${w.tenant.slug}` : w.tenant.slug;
  const req = new Request(`http://hooks.test/hooks/in/${label}/${name}`, { method: 'POST', headers, body });
  const edge = { space: 'live' as const, ip: '203.0.113.9', request_id: newId(), user_agent: null, fault: undefined };
  const res = await handleInboundWebhook(req, { label, name }, edge);
  return [res.status, await res.text()];
}

/** As a token of a client that was made of a key: scopes alone reach no receivers. */
const armed = (ctx: Ctx): Ctx => {
  const capabilities = ctx.actor.capabilities.union(new Set(['inbound_webhook:create', 'inbound_webhook:update'] as const));
  return { ...ctx, actor: { ...ctx.actor, capabilities, login_at: ctx.now } as Ctx['actor'] };
};
const without = (ctx: Ctx): Ctx => {
  const capabilities = ctx.actor.capabilities.difference(new Set(['proxy:invoke']));
  return { ...ctx, actor: { ...ctx.actor, capabilities } as Ctx['actor'] };
};
const ruleFor = (w: Workspace, subjects: object, resource: string) =>
  db().tenant_policies.create({
    data: {
      ...{ id: newId(), tenant_id: w.tenant.id, name: `no orders ${newId()}`, enabled: true, space: 'both' },
      ...{ actions: ['proxy:invoke'], subjects, resources: [resource] },
    } as never,
  });

for (const space of SPACES)
  test(`who may not call a route can neither set it, turn it on nor have its secret (${space})`, async () => {
    const { w, route, owner } = await place(space);
    const [person, key] = [await withPerson(w, 'editor', space), await withKey(w, { space })];
    await ruleFor(w, { user_ids: [person.actor.id ?? ''], api_key_ids: [key.actor.id ?? ''] }, route.id);
    forgetRules(w.tenant.id);
    const barred: [string, Ctx, RegExp][] = [
      ['an Editor whom a policy denies the route', person, /Denied by tenant policy/],
      ['a token of that Editor', armed(await withToken(w, space, person)), /denied by tenant policy/],
      ['a key that a policy denies the route', key, /denied by tenant policy/],
      ['a key without the capability', without(await withKey(w, { space })), /proxy:invoke/],
      ['a token without it', without(armed(await withToken(w, space))), /proxy:invoke/],
    ];
    const other = await makeRoute(w, 'other', upstream.url, {}, { space });
    const on = await receiver(owner, { forward_route_id: route.id });
    const off = await receiver(owner, { forward_route_id: route.id, enabled: false });
    const bare = await receiver(owner, {});
    for (const [what, by, message] of barred) {
      const refused = async (id: string, input: Record<string, unknown>) => {
        const name = `in-${newId().slice(-12)}`;
        const whole = id === 'create' ? { name, format: 'github', ...input } : input;
        await assert.rejects(made(by, `inbound_webhooks.${id}`, whole), { message }, `${what}: ${id} ${JSON.stringify(input)}`);
      };
      await refused('create', { forward_route_id: route.id });
      await refused('create', { forward_route_id: route.id, enabled: false });
      await refused('update', { id: bare.id, forward_route_id: route.id });
      await refused('update', { id: off.id, enabled: true });
      await refused('rotate_secret', { id: on.id });
      await refused('rotate_secret', { id: on.id, secret: 'whsec_known_to_the_thief' });
      // What hands nobody the route is theirs to change.
      await made(by, 'inbound_webhooks.update', { id: on.id, description: what, enabled: true, forward_route_id: route.id });
      await made(by, 'inbound_webhooks.rotate_secret', { id: bare.id });
    }
    await served(running, w);
    await made(person, 'inbound_webhooks.update', { id: bare.id, forward_route_id: other.id });
    const seen = upstream.seen.length;
    assert.deepEqual(await call(w, space, on), [200, '{"of":"upstream"}']);
    assert.equal(upstream.seen.length, seen + 1, 'the Owner still stands behind it');
  });

test('a receiver calls its route for as long as who set it may', async () => {
  const past = new Date(Date.now() - 1_000);
  const keyOf = ({ actor }: Ctx, data: object) => db().api_keys.update({ where: { id: actor.id ?? '' }, data });
  const personOf = ({ actor }: Ctx) => (actor.type === 'oauth_token' ? actor.user_id : actor.id) ?? '';
  const memberOf = (w: Workspace, by: Ctx, data: object) =>
    db().memberships.updateMany({ where: { tenant_id: w.tenant.id, user_id: personOf(by) }, data });
  const ends: [string, (w: Workspace, space: Space) => Promise<Ctx>, (w: Workspace, by: Ctx, route: string) => Promise<unknown>][] = [
    ['a revoked key', (w, space) => withKey(w, { space }), (_, by) => keyOf(by, { active: false, revoked_at: past })],
    ['a narrowed key', (w, space) => withKey(w, { space }), (_, by) => keyOf(by, { scoped: true, scopes: ['routes:read'] })],
    ['a removed person', (w, space) => withPerson(w, 'editor', space), (w, by) => memberOf(w, by, { removed_at: past })],
    ['a demoted person', (w, space) => withPerson(w, 'editor', space), (w, by) => memberOf(w, by, { role: 'viewer' })],
    [
      'a removed person behind an application',
      async (w, space) => armed(await withToken(w, space, await withPerson(w, 'editor', space))),
      (w, by) => memberOf(w, by, { removed_at: past }),
    ],
    [
      'a person whom a policy denies the route',
      (w, space) => withPerson(w, 'editor', space),
      async (w, by, route) => {
        await ruleFor(w, { user_ids: [personOf(by)] }, route);
        forgetRules(w.tenant.id);
      },
    ],
  ];
  for (const space of SPACES) {
    const { w, route, owner } = await place(space);
    for (const [what, caller, end] of ends) {
      const by = await caller(w, space);
      const made_ = await receiver(by, { forward_route_id: route.id });
      assert.equal((await call(w, space, made_))[0], 200, what);
      await end(w, by, route.id);
      const seen = upstream.seen.length;
      assert.equal((await call(w, space, made_))[0], 503, `${what} in ${space}`);
      assert.equal(upstream.seen.length, seen, `${what}: nothing reaches the upstream`);
      const { last_error } = await made(owner, 'inbound_webhooks.get', { id: made_.id });
      assert.equal(last_error, 'target_route_forbidden', what);
      // Whoever turns it on again stands behind it.
      await made(owner, 'inbound_webhooks.update', { id: made_.id, enabled: false });
      await made(owner, 'inbound_webhooks.update', { id: made_.id, enabled: true });
      assert.equal((await call(w, space, made_))[0], 200, what);
      const entry = await db().audit_logs.findFirstOrThrow({
        where: { resource_id: made_.id, action: 'update' },
        orderBy: { seq: 'desc' },
      });
      assert.deepEqual((entry.details as { changes?: unknown }).changes, [{ field: 'authority', changed: true }], what);
    }
  }
});

test('a receiver from before is migrated to who set its route, with the person behind an application', async () => {
  for (const space of SPACES) {
    const { w, route, owner } = await place(space);
    for (const by of [owner, await withKey(w, { space }), armed(await withToken(w, space)), armed(await withToken(w, space, owner))]) {
      const { id } = await receiver(await withPerson(w, 'editor', space), {});
      await made({ ...by, ip: '203.0.113.9' }, 'inbound_webhooks.update', { id, forward_route_id: route.id });
      await made(await withPerson(w, 'editor', space), 'inbound_webhooks.update', { id, description: 'sets no route' });
      const stored = async () => (await db().inbound_webhooks.findUniqueOrThrow({ where: { id } })).authority;
      const authority = await stored();
      await db().inbound_webhooks.update({ where: { id }, data: { authority: Prisma.DbNull } });
      await fillAuthorship((text, values) => sql().query(text, values), FIRST_ID);
      assert.deepEqual(await stored(), authority, `${by.actor.type} in ${space}`);
    }
  }
});
