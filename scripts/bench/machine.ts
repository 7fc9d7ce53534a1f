import { type ChildProcess, execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../command.ts';

// The machine as a measuring instrument: cores, CPU clocks, processes that are ours, free ports.

/** What is measured runs alone on one core; the load, its upstream and the database share the others. */
export const cores = { measured: '0', others: os.availableParallelism() > 2 ? `1-${os.availableParallelism() - 1}` : '1' };

/** Where a tool of the system is; undefined when it is not installed. */
export function findTool(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin', '/usr/bin'];
  return folders.map((folder) => `${folder}/${name}`).find((file) => fs.existsSync(file));
}

/** Says what to install, all at once, before anything is started. */
export function requireMachine(tools: readonly string[]): void {
  if (process.platform !== 'linux') throw new Problem('The benchmark reads CPU time from /proc and pins processes. It only runs on Linux.');
  if (os.availableParallelism() < 2)
    throw new Problem('The benchmark requires two cores: one for the process under test, one for the load.');
  const missing = ['taskset', ...tools].filter((tool) => !findTool(tool));
  if (missing.length === 0) return;
  const packages = missing.map((tool) => (tool === 'taskset' ? 'util-linux' : tool)).join(' ');
  throw new Problem(`The benchmark requires ${missing.join(' and ')}. Install with: apt-get install ${packages}`);
}

const children = new Set<ChildProcess>();

/** Starts a process on the given cores; it and everything it starts stay there. */
export function spawnOn(where: string, command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const child = spawn('taskset', ['-c', where, command, ...args], { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  return tracked(child);
}

/** Makes sure that the child ends with this process. */
export function tracked<C extends ChildProcess>(child: C): C {
  children.add(child);
  child.on('exit', () => children.delete(child));
  return child;
}

/** Moves this process and its threads; what it starts later inherits that. */
export function moveSelfTo(where: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', where, String(process.pid)], { stdio: 'ignore' });
}

/** Ends a process started here, politely first. */
export async function stopChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM', withinMs = 20_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const late = setTimeout(() => child.kill('SIGKILL'), withinMs);
  await ended;
  clearTimeout(late);
}

/** For the end in a hurry. SIGTERM: nginx would leave its workers behind otherwise. */
export function endChildren(): void {
  for (const child of children) child.kill('SIGTERM');
}

/** The process and everything below it, as it is now. */
export function familyOf(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of fs.readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (stat) parents.set(Number(stat[1]), [...(parents.get(Number(stat[1])) ?? []), Number(name)]);
  }
  const below = (id: number): number[] => [id, ...(parents.get(id) ?? []).flatMap(below)];
  return below(pid);
}

const ticksPerSecond = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** User and system CPU seconds that these processes have used so far, all threads. */
export function cpuSeconds(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    const stat = statOf(pid);
    return stat ? Number(stat[11]) + Number(stat[12]) : 0;
  });
  return ticks.reduce((sum, n) => sum + n, 0) / ticksPerSecond;
}

/** Fields of /proc/<pid>/stat from the third (state) on: the name before them may hold spaces and brackets. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // it has ended
  }
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

/** Waits until `check` is true; `child` having ended meanwhile is an error. */
export async function until(what: string, check: () => boolean | Promise<boolean>, ms: number, child?: ChildProcess): Promise<void> {
  const end = Date.now() + ms;
  while (!(await check())) {
    if (child && (child.exitCode !== null || child.signalCode !== null)) throw new Problem(`${what} exited before it was ready.`);
    if (Date.now() > end) throw new Problem(`${what} was not ready within ${ms / 1000} s.`);
    await sleep(25);
  }
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Nearest rank. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}
