import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postmaster } from '../../scripts/database.ts';
import { numbers } from '../../server/testing/numbers.ts';
import { type OwnSystem, type Role, startOwnSystem } from '../isolated-system.ts';
import { until } from '../running-system.ts';
import { judged } from './judge.ts';
import { startWork } from './work.ts';

export type Outcome = { kills: number; problems: string[]; figures: Record<string, number>; healedMs: Record<string, number[]> };
const VICTIMS = ['web', 'gateway', 'worker', 'postgres', 'supervisor'] as const;

/** Kills each process of a whole system in rotation, as the kernel does it, while work of every kind goes on; afterwards all that was acknowledged has to be so. */
export async function killInRotation(kills: number, seed: number, say: (text: string) => void): Promise<Outcome> {
  const random = numbers(seed);
  const system = await startOwnSystem({ embedded: true });
  const healedMs: Outcome['healedMs'] = {};
  let work: Awaited<ReturnType<typeof startWork>> | undefined;
  try {
    work = await startWork(system);
    await work.works();
    for (let i = 0; i < kills; i++) {
      const victim = VICTIMS[i % VICTIMS.length] as (typeof VICTIMS)[number];
      // At any moment of whatever is under way.
      await sleep(random() * 500);
      const began = performance.now();
      if (victim === 'supervisor') await system.killSupervisor();
      else if (victim === 'postgres') await killedDatabase(system);
      else await killed(system, victim);
      await work.works();
      const took = Math.round(performance.now() - began);
      healedMs[victim] = [...(healedMs[victim] ?? []), took];
      say(`kill ${i + 1} of ${kills}: ${victim}, all work goes on after ${took} ms`);
    }
    await work.stop();
    const problems = await judged(system, work);
    const { clients, keys, runs, calls, spent, capped } = work.record;
    const figures = {
      writes: clients.acknowledged.size,
      mints: keys.acknowledged.size,
      runs: runs.acknowledged.size,
      calls: calls.size,
      charged: spent.size,
      capped: capped.size,
    };
    if (problems.length > 0) say(system.log().slice(-20_000));
    return { kills, problems, figures, healedMs };
  } finally {
    await work?.stop().catch(() => undefined);
    work?.close();
    await system.remove();
  }
}

async function killed(system: OwnSystem, role: Role): Promise<void> {
  const victim = system.kill(role);
  await until(`${role} is started again`, () => ![undefined, victim].includes(system.pid(role)));
}

/** By its own file: after a supervisor was killed, the server isn't a child of the next one. */
async function killedDatabase(system: OwnSystem): Promise<void> {
  const server = () => postmaster(path.join(system.dataDir, 'postgres/data'));
  const victim = server();
  if (!victim) throw new Error('there is no PostgreSQL to kill');
  process.kill(victim.pid, 'SIGKILL');
  await until('PostgreSQL is started again', () => {
    const next = server();
    return next?.ready === true && next.pid !== victim.pid;
  });
}
