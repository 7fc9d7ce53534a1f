import assert from 'node:assert/strict';
import test from 'node:test';
import type { WebForward } from './web-forward.ts';
import { webHealth } from './web-health.ts';

test('a web process that hangs delays no answer from what it said last, which says so once its time is up', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let asks = 0;
  const web: Pick<WebForward, 'ask'> = {
    ask: () => {
      asks++;
      return new Promise(() => {});
    },
  };
  const health = webHealth(web);
  assert.deepEqual([health.known(), asks], [{ api: null, pages: null }, 1], 'and web was asked for the next answer');
  const said = health.asked();
  t.mock.timers.tick(2_000);
  assert.equal((await said).api?.part, 'web');
  assert.equal(health.known().api?.part, 'web');
});
