import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../scripts/ports.ts';

// Roles as real processes, several of each on one database, for tests in which some of them die. They end with their test's process, however that ends.

const MAINS = { gateway: 'server/gateway/main.ts', web: 'server/web.ts', worker: 'server/jobs/main.ts' } as const;
/** A busy machine compiles slowly; a process that died says so at once. */
const START_MS = 600_000;

export type Role = keyof typeof MAINS;

export type RoleProcess = {
  role: Role;
  /** Ports of a gateway. */
  ports: Ports;
  pid: () => number;
  /** Everything it has printed, over all of its lives. */
  log: () => string;
  /** SIGKILL, as the kernel does it when memory runs out; resolves when it is gone. */
  kill: () => Promise<void>;
  /** SIGTERM; resolves with its exit code. */
  stop: () => Promise<number | null>;
  /** Starts it once more, with the same ports and files, and waits until it answers. */
  start: () => Promise<void>;
  /** SIGSTOP, and on again. */
  pause: () => void;
  resume: () => void;
};

export type Ports = { api: number; sandbox: number; admin: number; proxy: number };

export type RoleSettings = {
  /** Variables beside those of this process. */
  env: Record<string, string>;
  /** What the process keeps on disk. */
  directory: string;
  /** The checkout whose code runs; this one by default. */
  root?: string;
  ports?: Ports;
  /** When it has started. By default a gateway has when it is ready, and the others when they say so, web after its pages. */
  ready?: () => Promise<boolean>;
};

/** Starts a role; resolves when it answers. Rejects with what it printed when it ends before. */
export async function startRole(role: Role, settings: RoleSettings): Promise<RoleProcess> {
  const ports = settings.ports ?? (await somePorts());
  const directory = path.join(settings.directory, `${role}-${ports.proxy}`);
  fs.mkdirSync(directory, { recursive: true, mode: 0o711 });
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    DATA_DIR: directory,
    LOG_SPILL_DIR: directory,
    SALLYPORT_ROLES: role,
    PLANE_PORTS: `api:${ports.api},sandbox:${ports.sandbox},admin:${ports.admin},proxy:${ports.proxy}`,
    ...settings.env,
  };
  let child: ChildProcess | undefined;
  let text = '';

  const ended = (of: ChildProcess) =>
    new Promise<number | null>((resolve) => {
      if (of.exitCode !== null || of.signalCode !== null) resolve(of.exitCode);
      else of.once('exit', (code) => resolve(code));
    });
  const start = async () => {
    const one = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAINS[role]], {
      cwd: settings.root ?? process.cwd(),
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child = one;
    living.add(one);
    one.once('exit', () => living.delete(one));
    for (const stream of [one.stdout, one.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const told = new Promise<void>((resolve) => one.once('message', () => resolve()));
    const late = Date.now() + START_MS;
    const says = role === 'gateway' ? () => answers(ports.proxy) : () => Promise.race([told.then(() => true), sleep(50, false)]);
    const ready = settings.ready ?? says;
    while (!(await ready())) {
      if (one.exitCode !== null || one.signalCode !== null) throw new Error(`the ${role} ended at its start:\n${text.slice(-4_000)}`);
      if (Date.now() > late) throw new Error(`the ${role} did not start:\n${text.slice(-4_000)}`);
      await sleep(20);
    }
  };
  const signal = (name: NodeJS.Signals) => {
    if (!child?.pid) throw new Error(`there is no ${role}`);
    child.kill(name);
    return ended(child);
  };
  await start();
  return {
    role,
    ports,
    pid: () => child?.pid ?? 0,
    log: () => text,
    kill: async () => void (await signal('SIGKILL')),
    stop: () => signal('SIGTERM'),
    start,
    pause: () => void signal('SIGSTOP'),
    resume: () => void signal('SIGCONT'),
  };
}

export async function somePorts(): Promise<Ports> {
  const [api, sandbox, admin, proxy] = (await freePorts(4)) as [number, number, number, number];
  return { api, sandbox, admin, proxy };
}

/** A folder of a test, removed by `remove`. */
export function folderOf(name: string): { directory: string; remove: () => void } {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), `sallyport-${name}-`));
  return { directory, remove: () => fs.rmSync(directory, { recursive: true, force: true }) };
}

/** Ends what still runs, for the end of a test. */
export function endAll(): void {
  for (const child of living) child.kill('SIGKILL');
}
const living = new Set<ChildProcess>();
process.once('exit', endAll);

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const req = http.get({ host: '127.0.0.1', port, path: '/readyz', agent: false, timeout: 5_000 }, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    });
    req.on('timeout', () => req.destroy());
    req.on('error', () => resolve(false));
  });
}
