import assert from 'node:assert/strict';
import test from 'node:test';
import { forgetRules } from '#server/domain/policies/service.ts';
import { testNode } from '#server/domain/workflows/engine/node-test.ts';
import { ended, runsOf, working } from '#server/domain/workflows/engine/running.fixture.ts';
import { startAutomatically } from '#server/domain/workflows/starts.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { FIRST_ID, fillAuthorship } from '#server/platform/authorship.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { keyActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { withKey, withPerson, withToken } from './callers.fixture.ts';

// What stands behind a call that a workflow makes (issue: authority ends with its cause).

await ownDatabase();
const running = await startGateway();
await running.controlSocket.listen(controlSocketPath());
working();
const upstream = await startUpstream((_req, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'));
const SPACES: readonly Space[] = ['live', 'test'];

const calling = (route: string, trigger: Record<string, unknown> = { triggerType: 'manual' }) => ({
  nodes: [
    { id: 'trigger-node', type: 'trigger', data: { config: trigger } },
    { id: 'call', type: 'route_request', data: { config: { route, method: 'GET', path: '/x' } } },
  ],
  edges: [{ id: 'e', source: 'trigger-node', target: 'call' }],
});

/** A workspace with the route `orders` in both spaces, and an Owner of each. */
async function place() {
  const w = await workspace();
  const owners = { live: await withPerson(w, 'owner', 'live'), test: await withPerson(w, 'owner', 'test') };
  for (const space of SPACES) await makeRoute(w, 'orders', upstream.url, {}, { space });
  await served(running, w);
  return { w, owners };
}
const published = (by: Ctx, definition: object = calling('orders')): Promise<{ id: string; name: string }> =>
  made(by, 'workflows.create', { name: fresh('flow'), definition, enabled: true });

/** As a schedule or an event starts it: nobody asked. */
async function automatic(w: Workspace, space: Space, id: string) {
  const now = new Date();
  const row = await db().workflows.findUniqueOrThrow({ where: { id } });
  const run = newId();
  const ctx = systemContext(db(), { tenant_id: w.tenant.id, sandbox: space === 'test', now, label: 'schedule' });
  const input = { type: 'schedule', data: {}, timestamp: now.toISOString() };
  assert.ok(await startAutomatically(ctx, row, { id: run, trigger_type: 'schedule', label: 'schedule', input }));
  const { status, error_code, error_message } = await ended(run);
  return { status, error_code, error_message: error_message ?? '' };
}
const executed = async (by: Ctx, id: string) => {
  const { status, error_code, error_message } = await ended((await made(by, 'workflows.execute', { id })).id);
  return { status, error_code, error_message: error_message ?? '' };
};

test('who may not call routes can neither publish, start, retry nor change a workflow that calls one', async () => {
  const { w, owners } = await place();
  for (const space of SPACES) {
    const { id } = await published(owners[space]);
    for (const base of [await withKey(w, { space }), await withToken(w, space), await withToken(w, space, owners[space])]) {
      const capabilities = base.actor.capabilities.difference(new Set(['proxy:invoke']));
      const by: Ctx = { ...base, actor: { ...base.actor, capabilities } as Ctx['actor'] };
      const definition = calling('orders');
      for (const [operation, input] of [
        ['workflows.create', { name: fresh('flow'), definition }],
        ['workflows.update', { id, definition }],
        ['workflows.update', { id, enabled: true }],
        ['workflows.execute', { id }],
        ['workflows.import', { workflow: { name: fresh('flow'), definition } }],
        ['workflows.duplicate', { id }],
      ] as const)
        await assert.rejects(made(by, operation, input), { type: 'forbidden', message: /proxy:invoke/ }, `${operation} in ${space}`);
      const { id: run } = await made(owners[space], 'workflows.execute', { id });
      await ended(run);
      await db().workflow_executions.update({ where: { id: run }, data: { status: 'failed' } });
      await assert.rejects(made(by, 'workflows.retry', { id: run }), { type: 'forbidden', message: /proxy:invoke/ });
    }
  }
});

test('a run that nobody started calls routes for as long as its publisher may', async () => {
  const { w, owners } = await place();
  const past = new Date(Date.now() - 1_000);
  const ends: [string, (space: Space) => Promise<Ctx>, (by: Ctx) => Promise<unknown>][] = [
    ['a key that is revoked', (space) => withKey(w, { space }), (by) => keyOf(by, { active: false, revoked_at: past })],
    ['a key that has expired', (space) => withKey(w, { space }), (by) => keyOf(by, { expires_at: past })],
    ['a rotated key whose time is over', (space) => withKey(w, { space }), (by) => keyOf(by, { revoke_at: past })],
    ['a key whose scopes are narrowed', (space) => withKey(w, { space }), (by) => keyOf(by, { scoped: true, scopes: ['workflows:write'] })],
    ['a key whose roles are narrowed', (space) => withKey(w, { space }), (by) => keyOf(by, { role_ids: [] })],
    ['a key bound to other addresses', (space) => withKey(w, { space }), (by) => keyOf(by, { ip_allowlist: ['203.0.113.0/24'] })],
    ['an application that is revoked', (space) => withToken(w, space), (by) => clientOf(by, { active: false })],
    ['an application without the scope', (space) => withToken(w, space), (by) => clientOf(by, { allowed_scopes: ['workflows:write'] })],
    ['a person who is removed', (space) => withPerson(w, 'editor', space), (by) => memberOf(by, { removed_at: past })],
    ['a person who only looks now', (space) => withPerson(w, 'editor', space), (by) => memberOf(by, { role: 'viewer' })],
    ['a person whose account is disabled', (space) => withPerson(w, 'editor', space), (by) => userOf(by, { disabled_at: past })],
    [
      'a person behind an application who is removed',
      async (space) => withToken(w, space, await withPerson(w, 'editor', space)),
      (by) => memberOf(by, { removed_at: past }),
    ],
  ];
  const keyOf = ({ actor }: Ctx, data: object) => db().api_keys.update({ where: { id: actor.id ?? '' }, data });
  const clientOf = ({ actor }: Ctx, data: object) => db().oauth_clients.update({ where: { id: actor.id ?? '' }, data });
  const personOf = ({ actor }: Ctx) => (actor.type === 'oauth_token' ? actor.user_id : actor.id) ?? '';
  const memberOf = (by: Ctx, data: object) =>
    db().memberships.updateMany({ where: { tenant_id: w.tenant.id, user_id: personOf(by) }, data });
  const userOf = (by: Ctx, data: object) => db().users.update({ where: { id: personOf(by) }, data });
  for (const [what, caller, end] of ends)
    for (const space of SPACES) {
      const by = await caller(space);
      const { id } = await published(by);
      assert.deepEqual([(await automatic(w, space, id)).status, what], ['completed', what]);
      await end(by);
      const seen = upstream.seen.length;
      const run = await automatic(w, space, id);
      assert.deepEqual([run.status, run.error_code, upstream.seen.length], ['failed', 'route_forbidden', seen], `${what} in ${space}`);
      assert.match(run.error_message, /publish the workflow again/i);
      // Nor does it help that somebody else starts it: the publisher allows no more than they may.
      assert.equal((await executed(owners[space], id)).error_code, 'route_forbidden', `${what} in ${space}, started by an Owner`);
      // The next step of the message works: whoever publishes it again stands behind it.
      await made(owners[space], 'workflows.update', { id, enabled: true });
      assert.equal((await automatic(w, space, id)).status, 'completed', what);
      const entry = await db().audit_logs.findFirstOrThrow({ where: { resource_id: id, action: 'update' }, orderBy: { seq: 'desc' } });
      assert.deepEqual((entry.details as { changes?: unknown }).changes, [{ field: 'authority', changed: true }], what);
    }
});

test('a tenant policy binds a workflow as it binds its publisher and whoever starts it', async () => {
  const { w, owners } = await place();
  for (const space of SPACES) {
    const { id } = await published(owners[space]);
    const other = await makeRoute(w, fresh('other'), upstream.url, {}, { space });
    await served(running, w);
    const renamed = await published(owners[space], calling(other.slug ?? ''));
    const by = await withKey(w, { space });
    const mine = await published(by);
    const route = await db().routes.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox: space === 'test', slug: 'orders' } });
    const subjects = { api_key_ids: [by.actor.id ?? ''] };
    await db().tenant_policies.create({
      data: {
        ...{ id: newId(), tenant_id: w.tenant.id, name: fresh('no orders'), enabled: true, space: 'both' },
        ...{ actions: ['proxy:invoke'], subjects, resources: [route.id] },
      } as never,
    });
    forgetRules(w.tenant.id);
    await assert.rejects(made(by, 'workflows.execute', { id }), { message: /denied by tenant policy/ });
    await assert.rejects(made(by, 'workflows.create', { name: fresh('flow'), definition: calling('orders') }), {
      message: /denied by tenant policy/,
    });
    // Meanwhile the text that the definition has is the name of the route that is denied.
    assert.equal((await executed(by, renamed.id)).status, 'completed');
    await db().routes.update({ where: { id: other.id }, data: { slug: null } });
    await db().routes.update({ where: { id: route.id }, data: { name: other.slug ?? '' } });
    await served(running, w);
    const step = { workflow: { id: renamed.id, environment: null }, definition: calling(other.slug ?? ''), node_id: 'call' };
    const refused = await testNode(by, { ...step, own: { email: null, phone: null } });
    assert.deepEqual([refused.error?.code, /tenant policy/.test(refused.error?.message ?? '')], ['route_forbidden', true]);
    assert.equal((await automatic(w, space, mine.id)).error_code, 'route_forbidden');
    assert.equal((await executed(owners[space], id)).status, 'completed', 'others are not bound');
  }
});

