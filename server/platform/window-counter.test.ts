import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { memoryCounter, postgresCounter, type WindowCounter } from './window-counter.ts';

await testDatabase();

for (const [where, count] of [
  ['in memory', memoryCounter()],
  ['in PostgreSQL', postgresCounter],
] as const satisfies [string, WindowCounter][])
  test(`several events are counted at once ${where} as one by one, up to the most that is asked for`, async () => {
    const window = Math.floor(Date.now() / 60_000);
    const add = (by: number, most?: number, at = window) => count('batch', at, 60, most, by);
    assert.deepEqual([await add(50), await add(1), await count('batch', window, 60)], [50, 51, 52]);
    assert.equal(await add(50, 60), 60, 'no further than that');
    assert.equal(await add(50, 55), 60, 'and never back');
    assert.equal(await add(70, 7, window + 1), 7, 'from the first on');
    const both = await Promise.all([add(30, undefined, window + 2), add(12, undefined, window + 2)]);
    assert.equal(Math.max(...both), 42);
  });
