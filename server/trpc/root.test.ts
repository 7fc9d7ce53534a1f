import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { appRouter } from './root.ts';

await testDatabase();

test('a mutation that does not say its space is refused, and so is a stranger', async () => {
  const w = await workspace();
  const { Refusal } = await import('#server/kernel/errors.ts');
  const caller = appRouter.createCaller({
    request_id: 'r',
    changed: () => {},
    member: async ({ space }) => {
      if (space) throw new Refusal('invalid', 'X-Svc-Space: is required for changes and must be live or test');
      return w.member('owner');
    },
  });
  assert.equal((await caller.environments.list({})).data.length, 1);
  await assert.rejects(caller.environments.create({ name: 'x' }), /X-Svc-Space/);
});