test('a workflow is no client of a route, and comes from none of its addresses', async () => {
  const { w, owners } = await place();
  for (const [n, space] of SPACES.entries()) {
    const route = await makeRoute(w, `only-clients-${n}`, upstream.url, { requires_clients: true }, { space });
    const client = await made(w.ctx(space), 'clients.create', { name: fresh('loopback'), ip_address: '127.0.0.1' });
    const assignments = [{ route_id: route.id, environment_name: route.environment.name }];
    await made(w.ctx(space), 'clients.assign', { id: client.id, assignments });
    await makeRoute(w, `only-here-${n}`, upstream.url, { ip_allowlist: ['127.0.0.0/8', '::1/128'] }, { space });
    await served(running, w);
    for (const [slug, code] of [
      [`only-clients-${n}`, 'client_not_authorized'],
      [`only-here-${n}`, 'ip_not_allowed'],
    ] as const) {
      const run = await executed(owners[space], (await published(owners[space], calling(slug))).id);
      assert.deepEqual([run.status, run.error_message], ['failed', `The route refused the call (${code}).`], slug);
    }
  }
});

test('a migrated workflow ends with the person behind the application that published it', async () => {
  const { w, owners } = await place();
  for (const space of SPACES) {
    const callers = [owners[space], await withKey(w, { space }), await withToken(w, space), await withToken(w, space, owners[space])];
    for (const by of callers) {
      const { id } = await published({ ...by, ip: '203.0.113.9' });
      const { authority } = await db().workflows.findUniqueOrThrow({ where: { id } });
      await db().workflows.update({ where: { id }, data: { authority: Prisma.DbNull } });
      await fillAuthorship((text, values) => sql().query(text, values), FIRST_ID);
      assert.deepEqual((await db().workflows.findUniqueOrThrow({ where: { id } })).authority, authority, `${by.actor.type} in ${space}`);
    }
  }
});

