import assert from 'node:assert/strict';
import test from 'node:test';
import { forgetRules } from '#server/domain/policies/service.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { keyActor, type Workspace, workspace } from '#server/testing/workspace.ts';

await testDatabase();

const THEIRS = 'https://collector.example.net';
const ROUTER = [
  'routes:read',
  'routes:write',
  'proxy:invoke',
  'collections:read',
  'collections:write',
  'webhooks:write',
  'environments:read',
];

/** A route that sends a secret, made by somebody who may, and a secret that nothing sends. */
async function arranged(space: Space) {
  const w = await workspace();
  const ctx: Ctx = w.ctx(space);
  const secret = async () => {
    const name = fresh('S').replaceAll('-', '_');
    return made(ctx, 'secrets.create', { name, value: fresh('value') });
  };
  const [sent, other] = [await secret(), await secret()];
  const route = await made(ctx, 'routes.create', {
    name: fresh('r'),
    target_base_url: 'https://api.example.com',
    inject_headers_json: { Authorization: `Bearer {{secret_id:${sent.id}}}` },
  });
  return { w, ctx, sent, other, route };
}

const credentials: Record<string, (w: Workspace, space: Space, scopes: readonly string[]) => Promise<string>> = {
  'an API key': async (w, space, scopes) => (await w.key(space, 'Key - Infrastructure', { scoped: true, scopes: [...scopes] })).text,
  'an OAuth token': async (w, space, scopes) => (await w.token({ space, scopes })).text,
};

for (const space of ['live', 'test'] as const)
  for (const [who, make] of Object.entries(credentials))
    test(`${space}: ${who} that may write routes but not use secrets sends none of them to a host of its choice`, async () => {
      const { w, ctx, sent, other, route } = await arranged(space);
      const key = await make(w, space, ROUTER);
      const as = (method: string, path: string, body: Record<string, unknown>) => call(method, path, { key, body, space });
      const collection = await made(ctx, 'collections.create', { name: fresh('c') });
      const variable = await made(ctx, 'collections.variables.create', {
        id: collection.id,
        key: 'host',
        type: 'value',
        value: 'api.example.com',
      });
      const hidden = await made(ctx, 'collections.variables.create', {
        id: collection.id,
        key: 'token',
        type: 'secret',
        secret_id: other.id,
      });
      assert.ok(hidden.id);
      const templated = await made(ctx, 'routes.create', {
        name: fresh('r'),
        collection_id: collection.id,
        target_base_url: 'https://{{var:host}}',
        inject_headers_json: { Authorization: `Bearer {{secret_id:${sent.id}}}` },
      });
      assert.ok(templated.id);
      const attacks: readonly [string, string, Record<string, unknown>][] = [
        ['POST', '/routes', { name: fresh('r'), target_base_url: THEIRS, inject_headers_json: { X: `{{secret_id:${other.id}}}` } }],
        ['POST', '/routes', { name: fresh('r'), target_base_url: THEIRS, inject_headers_json: { X: `{{secret:${other.name}}}` } }],
        ['POST', '/routes', { name: fresh('r'), target_base_url: THEIRS, inject_body_json: { x: `{{secret_id:${other.id}}}` } }],
        [
          'POST',
          '/routes',
          { name: fresh('r'), collection_id: collection.id, target_base_url: THEIRS, inject_headers_json: { X: '{{var:token}}' } },
        ],
        ['PATCH', `/routes/${route.id}`, { target_base_url: THEIRS }],
        ['PATCH', `/routes/${route.id}`, { inject_query_json: { x: `{{secret_id:${other.id}}}` } }],
        [
          'PATCH',
          `/routes/${route.id}`,
          {
            use_method_specific_configs: true,
            method_configs: [{ method: 'GET', inject_headers_json: { X: `{{secret_id:${other.id}}}` } }],
          },
        ],
        ['POST', `/collections/${collection.id}/variables`, { key: 'mine', type: 'secret', secret_id: other.id }],
        ['PATCH', `/collections/${collection.id}/variables/${variable.id}`, { value: 'collector.example.net' }],
        [
          'POST',
          '/webhooks',
          { name: fresh('w'), url: THEIRS, event_types: ['request.success'], request_headers: { X: `{{secret_id:${other.id}}}` } },
        ],
      ];
      for (const [method, path, body] of attacks) {
        const { status, body: answer, text } = await as(method, path, body);
        assert.deepEqual([status, answer?.error?.type], [403, 'forbidden'], `${method} ${path} ${JSON.stringify(body)}: ${text}`);
        assert.match(text, /secrets:read/, 'says what to do');
      }
      assert.equal(await db().secret_references.count({ where: { tenant_id: w.tenant.id, secret_id: other.id } }), 1, 'only the variable');
    });

