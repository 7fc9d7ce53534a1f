import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { mutate, unchanged } from './mutate.ts';
import { confirmChange } from './step-up.ts';

await testDatabase();

test('a change that runs again after a conflict confirms again, so that it never commits without a confirmation', async () => {
  const w = await workspace();
  const ctx = { ...w.member('owner') };
  await verified(ctx, 'credential.move');
  ctx.step_up = { scope: 'credential.move', token_digest: null, used: null, by_verb: ['credential.move'] };
  let runs = 0;
  await mutate(ctx, async (tx) => {
    await confirmChange(tx, ctx, 'https://dashboard.test', 'credential.move');
    runs++;
    // A row that is gone, as Prisma reports it: another transaction may have taken it.
    if (runs === 1) throw Object.assign(new Error('the row is gone'), { code: 'P2025' });
    return unchanged(undefined);
  });
  assert.equal(runs, 2);
  assert.ok(ctx.step_up.used, 'the second run used the verification up');
  const where = { user_id: ctx.actor.id as string, consumed_at: null };
  assert.equal(await db().step_up_verifications.count({ where }), 0);
  // One confirmation is enough for a call.
  await mutate(ctx, async (tx) => {
    await confirmChange(tx, ctx, 'https://dashboard.test', 'credential.move');
    return unchanged(undefined);
  });
});
