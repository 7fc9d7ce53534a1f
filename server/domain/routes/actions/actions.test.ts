import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { keyActor, memberActor, workspace } from '#server/testing/workspace.ts';

await testDatabase();
const UPSTREAM = 'http://127.0.0.1:9';
const settings = { direction: 'response', action: 'encrypt', selectors: ['$.ssn'], key_name: 'app-key' };

test('a copy of a route has its actions, and those that the copier could not add are off', async () => {
  const w = await workspace();
  await made(w.live, 'crypto_keys.create', { name: 'app-key', key_type: 'ecdh-p256' });
  const { id } = await made(w.live, 'routes.create', { name: 'cards', target_base_url: UPSTREAM });
  await made(w.live, 'routes.actions.create', { id, ...settings });
  await made(w.live, 'routes.actions.create', { id, ...settings, direction: 'request', action: 'decrypt' });
  const editor = w.ctx('live', memberActor('editor'));
  const copy = await made(editor, 'routes.duplicate', { id });
  const actions = await made(w.live, 'routes.actions.list', { id: copy.route.id });
  assert.deepEqual(
    actions.map(({ action, enabled, sort_order }: Record<string, unknown>) => [action, enabled, sort_order]),
    [
      ['encrypt', true, 1],
      ['decrypt', false, 2],
    ],
  );
});

test('a promoted route takes its actions along, or waits for the keys that they name', async () => {
  const w = await workspace();
  const owner = w.ctx('test', memberActor('owner'));
  await made(w.test, 'crypto_keys.create', { name: 'app-key', key_type: 'ecdh-p256' });
  const { id } = await made(w.test, 'routes.create', { name: 'cards', target_base_url: UPSTREAM });
  await made(w.test, 'routes.actions.create', { id, ...settings });
  const promote = (more: object = {}) => made(owner, 'sandbox.promote', { items: [{ type: 'route', id }], ...more });
  const itemOf = (answer: { items: { type: string; action: string; reason?: string }[] }) =>
    answer.items.find(({ type }) => type === 'route');
  assert.equal(itemOf(await promote({ dry_run: true }))?.action, 'conflict');
  await made(w.live, 'crypto_keys.create', { name: 'app-key', key_type: 'ecdh-p256' });
  await promote();
  const there = await db().routes.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox: false, name: 'cards' } });
  const live = () => db().route_field_actions.findMany({ where: { route_id: there.id }, orderBy: { sort_order: 'asc' } });
  assert.deepEqual(
    (await live()).map(({ action, key_name, enabled, sandbox }) => [action, key_name, enabled, sandbox]),
    [['encrypt', 'app-key', true, false]],
  );
  await made(w.test, 'routes.actions.create', { id, direction: 'response', action: 'mask', selectors: ['$.pan'], mask: 'last4' });
  await promote();
  assert.deepEqual(
    (await live()).map(({ action }) => action),
    ['encrypt', 'mask'],
  );
});

test('a route has at most thirty actions, new ones run last, and another route’s action is not found', async () => {
  const w = await workspace();
  const ctx = w.ctx('live', keyActor('Key - Editor'));
  const { id } = await made(ctx, 'routes.create', { name: 'many', target_base_url: UPSTREAM });
  const { id: other } = await made(ctx, 'routes.create', { name: 'other', target_base_url: UPSTREAM });
  const mask = { id, direction: 'response', action: 'mask', selectors: ['$.a'], mask: 'full' };
  let last: Record<string, unknown> = {};
  for (let i = 0; i < 30; i++) last = await made(ctx, 'routes.actions.create', mask);
  assert.equal(last.sort_order, 30);
  await assert.rejects(made(ctx, 'routes.actions.create', mask), { type: 'conflict' });
  await assert.rejects(made(ctx, 'routes.actions.delete', { id: other, actionId: last.id }), { type: 'not_found' });
  await assert.rejects(made(ctx, 'routes.actions.update', { id, actionId: last.id, direction: 'request' }), { type: 'validation_error' });
});

test('a key or vault that a field action names, on or off, is not deleted before the action', async () => {
  const w = await workspace();
  await made(w.live, 'crypto_keys.create', { name: 'app-key', key_type: 'ecdh-p256' });
  await made(w.live, 'crypto_keys.update', { name: 'app-key', deletion_allowed: true });
  await made(w.live, 'vaults.create', { name: 'cards' });
  const { id } = await made(w.live, 'routes.create', { name: 'checkout', target_base_url: UPSTREAM });
  const sealing = await made(w.live, 'routes.actions.create', { id, ...settings, enabled: false });
  const tokenizing = await made(w.live, 'routes.actions.create', { id, ...settings, action: 'tokenize', key_name: 'cards' });
  const inUse = { type: 'in_use', message: /route checkout/ };
  await assert.rejects(made(w.live, 'crypto_keys.delete', { name: 'app-key' }), inUse);
  await assert.rejects(made(w.live, 'vaults.delete', { vault: 'cards' }), inUse);
  await made(w.live, 'routes.actions.delete', { id, actionId: sealing.id });
  await made(w.live, 'routes.actions.delete', { id, actionId: tokenizing.id });
  await made(w.live, 'crypto_keys.delete', { name: 'app-key' });
  await made(w.live, 'vaults.delete', { vault: 'cards' });
});