for (const space of ['live', 'test'] as const)
  test(`${space}: a key without secrets edits a route as long as its secrets and where they go stay; with secrets:read it may change both`, async () => {
    const { w, sent, other, route } = await arranged(space);
    const router = await credentials['an API key']?.(w, space, ROUTER);
    const edits: readonly Record<string, unknown>[] = [
      { name: fresh('renamed') },
      { timeout_ms: 5_000 },
      { inject_headers_json: { Authorization: `Bearer {{secret_id:${sent.id}}}`, 'X-More': 'plain' } },
      { inject_headers_json: { 'X-Api-Key': `{{secret_id:${sent.id}}}` } },
    ];
    for (const body of edits) {
      const { status, text } = await call('PATCH', `/routes/${route.id}`, { key: router, body, space });
      assert.equal(status, 200, text);
    }
    const able = await credentials['an API key']?.(w, space, [...ROUTER, 'secrets:read']);
    for (const body of [{ inject_query_json: { x: `{{secret_id:${other.id}}}` } }, { target_base_url: 'https://api2.example.com' }]) {
      const { status, text } = await call('PATCH', `/routes/${route.id}`, { key: able, body, space });
      assert.equal(status, 200, text);
    }
    // A policy that hides one secret holds for those who may use others.
    const plain = await call('POST', '/routes', {
      key: router,
      body: { name: fresh('r'), target_base_url: 'https://api.example.com' },
      space,
    });
    assert.equal(plain.status, 201, plain.text);
  });

/** A machine that may write routes and use no secrets, as a verb sees it. */
const router = (ctx: Ctx): Ctx => {
  const actor = keyActor('Key - Infrastructure');
  const capabilities = new Set([...actor.capabilities].filter((capability) => capability !== 'secret:read'));
  return { ...ctx, actor: { ...actor, capabilities }, warnings: [] };
};
const fillInOf = async (ctx: Ctx, id: string) =>
  (await made(ctx, 'routes.environments.list', { id })).map((one: { body_placeholders: string }) => one.body_placeholders);

for (const space of ['live', 'test'] as const)
  for (const [who, make] of Object.entries(credentials))
    test(`${space}: ${who} that may not use secrets lets no caller name them on the way to a host of its choice`, async () => {
      const { w, ctx } = await arranged(space);
      const key = await make(w, space, ROUTER);
      const as = (method: string, path: string, body: Record<string, unknown>) => call(method, path, { key, body, space });
      const mine = await as('POST', '/routes', { name: fresh('r'), target_base_url: THEIRS });
      assert.equal(mine.status, 201, mine.text);
      assert.match(mine.text, /body_placeholders is off.*secrets:read/, 'a warning says it');
      assert.deepEqual(await fillInOf(ctx, mine.body.data.id), ['off']);
      const plain = await made(ctx, 'routes.create', { name: fresh('r'), target_base_url: 'https://api.example.com' });
      assert.deepEqual(await fillInOf(ctx, plain.id), ['same_collection']);
      const collection = await made(ctx, 'collections.create', { name: fresh('c') });
      const { name: env } = await made(ctx, 'environments.create', { name: fresh('stage') });
      const attacks: readonly [string, string, Record<string, unknown>][] = [
        ['POST', '/routes', { name: fresh('r'), target_base_url: THEIRS, body_placeholders: 'same_collection' }],
        ['POST', '/routes', { name: fresh('r'), target_base_url: THEIRS, body_placeholders: 'all' }],
        ['PATCH', `/routes/${mine.body.data.id}`, { body_placeholders: 'same_collection' }],
        ['PUT', `/routes/${mine.body.data.id}/environments/${env}`, { body_placeholders: 'all' }],
        ['PATCH', `/routes/${plain.id}`, { body_placeholders: 'all' }],
        ['PATCH', `/routes/${plain.id}`, { target_base_url: THEIRS }],
        ['PATCH', `/routes/${plain.id}`, { collection_id: collection.id }],
        ['PUT', `/routes/${plain.id}/environments/${env}`, { target_base_url: THEIRS }],
      ];
      for (const [method, path, body] of attacks) {
        const { status, body: answer, text } = await as(method, path, body);
        assert.deepEqual([status, answer?.error?.type], [403, 'forbidden'], `${method} ${path} ${JSON.stringify(body)}: ${text}`);
        assert.match(text, /secrets:read.*body_placeholders to off/, 'says what to do');
      }
      // Without fill-in it goes where they like.
      for (const body of [{ timeout_ms: 5_000 }, { body_placeholders: 'off', target_base_url: THEIRS }, { collection_id: collection.id }]) {
        const { status, text } = await as('PATCH', `/routes/${plain.id}`, body);
        assert.equal(status, 200, text);
      }
    });

