import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';

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
