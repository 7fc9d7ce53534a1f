import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import * as stages from '#server/domain/environments/service.ts';
import { addMembership, createUser } from '#server/domain/people/service.ts';
import { call as logged } from '#server/domain/request-logs/call.fixture.ts';
import * as routes from '#server/domain/routes/operations.ts';
import * as secrets from '#server/domain/secrets/operations.ts';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import * as ops from './operations.ts';

// The cards of the dashboard: who answers for a collection, and how it does (interface rule 70 §9).

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
const call = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<any> =>
  (await execute(op, { ...ctx, now: new Date() }, input)).output;
const route = (ctx: Ctx, input: Record<string, unknown> = {}) =>
  call(routes.create, ctx, { name: 'Payments', target_base_url: 'http://127.0.0.1:9', ...input });

const member = (w: Workspace, full_name: string): Promise<string> =>
  db().$transaction(async (tx) => {
    const email = `${full_name.toLowerCase()}.${newId()}@example.test`;
    const { id } = await createUser(tx, { email, full_name, password_hash: null, email_verified: true, now: new Date() });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: id, role: 'editor', source: 'signup', now: new Date() });
    return id;
  });

test('who makes a collection answers for it; others are chosen among the members, and each change is in the trail', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const [ada, bea, eve] = [await member(w, 'Ada'), await member(w, 'Bea'), await member(other, 'Eve')];
  const { id } = await call(ops.create, { ...w.live, actor: { ...memberActor('editor'), id: ada } as Ctx['actor'] }, { name: 'owned' });
  const names = async () => (await call(ops.owners, w.live, { id })).owners.map((one: { name: string }) => one.name);
  assert.deepEqual(await names(), ['Ada']);
  const put = await call(ops.putOwners, w.live, { id, user_ids: [bea, ada, bea] });
  assert.deepEqual(
    put.owners.map((one: { name: string }) => one.name),
    ['Ada', 'Bea'],
  );
  for (const user_ids of [[eve], [newId()], [ada, eve]])
    await assert.rejects(call(ops.putOwners, w.live, { id, user_ids }), { type: 'validation_error' });
  assert.deepEqual(await names(), ['Ada', 'Bea']);
  const [entry] = await db().audit_logs.findMany({ where: { resource_id: id, action: 'update' }, orderBy: { created_at: 'desc' } });
  const details = entry?.details as { change: string; changes: { field: string; to: string[] }[] };
  assert.deepEqual([details.change, details.changes[0]?.field, details.changes[0]?.to], ['owners', 'owner_ids', [bea, ada]]);
  await db().memberships.updateMany({ where: { user_id: ada, tenant_id: w.tenant.id }, data: { removed_at: new Date() } });
  assert.deepEqual(await names(), ['Bea']);
  for (const ctx of [w.test, other.live]) {
    await assert.rejects(call(ops.owners, ctx, { id }), { type: 'not_found' });
    await assert.rejects(call(ops.putOwners, ctx, { id, user_ids: [] }), { type: 'not_found' });
  }
});

test('a card counts what is in its collection, its drift and the last day of its routes, and nothing of another’s', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const [one, two] = [await call(ops.create, w.live, { name: 'one' }), await call(ops.create, w.live, { name: 'two' })];
  const foreign = await call(ops.create, other.live, { name: 'theirs' });
  const inside = await route(w.live, { collection_id: one.id });
  const outside = await route(w.live, { name: 'Mail' });
  const { id: held } = await call(secrets.create, w.live, { name: 'A_KEY', value: 'a value of some length' });
  await call(ops.moveMembers, w.live, { id: one.id, type: 'secret', ids: [held] });
  await stages.createEnvironment(w.live, { name: 'staging' });
  await call(ops.putDefaults, w.live, { id: one.id, expected_environments: ['staging'] });
  await insertRows(sql(), [
    ...Array.from({ length: 7 }, () => logged(w.live, { route_id: inside.id })),
    ...Array.from({ length: 2 }, () => logged(w.live, { route_id: inside.id, status_code: 502, error: 'upstream_unreachable' })),
    logged(w.live, { route_id: outside.id }),
  ]);
  const cards = await call(ops.overview, w.live, { ids: [one.id, two.id, foreign.id].join(',') });
  assert.deepEqual(
    cards
      .map((card: Record<string, unknown>) => [
        card.collection_id,
        card.route_count,
        card.secret_count,
        card.drifting,
        card.calls,
        card.errors,
      ])
      .sort(),
    [
      [one.id, 1, 1, 1, 9, 2],
      [two.id, 0, 0, null, 0, 0],
    ].sort(),
  );
});
