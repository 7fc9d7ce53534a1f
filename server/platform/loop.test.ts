import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { until } from '#server/testing/until.ts';
import { startLoop } from './loop.ts';

const HOUR = 3_600_000;

/** As long as a loop that doesn't pause takes to run again. */
const someTurns = async () => {
  for (let turns = 0; turns < 20; turns++) await nextTurn();
};

test('a loop runs at once, again while there is more, and when it is woken, also during a run', async () => {
  let runs = 0;
  let endRun = () => {};
  const loop = startLoop('test', HOUR, async () => {
    runs++;
    if (runs === 4) await new Promise<void>((resolve) => (endRun = resolve));
    return runs < 3;
  });
  await until(() => runs === 3);
  await someTurns();
  assert.equal(runs, 3);
  loop.wake();
  await until(() => runs === 4);
  loop.wake();
  endRun();
  await until(() => runs === 5);
  await someTurns();
  assert.equal(runs, 5);
  await loop.stop();
});

test('a run that fails is followed by another, and a stop interrupts the pause and waits for the run', async () => {
  let runs = 0;
  const failing = startLoop('test', 5, () => (++runs < 4 ? Promise.reject(new Error('not now')) : Promise.resolve(false)));
  await until(() => runs >= 4);
  await failing.stop();
  let ended = false;
  const slow = startLoop('test', HOUR, async () => {
    await someTurns();
    ended = true;
    return false;
  });
  await slow.stop();
  assert.ok(ended);
});
