import { expect, test } from '@playwright/test';
import { THOROUGH } from '#server/testing/thorough.ts';
import { killInRotation } from './kills/kills.ts';

/** Six kills, or a hundred with `npm test -- --thorough` and `npm run bench -- kills`. KILLS_SEED repeats a run's moments. */
const KILLS = THOROUGH ? 100 : 6;
const SEED = Number(process.env.KILLS_SEED ?? Math.floor(Math.random() * 1e9));

test('kill -9 of each process, in rotation: nothing that was acknowledged is lost or doubled', async () => {
  test.setTimeout(3_600_000);
  console.log(`KILLS_SEED=${SEED}`);
  const { problems, figures } = await killInRotation(KILLS, SEED, (text) => console.log(text));
  console.log(JSON.stringify(figures));
  expect(problems.slice(0, 20)).toEqual([]);
  const { capped, ...others } = figures;
  expect(capped, 'calls within the budget that ends').toBeGreaterThan(0);
  for (const [what, count] of Object.entries(others)) expect(count, `${what}, after each kill`).toBeGreaterThan(KILLS);
});