for (const space of ['live', 'test'] as const)
  test(`${space}: copies and imports of whoever may not use secrets fill nothing in, and no collection takes a route that does`, async () => {
    const { ctx } = await arranged(space);
    const by = router(ctx);
    const source = await made(ctx, 'routes.create', { name: fresh('r'), target_base_url: 'https://api.example.com' });
    const { name: env } = await made(ctx, 'environments.create', { name: fresh('stage') });
    await made(ctx, 'routes.environments.put', { id: source.id, env, body_placeholders: 'all' });
    const { route: copy } = await made(by, 'routes.duplicate', { id: source.id });
    assert.deepEqual(await fillInOf(ctx, copy.id), ['off', 'off']);
    const { routes } = await made(by, 'import.apply', { secrets: [], routes: [{ name: fresh('r'), target_base_url: THEIRS }] });
    assert.deepEqual(await fillInOf(ctx, routes[0].id), ['off']);
    const collection = await made(ctx, 'collections.create', { name: fresh('c') });
    const move = made(by, 'collections.members.move', { id: collection.id, type: 'route', ids: [source.id] });
    await assert.rejects(move, { type: 'forbidden', message: /secrets:read/ });
    assert.deepEqual(await fillInOf(ctx, source.id), ['same_collection', 'all']);
  });

test('a policy that hides a secret from a person lets no route of theirs fill it in for callers without that policy', async () => {
  const { w, ctx, other } = await arranged('live');
  const editor = w.member('editor');
  const open = await made(editor, 'routes.create', { name: fresh('r'), target_base_url: THEIRS });
  assert.deepEqual(await fillInOf(ctx, open.id), ['same_collection']);
  const data = { id: newId(), tenant_id: w.tenant.id, name: 'hidden', actions: ['secret:read'], resources: [other.id], space: 'both' };
  await db().tenant_policies.create({ data: { ...data, subjects: { roles: ['editor'] } } });
  forgetRules(w.tenant.id);
  const mine = await made(editor, 'routes.create', { name: fresh('r'), target_base_url: THEIRS });
  assert.deepEqual(await fillInOf(ctx, mine.id), ['off']);
  for (const body of [
    { id: mine.id, body_placeholders: 'all' },
    { id: open.id, target_base_url: 'https://elsewhere.example.net' },
  ])
    await assert.rejects(made({ ...editor, step_up: undefined }, 'routes.update', body), {
      type: 'role_denied',
      message: /tenant policy hidden.*body_placeholders: off at the route/,
    });
  // What binds every caller is asked of every call.
  await db().tenant_policies.update({ where: { id: data.id }, data: { subjects: { all: true } } });
  forgetRules(w.tenant.id);
  const bound = await made(editor, 'routes.create', { name: fresh('r'), target_base_url: THEIRS });
  assert.deepEqual(await fillInOf(ctx, bound.id), ['same_collection']);
});
