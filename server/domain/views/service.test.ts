import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { keyActor, memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';

await testDatabase();
/** One person, call after call. */
function person(w: Workspace, role: MemberRole, space: 'live' | 'test' = 'live'): Ctx {
  return w.ctx(space, memberActor(role));
}
const names = async (ctx: Ctx, page = 'routes') => (await made(ctx, 'views.list', { page })).map((v: { name: string }) => v.name);
const view = (more: object = {}) => ({ page: 'routes', name: 'Switched off', query: 'enabled=false', columns: ['slug'], ...more });
const audits = (w: Workspace) => db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } });

test('a private view is seen by its owner alone, in its own space, and leaves no audit entry', async () => {
  const w = await workspace();
  const [ada, bob] = [person(w, 'viewer'), person(w, 'owner')];
  const { id } = await made(ada, 'views.create', view());
  assert.deepEqual([await names(ada), await names(bob), await names({ ...ada, sandbox: true })], [['Switched off'], [], []]);
  for (const [op, input] of [
    ['views.update', { id, name: 'Mine now' }],
    ['views.update', { id, is_default: true }],
    ['views.delete', { id }],
  ] as const)
    await assert.rejects(perform(operationById(op), bob, input), { type: 'not_found' });
  await made(ada, 'views.update', { id, name: 'Off' });
  await made(ada, 'views.delete', { id });
  assert.deepEqual(await audits(w), []);
});

test('who may not change what a page lists may not put a view of it before everybody', async () => {
  const w = await workspace();
  for (const role of ['viewer', 'member'] as const)
    await assert.rejects(perform(operationById('views.create'), person(w, role), view({ shared: true })), { type: 'role_denied' });
  const viewer = person(w, 'viewer');
  const { id } = await made(viewer, 'views.create', view());
  await assert.rejects(perform(operationById('views.update'), viewer, { id, shared: true }), { type: 'role_denied' });
  assert.deepEqual(await names(person(w, 'editor')), []);
});

test('a page one may not see has no views, whoever shared them', async () => {
  const w = await workspace();
  const { id } = await made(person(w, 'editor'), 'views.create', view({ page: 'secrets', shared: true }));
  for (const [op, input] of [
    ['views.update', { id, is_default: true }],
    ['views.delete', { id }],
  ] as const)
    await assert.rejects(perform(operationById(op), person(w, 'member'), input), { type: 'not_found' });
  await assert.rejects(perform(operationById('views.list'), person(w, 'member'), { page: 'secrets' }), { type: 'role_denied' });
  await assert.rejects(perform(operationById('views.create'), person(w, 'member'), view({ page: 'secrets' })), { type: 'role_denied' });
  assert.deepEqual(await names(person(w, 'viewer'), 'secrets'), ['Switched off']);
});

test('a shared view is changed by its owner, an Owner or an Admin, and each change is audited', async () => {
  const w = await workspace();
  const [ada, eve] = [person(w, 'editor'), person(w, 'editor')];
  const { id } = await made(ada, 'views.create', view({ shared: true }));
  await assert.rejects(perform(operationById('views.update'), eve, { id, name: 'Eve was here' }), { type: 'role_denied' });
  await assert.rejects(perform(operationById('views.delete'), eve, { id }), { type: 'role_denied' });
  await made(person(w, 'admin'), 'views.update', { id, query: 'enabled=true' });
  await made(ada, 'views.delete', { id });
  assert.deepEqual(
    (await audits(w)).map((e) => `${e.action} ${e.resource_type}`),
    ['create view', 'update view', 'delete view'],
  );
});

test('each person has one default a page, also among shared views, and loses it when the view is shared no more', async () => {
  const w = await workspace();
  const [ada, bob] = [person(w, 'editor'), person(w, 'viewer')];
  const one = await made(ada, 'views.create', view({ shared: true, is_default: true }));
  const two = await made(ada, 'views.create', view({ name: 'Two', is_default: true }));
  const before = (await audits(w)).length;
  await made(bob, 'views.update', { id: one.id, is_default: true });
  const defaults = async (ctx: Ctx) =>
    (await made(ctx, 'views.list', { page: 'routes' }))
      .filter((v: { is_default: boolean }) => v.is_default)
      .map((v: { id: string }) => v.id);
  assert.deepEqual([await defaults(ada), await defaults(bob)], [[two.id], [one.id]]);
  assert.equal((await audits(w)).length, before, 'a preference is nobody else’s business');
  await made(ada, 'views.update', { id: one.id, shared: false });
  await made(ada, 'views.update', { id: one.id, shared: true });
  assert.deepEqual([await defaults(ada), await defaults(bob)], [[two.id], []]);
});

test('parallel changes leave one default and never more views than allowed', async () => {
  const w = await workspace();
  const ada = person(w, 'viewer');
  for (let n = 0; n < 48; n++) await made(ada, 'views.create', view({ name: `v${n}` }));
  const results = await Promise.allSettled(
    [1, 2, 3, 4].map((n) => made({ ...ada, warnings: [] }, 'views.create', view({ name: `last ${n}`, is_default: true }))),
  );
  assert.equal(results.filter((r) => r.status === 'fulfilled').length, 2);
  const all = await made(ada, 'views.list', { page: 'routes' });
  assert.deepEqual([all.length, all.filter((v: { is_default: boolean }) => v.is_default).length], [50, 1]);
});

test('a view holds the query of an address and nothing that leads elsewhere', async () => {
  const w = await workspace();
  for (const query of ['a=1 b', '#x', 'x"y', '<script>', 'a\nb', 'x'.repeat(2_001)])
    await assert.rejects(perform(operationById('views.create'), person(w, 'owner'), view({ query })), /^Refusal: query/);
  for (const columns of [['../x'], ['A b'], Array(61).fill('x')])
    await assert.rejects(perform(operationById('views.create'), person(w, 'owner'), view({ columns })), /^Refusal: columns/);
  for (const page of ['webhooks', 'constructor', '__proto__'])
    await assert.rejects(perform(operationById('views.list'), person(w, 'owner'), { page }), /^Refusal: page/, page);
});

test('keys have no views', async () => {
  const w = await workspace();
  const key = w.ctx('live', keyActor('Key - Infrastructure'));
  await assert.rejects(perform(operationById('views.list'), key, { page: 'routes' }), { type: 'role_denied' });
});
