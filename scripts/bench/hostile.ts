import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts } from '../ports.ts';
import { keepRunning, type RoleProcess } from '../role.ts';
import { type Attack, attacks } from './hostile/attacks.ts';
import { flood } from './hostile/flood.ts';
import type { NormalLoad, NormalResult } from './hostile/normal.ts';
import { makeWorkspaces } from './hostile/workspaces.ts';
import { residentMiB, tracked, until } from './machine.ts';
import { millis, type Row, say, times } from './report.ts';
import { flags, install } from './service.ts';

/** What callers send at once may cost the others so many times the 99th percentile of their calls. */
const MOST_TIMES = 3;
const MOST_MIB = 1_229;
const A_SECOND = 20;
const SECONDS = 60;

/** Each attack at 20 a second for a minute beside normal traffic, on a whole product: gateway, web and worker, which share the machine with the load. */
export async function measureHostile(
  directory: string,
  { seconds = SECONDS, only }: { seconds?: number; only?: string } = {},
): Promise<Row[]> {
  // Attackers have as many addresses as they like.
  Object.assign(process.env, { TRUSTED_PROXIES: '127.0.0.1/32', UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });
  const installation = await install(directory);
  const roles: RoleProcess[] = [];
  const stops: (() => Promise<void>)[] = [];
  try {
    const scene = await makeWorkspaces(installation);
    stops.push(scene.stop);
    const restarts = startRoles(roles);
    const { proxy, admin } = installation.ports;
    await until('The gateway', () => accepts({ port: proxy }), 120_000);
    await until('web', async () => (await fetch(`http://127.0.0.1:${admin}/auth/me`)).status === 401, 180_000);
    await normalTraffic(scene.normal, Math.min(seconds, 10)); // to warm up
    const alone = await normalTraffic(scene.normal, seconds);
    say(`normal traffic alone: calls ${millis(alone.calls)}, API ${millis(alone.api)}`);
    const rows: Row[] = [];
    for (const attack of attacks.filter(({ name }) => !only || name.includes(only))) {
      const row = await besideAttack(attack, scene, roles, { seconds, alone, restarts });
      say(`${row.what}: ${row.measured}, ${row.value}`);
      rows.push(row);
      await settled(scene.normal, alone);
    }
    return rows;
  } finally {
    for (const role of roles) await role.stop(5_000);
    for (const stop of stops) await stop();
    await installation.stop();
  }
}

type Scene = Awaited<ReturnType<typeof makeWorkspaces>>;
type Beside = { seconds: number; alone: NormalResult; restarts: () => number };

async function besideAttack(
  attack: Attack,
  scene: Scene,
  roles: readonly RoleProcess[],
  { seconds, alone, restarts }: Beside,
): Promise<Row> {
  const requestOf = await attack.prepare(scene);
  const before = restarts();
  let highest: Record<string, number> = {};
  const looking = setInterval(() => {
    highest = Object.fromEntries(roles.map(({ name, pid }) => [name, Math.max(highest[name] ?? 0, sizeOf(pid()))]));
  }, 250);
  const ended = new AbortController();
  const flooding = flood(requestOf, { perSecond: A_SECOND, signal: ended.signal });
  await sleep(Math.min(2_000, seconds * 200));
  const beside = await normalTraffic(scene.normal, seconds).finally(() => ended.abort());
  const answered = await flooding;
  clearInterval(looking);
  const ratio = Math.max(beside.calls / alone.calls, beside.api / alone.api);
  const died = restarts() - before;
  const sizes = Object.entries(highest).map(([name, mib]) => `${name} ${mib.toFixed(0)}`);
  return {
    what: `hostile: ${attack.name}`,
    measured: `p99 of calls ${millis(beside.calls)}, of API ${millis(beside.api)}${beside.failed > 0 ? `, ${beside.failed} failed` : ''}; ${answered}`,
    against: `alone ${millis(alone.calls)}, ${millis(alone.api)}`,
    value: `${times(ratio)}; ${sizes.join(', ')} MiB; ${died} restarts`,
    target: `<= ${MOST_TIMES} x, 1.2 GB, 0`,
    pass: ratio <= MOST_TIMES && died === 0 && beside.failed === 0 && Math.max(...Object.values(highest)) <= MOST_MIB,
  };
}

/** Gateway, web and worker as `npm start` keeps them running; how often one was started again. */
function startRoles(roles: RoleProcess[]): () => number {
  const mains = { gateway: 'server/gateway/main.ts', web: 'server/web.ts', worker: 'server/jobs/main.ts' };
  const born = new Map<string, Set<number>>();
  for (const [name, main] of Object.entries(mains))
    roles.push(keepRunning({ name, args: [...flags(), main], env: { ...process.env }, onHopeless: () => say(`${name} keeps exiting`) }));
  const look = () => {
    for (const { name, pid } of roles) {
      const now = pid();
      const all = born.get(name) ?? new Set<number>();
      if (now !== undefined) born.set(name, all.add(now));
    }
  };
  setInterval(look, 100).unref();
  return () => {
    look();
    return [...born.values()].reduce((sum, all) => sum + all.size - 1, 0);
  };
}

function sizeOf(pid: number | undefined): number {
  try {
    return pid === undefined ? 0 : residentMiB(pid);
  } catch {
    return 0; // it has just ended
  }
}

/** Sent by a process of its own: what the attack costs this one isn't measured as latency. */
function normalTraffic(load: NormalLoad, seconds: number): Promise<NormalResult> {
  const child: ChildProcess = tracked(fork(path.join(import.meta.dirname, 'hostile/normal.ts'), [JSON.stringify({ ...load, seconds })]));
  return new Promise((resolve, reject) => {
    child.once('message', (result) => resolve(result as NormalResult));
    child.once('exit', () => reject(new Error('The normal traffic ended early.')));
  });
}

/** An attack leaves work behind, which is no part of the next one. */
async function settled(load: NormalLoad, alone: NormalResult): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const { calls, api, failed } = await normalTraffic(load, 2);
    if (failed === 0 && calls <= 2 * alone.calls && api <= 2 * alone.api) return;
  }
  say('the product is still busy with what the attack left behind');
}
