import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { type LimitKey, PLANS, planFeature, planLimit } from '#server/domain/plans/schema.ts';
import * as sandbox from '#server/domain/sandbox/operations.ts';
import * as search from '#server/domain/search/operations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { made } from '../factories.ts';
import { workspace } from '../workspace.ts';
import type { Subject } from './subject.ts';

/** What a descriptor promises of a resource holds once one is created: search and ID lookup find it, the plan limits it, a reset of Test removes it. */
export function resources({ namespace, resources, operations, tables, fixture, caller }: Subject): void {
  const id = `${namespace}.create`;
  const sample = fixture.samples[id];
  const op = operations.find((one) => one.id === id);
  const list = operations.find((op) => op.id === `${namespace}.list`);
  // The one that the family is called after; others are parts of it.
  const main = resources.find((resource) => resource.search && tables.includes(namespace));
  if (!op || !sample || !list || !main) return;

  test(`${main.type}: search, ID lookup and the list's search find a new one, and a reset of Test removes it`, async () => {
    const w = await workspace();
    const ctx = caller(op, w, 'test');
    const input = await sample(ctx);
    const created: { id: string } = await made(ctx, id, input);
    const owner = w.member('owner', 'test');
    const { groups } = (await perform(search.query, owner, { q: input.name, types: main.type })).output;
    const found = groups.flatMap(({ items }) => items);
    assert.deepEqual(
      found.map((item) => item.id),
      [created.id],
    );
    assert.equal((await perform(search.inspect, owner, { id: created.id })).output.kind, main.type);
    // A list below another resource is gone with it.
    const parent = list.http.includes('{id}') ? { id: input.id } : {};
    const listed = async (query: Record<string, unknown>) =>
      (await made(ctx, list.id, { ...parent, ...query }).catch(nothingIfGone)).some((row: { id: string }) => row.id === created.id);
    assert.ok(await listed(list.input.shape?.q ? { q: input.name } : {}));
    await perform(sandbox.reset, owner, { confirm_name: w.tenant.name });
    assert.ok(!(await listed({})));
  });

  const { limit } = main;
  // The smallest plan that has the feature at all.
  const plan = PLANS.find((name) => op.feature === undefined || planFeature(name, op.feature)) ?? 'free';
  const most = limit === undefined ? null : planLimit(plan, limit as LimitKey);
  if (most === null) return;
  test(`${main.type}: the plan's limit holds`, async () => {
    const w = await workspace({ plan });
    const create = async (ctx: Ctx) => made(ctx, id, await sample(ctx));
    for (let created = 0; created < most; created++) await create(caller(op, w)).catch(assertAtLimit);
    await assert.rejects(create(caller(op, w)), { type: 'plan_limit' });
  });
}

const nothingIfGone = (error: { type?: string }): { id: string }[] => {
  assert.equal(error.type, 'not_found', String(error));
  return [];
};

/** A new workspace has some already. */
const assertAtLimit = (error: { type?: string }) => assert.equal(error.type, 'plan_limit', String(error));
