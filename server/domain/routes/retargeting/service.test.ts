import assert from 'node:assert/strict';
import test from 'node:test';
import { forgetRules } from '#server/domain/policies/service.ts';
import { revealing, withAction } from '#server/domain/routes/samples.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { keyActor, workspace } from '#server/testing/workspace.ts';

await testDatabase();

const OURS = 'api.example.com';
const THEIRS = 'collector.example.net';

async function collectionWith(ctx: Ctx, value: string) {
  const collection = await made(ctx, 'collections.create', { name: fresh('c') });
  const variable = await made(ctx, 'collections.variables.create', { id: collection.id, key: 'host', type: 'value', value });
  return { id: collection.id, slug: collection.slug, variableId: variable.id };
}

/** A member of a collection that calls by its variable, and decrypts or detokenizes what it sends. */
async function revealingRoute(ctx: Ctx, collection: { id: string; slug: string }, target: string) {
  const action = await revealing(true)(ctx);
  await made(ctx, 'routes.update', { id: action.id, collection_id: collection.id, target_base_url: target });
  await withAction(ctx, action);
  return String(action.id);
}

for (const space of ['live', 'test'] as const)
  test(`${space}: a person confirms whatever sends the values that a route opens to another host, also by a variable`, async () => {
    const w = await workspace();
    const ctx = w.member('owner', space);
    const [home, alike, other] = [await collectionWith(ctx, OURS), await collectionWith(ctx, OURS), await collectionWith(ctx, THEIRS)];
    const route = await revealingRoute(ctx, home, 'https://{{var:host}}/v1');
    // More routes than any list names, so that the last one counts too.
    for (let i = 0; i < 7; i++)
      await made(ctx, 'routes.create', { name: fresh('a'), collection_id: home.id, target_base_url: 'https://{{var:host}}' });
    const asked = { type: 'mfa_required' };
    await assert.rejects(made(ctx, 'collections.variables.update', { id: home.id, variableId: home.variableId, value: THEIRS }), asked);
    await assert.rejects(made(ctx, 'routes.update', { id: route, collection_id: other.id }), asked);
    await assert.rejects(made(ctx, 'collections.members.move', { id: other.id, type: 'route', ids: [route] }), asked);
    await assert.rejects(made(ctx, 'routes.update', { id: route, target_base_url: `https://{{var:${other.slug}.host}}` }), asked);
    // The same place by another way is no move.
    await made(ctx, 'collections.members.move', { id: alike.id, type: 'route', ids: [route] });
    await made(ctx, 'routes.update', { id: route, collection_id: home.id });
    await made(ctx, 'routes.update', { id: route, target_base_url: `https://${OURS}/v2` });
    await made(ctx, 'collections.variables.update', { id: home.id, variableId: home.variableId, value: THEIRS });
  });

for (const space of ['live', 'test'] as const)
  test(`${space}: a machine or Editor that may not decrypt sends nothing that a route decrypts to another host`, async () => {
    const w = await workspace();
    const ctx = w.member('owner', space);
    const [home, other] = [await collectionWith(ctx, OURS), await collectionWith(ctx, THEIRS)];
    const route = await revealingRoute(ctx, home, 'https://{{var:host}}');
    const actor = keyActor('Key - Infrastructure');
    const capabilities = new Set([...actor.capabilities].filter((capability) => capability !== 'vault:detokenize'));
    const callers = [
      [{ ...ctx, actor: { ...actor, capabilities } }, 'forbidden'],
      [w.member('editor', space), 'role_denied'],
    ] as const;
    for (const [by, type] of callers) {
      const value = { id: home.id, variableId: home.variableId, value: THEIRS };
      await assert.rejects(made(by, 'collections.variables.update', value), { type });
      await assert.rejects(made(by, 'routes.update', { id: route, target_base_url: `https://${THEIRS}` }), { type });
      await assert.rejects(made(by, 'collections.members.move', { id: other.id, type: 'route', ids: [route] }), { type });
      await made(by, 'routes.update', { id: route, target_base_url: `https://${OURS}/v2`, timeout_ms: 5_000 });
      await made(by, 'routes.update', { id: route, target_base_url: 'https://{{var:host}}' });
    }
  });

test('a variable that another collection qualifies, and one of a route that is off, count as well', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  const [home, other] = [await collectionWith(ctx, OURS), await collectionWith(ctx, OURS)];
  const route = await revealingRoute(ctx, home, `https://{{var:${other.slug}.host}}`);
  await made(ctx, 'routes.update', { id: route, enabled: false });
  const change = made(ctx, 'collections.variables.update', { id: other.id, variableId: other.variableId, value: THEIRS });
  await assert.rejects(change, { type: 'mfa_required' });
});

test('promoting a value of a variable asks for what routes that are there already open', async () => {
  const w = await workspace();
  const [live, sandbox] = [w.member('owner'), w.member('owner', 'test')];
  const collection = await collectionWith(live, OURS);
  await revealingRoute(live, collection, 'https://{{var:host}}');
  const there = await made(sandbox, 'collections.create', {
    name: (await made(live, 'collections.get', { id: collection.id })).name,
    slug: collection.slug,
  });
  await made(sandbox, 'collections.variables.create', { id: there.id, key: 'host', type: 'value', value: THEIRS });
  const chosen = { from: 'test', items: [{ type: 'collection', id: there.id }] };
  await assert.rejects(made(live, 'sandbox.promote', chosen), { type: 'mfa_required' });
});

test('whoever moves a target by a variable may use the secrets that go there, and is asked only when some do', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  const home = await collectionWith(ctx, OURS);
  const secret = await made(ctx, 'secrets.create', { name: fresh('S').replaceAll('-', '_'), value: fresh('value') });
  const input = (value: string) => ({ id: home.id, variableId: home.variableId, value });
  const actor = keyActor('Key - Infrastructure');
  const capabilities = new Set([...actor.capabilities].filter((capability) => capability !== 'secret:read'));
  const machine: Ctx = { ...ctx, actor: { ...actor, capabilities } };
  const target_base_url = 'https://{{var:host}}';
  await made(ctx, 'routes.create', { name: fresh('r'), collection_id: home.id, target_base_url, body_placeholders: 'off' });
  await made(machine, 'collections.variables.update', input('api2.example.com'));
  const filling = await made(ctx, 'routes.create', { name: fresh('r'), collection_id: home.id, target_base_url });
  const unable = { type: 'forbidden', message: /secrets:read/ };
  await assert.rejects(made(machine, 'collections.variables.update', input(THEIRS)), unable);
  await made(ctx, 'routes.update', { id: filling.id, body_placeholders: 'off', inject_headers_json: { A: `{{secret_id:${secret.id}}}` } });
  await assert.rejects(made(machine, 'collections.variables.update', input(THEIRS)), unable);
  // A policy counts as much as the capability.
  const data = { id: newId(), tenant_id: w.tenant.id, name: 'hidden', actions: ['secret:read'], resources: [secret.id], space: 'both' };
  await db().tenant_policies.create({ data: { ...data, subjects: { roles: ['editor'] } } });
  forgetRules(w.tenant.id);
  const refused = { type: 'role_denied', message: /tenant policy hidden/ };
  await assert.rejects(made(w.member('editor'), 'collections.variables.update', input(THEIRS)), refused);
  await made(ctx, 'collections.variables.update', input(THEIRS));
});
