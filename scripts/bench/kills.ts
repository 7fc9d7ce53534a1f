import fs from 'node:fs';
import { killInRotation } from '../../e2e/kills/kills.ts';
import { buildWeb } from '../build.ts';
import { generateClient } from '../schema.ts';
import { median } from './machine.ts';
import { type Row, say } from './report.ts';

const KILLS = Number(process.env.BENCH_KILLS ?? 100);

/** A hundred deaths of web, gateway, worker and supervisor under writes, mints, runs, calls and budgets: what was acknowledged is there, once. */
export async function measureKills(directory: string): Promise<Row[]> {
  fs.mkdirSync(directory, { recursive: true });
  await generateClient();
  await buildWeb();
  const seed = Number(process.env.KILLS_SEED ?? Math.floor(Math.random() * 1e9));
  say(`KILLS_SEED=${seed}`);
  const { kills, problems, figures, healedMs } = await killInRotation(KILLS, seed, say);
  for (const problem of problems) say(problem);
  const row = { against: '', target: '', pass: null };
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  return [
    {
      ...row,
      what: `${kills} kills, lost or doubled`,
      measured: Object.entries(figures)
        .map(([what, count]) => `${count} ${what}`)
        .join(', '),
      value: String(problems.length),
      target: '0',
      pass: problems.length === 0,
    },
    ...Object.entries(healedMs).map(([victim, took]) => ({
      ...row,
      what: `kill -9 of ${victim}, until all work goes on`,
      measured: seconds(median(took)),
      value: `at most ${seconds(Math.max(...took))}`,
    })),
  ];
}
