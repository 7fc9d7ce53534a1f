import { type SpawnOptions, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RootKeyRefused } from '../server/crypto/root-key.ts';
import { Refusal } from '../server/kernel/errors.ts';
import { isOurs, outageOf } from '../server/kernel/outage.ts';
import { EnvError } from '../server/platform/env.ts';

// What several scripts need to run tools on this very Node and to know whether their results are still fresh.

export const root = path.resolve(import.meta.dirname, '..');
process.chdir(root);
// A tool's own children (`env node` in a shebang, Next's workers) must find the same Node and the installed tools.
process.env.PATH = [path.dirname(process.execPath), path.join(root, 'node_modules/.bin'), process.env.PATH].join(path.delimiter);
process.env.NEXT_TELEMETRY_DISABLED ??= '1';
process.env.CHECKPOINT_DISABLE ??= '1';

/** What the user can act on: scripts print it without a stack. */
export class Problem extends Error {}

/** Ends the process with the sentence of what the user can act on, or with the stack of anything else. */
export function fail(error: unknown): never {
  console.error(wordsOf(error) ?? error);
  process.exit(1);
}

/** What is wrong and what to do, in one sentence; undefined for a fault of ours, which needs its stack. */
export function wordsOf(error: unknown): string | undefined {
  if (isInWords(error)) return error.message;
  if (error instanceof Refusal || !(error instanceof Error)) return undefined;
  const outage = outageOf(error);
  // A missing file and a refused connection of anything else say the same as those of a database.
  if (outage === undefined || (outage !== 'read_only' && !isOurs(error))) return undefined;
  if (outage === 'read_only')
    return 'The database is read-only or a standby, so nothing was changed. Run npm run doctor to see what makes it so.';
  return 'The database stopped responding. Check it with npm run doctor, then run the command again.';
}

/** Whether the message alone says what is wrong and what to do. */
export const isInWords = (error: unknown): error is Error =>
  error instanceof Problem || error instanceof EnvError || error instanceof RootKeyRefused;

/** For the first line of a command: whatever it throws, wherever it is, ends it by `fail`. */
export function failInWords(): void {
  process.on('uncaughtException', fail);
}

export type Result = { code: number; output: string };

/** Beside other work: `niceness` is that of nice(1), and the signal ends the tool and rejects. */
export type Beside = { niceness?: number; signal?: AbortSignal };

/** Runs a tool to its end and gives its exit code and all it printed. `show` also passes the output on as it comes. */
export function run(
  command: string,
  args: readonly string[],
  options: { env?: Record<string, string>; show?: boolean } & Beside = {},
): Promise<Result> {
  const settings: SpawnOptions = { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...options.env }, signal: options.signal };
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, settings);
    const end = () => child.kill();
    process.once('exit', end);
    child.once('close', () => process.removeListener('exit', end));
    if (options.niceness !== undefined && child.pid) os.setPriority(child.pid, options.niceness);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output += chunk;
        if (options.show) process.stderr.write(chunk);
      });
    }
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: code ?? (signal ? 128 : 1), output }));
  });
}

/** SHA-256 over the names and bytes of all files under the given paths; the same tree gives the same text everywhere. */
export function hashOf(...paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of paths.flatMap(filesUnder).sort()) {
    const bytes = fs.readFileSync(file, { flag: 'r' });
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

/** All files under a path relative to the root, generated code left out; none when the path is missing. */
export function filesUnder(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  if (fs.statSync(folder).isFile()) return [folder];
  return fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !/^(?:server|sdk)[\\/]generated[\\/]/.test(file));
}

/** Whether the stamp file holds `wanted`. */
export const isFresh = (stamp: string, wanted: string): boolean => readIfThere(stamp) === wanted;

/**
 * Runs `work` when the stamp file does not hold `wanted`, alone among the processes of this checkout, then writes the stamp. Meanwhile there is no stamp: a
 * result with one is complete.
 */
export async function refresh(stamp: string, wanted: string, work: () => Promise<void>): Promise<boolean> {
  if (isFresh(stamp, wanted)) return false;
  return alone(lockOf(stamp), async () => {
    if (isFresh(stamp, wanted)) return false;
    fs.rmSync(stamp, { force: true });
    await work();
    fs.mkdirSync(path.dirname(stamp), { recursive: true });
    fs.writeFileSync(stamp, wanted);
    return true;
  });
}

/** One for each stamp, since what has different results may be made at once. */
const lockOf = (stamp: string) => path.join(root, 'node_modules', `.lock-${path.relative(root, stamp).split(path.sep).join('-')}`);

/** Runs `work` while this process holds the lock file; others wait, and take over from a process that died with it. */
export async function alone<T>(lock: string, work: () => Promise<T>): Promise<T> {
  await acquire(lock);
  try {
    return await work();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

async function acquire(lock: string): Promise<void> {
  while (!mine(lock)) {
    const holder = readIfThere(lock);
    if (isAlive(Number(holder))) await sleep(100);
    // One at a time, and only what is still there: of two who find the same dead holder, the slower one would remove the lock of the faster one.
    else if (holder) await alone(`${lock}.taken-over`, async () => void (readIfThere(lock) === holder && fs.rmSync(lock)));
  }
}

/** Makes the lock file if there is none. It comes into being with its text, so that nobody reads an empty one. */
function mine(lock: string): boolean {
  const own = `${lock}.${process.pid}-${++attempts}`;
  fs.writeFileSync(own, String(process.pid));
  try {
    fs.linkSync(own, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    fs.rmSync(own);
  }
}
let attempts = 0;

export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0) && !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // somebody else's
  }
}

/** Ended, but not yet reaped by its parent: the number is taken, nothing runs. Known on Linux only. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function readIfThere(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