test('whoever changes the environment of a workflow stands behind it, and must be able to call its routes', async () => {
  const { w, owners } = await place();
  for (const space of SPACES) {
    const { id } = await published(owners[space]);
    const [environment] = await db().environments.findMany({ where: { tenant_id: w.tenant.id, sandbox: space === 'test' } });
    const base = await withKey(w, { space });
    const capabilities = base.actor.capabilities.difference(new Set(['proxy:invoke']));
    const barred: Ctx = { ...base, actor: { ...base.actor, capabilities } as Ctx['actor'] };
    const input = { id, environment: environment?.name };
    await assert.rejects(made(barred, 'workflows.update', input), { type: 'forbidden', message: /proxy:invoke/ }, space);
    const behind = async () => (await db().workflows.findUniqueOrThrow({ where: { id } })).authority as { id: string };
    assert.equal((await behind()).id, owners[space].actor.id);
    await made(base, 'workflows.update', input);
    assert.equal((await behind()).id, base.actor.id, space);
    await made(owners[space], 'workflows.update', { ...input, description: 'the same environment' });
    assert.equal((await behind()).id, base.actor.id, space);
  }
});

test('a route is called by its ID, slug or name as it was judged, and by nothing else', async () => {
  const { w, owners } = await place();
  for (const space of SPACES) {
    const { id, slug } = await makeRoute(w, fresh('by-slug'), upstream.url, {}, { space });
    const name = fresh('By Name');
    await db().routes.update({ where: { id }, data: { name } });
    await served(running, w);
    const by = await withKey(w, { space });
    const forms = [id, id.toUpperCase(), slug ?? '', name];
    for (const form of forms) assert.equal((await executed(by, (await published(by, calling(form))).id)).status, 'completed', form);
    await db().tenant_policies.create({
      data: {
        ...{ id: newId(), tenant_id: w.tenant.id, name: fresh('no route'), enabled: true, space: 'both' },
        ...{ actions: ['proxy:invoke'], subjects: { api_key_ids: [by.actor.id ?? ''] }, resources: [id] },
      } as never,
    });
    forgetRules(w.tenant.id);
    for (const form of forms)
      await assert.rejects(published(by, calling(form)), { message: /denied by tenant policy/ }, `${form} in ${space}`);
    const seen = upstream.seen.length;
    const definition = calling(name.toLowerCase());
    const step = { workflow: { id: newId(), environment: null }, definition, node_id: 'call', own: { email: null, phone: null } };
    const { error } = await testNode(owners[space], step);
    assert.deepEqual([error?.code, upstream.seen.length], ['invalid_config', seen]);
    assert.match(error?.message ?? '', /doesn't exist: name a route of this space by its ID, slug or name/);
  }
});

test('an answer that is withheld says what is hidden and what to do', async () => {
  const { w, owners } = await place();
  const odd = await startUpstream((_, res) => void res.writeHead(200, { 'content-encoding': 'compress' }).end('x'));
  for (const space of SPACES) {
    await made(w.ctx(space), 'secrets.create', { name: 'TOKEN', value: 'a-value-of-a-secret' });
    await makeRoute(w, 'odd', odd.url, { inject_headers_json: { 'X-Token': '{{secret:TOKEN}}' } }, { space });
    await served(running, w);
    const { error_message } = await executed(owners[space], (await published(owners[space], calling('odd'))).id);
    assert.match(error_message, /withheld.*the secrets that the call sends.*Ask for a whole, uncompressed response\.$/);
    assert.doesNotMatch(error_message, /use only/);
  }
});

test('what a route answers with its secrets in it is stored without them', async () => {
  const { w, owners } = await place();
  const value = 'sk-live-"3f9a\\/+plain value';
  const echo = await startUpstream((req, res) => {
    const token = String(req.headers['x-token']);
    res.setHeader('x-echo', Buffer.from(token).toString('base64'));
    res.writeHead(req.url === '/fails' ? 500 : 200, { 'content-type': 'application/json' });
    const escaped = Array.from(token, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    res.end(
      `{"plain":${JSON.stringify(token)},"base64":"${Buffer.from(token).toString('base64')}","escaped":"${escaped}",${JSON.stringify(token)}:1}`,
    );
  });
  for (const space of SPACES) {
    await made(w.ctx(space), 'secrets.create', { name: 'TOKEN', value });
    await makeRoute(w, 'echo', echo.url, { inject_headers_json: { 'X-Token': '{{secret:TOKEN}}' } }, { space });
    await served(running, w);
    for (const path of ['/x', '/fails']) {
      const definition = calling('echo');
      Object.assign(definition.nodes[1]?.data.config ?? {}, { path });
      const { id } = await published(owners[space], definition);
      const { id: run } = await made(owners[space], 'workflows.execute', { id });
      const execution = await ended(run);
      const test = { workflow: { id, environment: null }, definition, node_id: 'call', own: { email: null, phone: null } };
      const step = await testNode(owners[space], test);
      const kept = JSON.stringify([execution, await runsOf(owners[space], run), step]);
      assert.ok(kept.includes('redacted:secret:TOKEN'), kept);
      for (const form of ['3f9a', Buffer.from(value).toString('base64'), '\\u0033\\u0066', 'c2stbGl2ZS'])
        assert.ok(!kept.includes(form), form);
    }
  }
});

test('what runs in the name of a key goes on after its rotation, and what stops with it is named when it is revoked', async () => {
  const { w, owners } = await place();
  for (const space of SPACES) {
    const by = await withKey(w, { space });
    const mirror = await db().oauth_clients.findFirst({ where: { source_api_key_id: by.actor.id ?? '' } });
    assert.ok(mirror, 'the application that mirrors the key');
    const asMirror = await withToken(w, space);
    const mirrored: Ctx = {
      ...asMirror,
      actor: {
        ...asMirror.actor,
        id: mirror.id,
        client_id: mirror.client_id,
        source_key: { id: by.actor.id ?? '', role_ids: [] },
      } as Ctx['actor'],
    };
    const [first, second] = [await published(by), await published(mirrored)];
    const off = await published(by);
    await made(owners[space], 'workflows.update', { id: off.id, enabled: false });
    await db().workflows.update({ where: { id: off.id }, data: { authority: (await workflowOf(first.id)).authority as object } });
    const { authority } = await workflowOf(first.id);
    assert.equal((await automatic(w, space, first.id)).status, 'completed');
    const { id: waiting } = await db().workflow_executions.findFirstOrThrow({ where: { workflow_id: first.id } });
    const stored = [authority, { ...(authority as object), id: owners[space].actor.id, type: 'user' }] as never;
    await db().workflow_executions.update({ where: { id: waiting }, data: { authorities: stored, completed_at: null } });
    const owner = { ...owners[space], warnings: [] as string[] };
    const acting = async (id: string) =>
      ((await made(owner, 'api_keys.uses', { id })).acting as { id: string }[]).map((one) => one.id).sort();
    assert.deepEqual(await acting(by.actor.id ?? ''), [first.id, second.id].sort());
    const { id: heir } = await made(keyHolder(owner), 'api_keys.rotate', { id: by.actor.id, revoke_old_after_sec: 3_600 });
    await db().api_keys.update({ where: { id: by.actor.id ?? '' }, data: { active: false, revoked_at: new Date() } });
    assert.deepEqual(await acting(heir), [first.id, second.id].sort(), space);
    for (const { id } of [first, second]) assert.equal((await automatic(w, space, id)).status, 'completed', space);
    assert.equal(((await workflowOf(off.id)).authority as { id: string }).id, heir);
    const { authorities } = await db().workflow_executions.findUniqueOrThrow({ where: { id: waiting } });
    assert.deepEqual(
      (authorities as { id: string }[]).map(({ id }) => id),
      [heir, owners[space].actor.id],
      'a run that waits goes along, and only its place of the key changes',
    );
    const entry = await db().audit_logs.findFirstOrThrow({ where: { resource_id: first.id, action: 'update' }, orderBy: { seq: 'desc' } });
    const { changes, via, api_key_id } = entry.details as Record<string, unknown>;
    assert.deepEqual([changes, via, api_key_id], [[{ field: 'authority', changed: true }], 'key_rotated', heir]);
    const other = await withKey(w, { space });
    const third = await published(other);
    for (const [operation, id, name] of [
      ['api_keys.rotate', heir, first.name],
      ['api_keys.revoke', other.actor.id, third.name],
    ] as const) {
      const ending = { ...keyHolder(owner), warnings: [] as string[] };
      await made(ending, operation, operation === 'api_keys.rotate' ? { id, revoke_old_after_sec: 0 } : { id });
      assert.match(ending.warnings.join(), new RegExp(`can't any more: .*${name}`), operation);
    }
    for (const { id } of [first, second, third]) assert.equal((await automatic(w, space, id)).error_code, 'route_forbidden');
  }
});

const workflowOf = (id: string) => db().workflows.findUniqueOrThrow({ where: { id } });
/** A machine may rotate keys of its own grants without confirming it. */
const keyHolder = ({ actor: _, ...ctx }: Ctx): Ctx => ({ ...ctx, actor: keyActor('Key - Infrastructure') });
