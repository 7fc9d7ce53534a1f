import assert from 'node:assert/strict';
import test from 'node:test';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { neverBlocks } from './loop-probe.ts';

/** Takes so many milliseconds of this thread's processor time. */
function busy(ms: number): void {
  const began = process.threadCpuUsage();
  for (let used = began; used.user + used.system - began.user - began.system < ms * 1_000; ) used = process.threadCpuUsage();
}

test('a long turn fails, also when it is not the first, and short ones do not', async () => {
  const turns = async (...lengths: number[]) => {
    for (const ms of lengths) {
      busy(ms);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await neverBlocks(() => turns(5, 20, 5));
  await assert.rejects(
    neverBlocks(() => turns(5, 2_000, 5)),
    /a turn of the event loop took \d+ ms/,
  );
});

test('a collection of what the process holds is no work of the test', async () => {
  v8.setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = Array.from({ length: 1_000_000 }, (_, i) => ({ i, list: [i] }));
  await neverBlocks(async () => {
    for (let round = 0; round < 12; round++) collect();
  });
  assert.equal(held.length, 1_000_000);
});
