import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePorts } from '../scripts/ports.ts';
import { type Door, openDoor } from '../server/testing/door.ts';
import { setting } from './running-system.ts';

/** The processes under the supervisor; PostgreSQL is the embedded one. */
export type Role = 'gateway' | 'web' | 'worker' | 'postgres';

export type OwnSystem = {
  api: string;
  admin: string;
  proxy: string;
  proxyPort: number;
  /** For a client of its PostgreSQL. */
  databaseUrl: string;
  /** Between the processes and a copy of the migrated database: shut, it is away. */
  door: Pick<Door, 'shut' | 'open'> | undefined;
  dataDir: string;
  /** One of the operator's commands, as an operator types it, for this system and no other; answers what it printed. */
  command: (args: readonly string[]) => Promise<Record<string, string>>;
  /** The process of a role that runs now; found among the children of this supervisor alone. */
  pid: (role: Role) => number | undefined;
  /** SIGKILL, as the kernel does it when memory runs out. */
  kill: (role: Role) => number;
  /** SIGKILL for the supervisor, and started once more, as a service manager does it, until it runs. */
  killSupervisor: () => Promise<void>;
  log: () => string;
  /** Asks the supervisor to stop and tells its exit code. */
  stop: () => Promise<number | null>;
  remove: () => Promise<void>;
};

/**
 * A whole system of its own, with ports, a data directory and a database of its own. The system that other files test is left alone. `embedded`: PostgreSQL
 * is the one that `npm start` brings, and may be broken too; it takes longer than a copy of the migrated database.
 */
export async function startOwnSystem({ embedded = false } = {}): Promise<OwnSystem> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'sp-own-'));
  const [api, sandbox, admin, proxyPort] = (await freePorts(4)) as [number, number, number, number];
  const { DATABASE_URL, PUBLIC_ADMIN_URL, WEB_SOCKET, ...inherited } = process.env;
  const copy = embedded ? undefined : await copyOfTemplate();
  const databaseUrl =
    copy?.throughDoor ?? `postgresql://postgres@localhost/sallyport?host=${encodeURIComponent(path.join(dataDir, 'postgres'))}`;
  const environment: NodeJS.ProcessEnv = {
    ...inherited,
    NODE_ENV: 'development',
    ...(copy && { DATABASE_URL: databaseUrl }),
    DATA_DIR: dataDir,
    LOG_SPILL_DIR: dataDir,
    PLANE_PORTS: `api:${api},sandbox:${sandbox},admin:${admin},proxy:${proxyPort}`,
    UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8',
    MASTER_KEY_B64: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'info',
  };
  const logFile = path.join(dataDir, 'system.log');
  const log = () => fs.readFileSync(logFile, 'utf8');
  fs.writeFileSync(logFile, '', { mode: 0o600 });
  let supervisor: ChildProcess;
  let ended: Promise<number | null>;
  /** Whether it became ready; false when it ended before. */
  const start = async (): Promise<boolean> => {
    const began = fs.statSync(logFile).size;
    const file = fs.openSync(logFile, 'a');
    supervisor = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path.resolve('scripts/start.ts')], {
      env: environment,
      // Over a channel, so that it stops when this process is gone.
      stdio: ['ignore', file, file, 'ipc'],
    });
    supervisor.channel?.unref();
    fs.closeSync(file);
    ended = new Promise((resolve) => supervisor.once('exit', (code) => resolve(code)));
    while (!fs.readFileSync(logFile).subarray(began).includes('Sallyport is ready')) {
      if (supervisor.exitCode !== null) return false;
      await new Promise((next) => setTimeout(next, 50));
    }
    return true;
  };
  const stop = () => {
    if (supervisor.exitCode === null && supervisor.signalCode === null) supervisor.kill('SIGTERM');
    return ended;
  };
  if (!(await start())) throw new Error(`The system did not start:\n${log().slice(-4_000)}`);
  const pid = (role: Role) => childrenOf(supervisor.pid ?? 0).find((child) => roleOf(child) === role);
  return {
    api: `http://127.0.0.1:${api}`,
    admin: `http://localhost:${admin}`,
    proxy: `http://127.0.0.1:${proxyPort}`,
    proxyPort,
    databaseUrl: copy?.url ?? databaseUrl,
    door: copy?.door,
    dataDir,
    command: async (args) => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', 'scripts/admin.ts', ...args],
        { env: environment },
      );
      return JSON.parse(stdout) as Record<string, string>;
    },
    pid,
    kill: (role) => {
      const victim = pid(role);
      if (!victim) throw new Error(`there is no ${role} to kill`);
      process.kill(victim, 'SIGKILL');
      return victim;
    },
    killSupervisor: async () => {
      supervisor.kill('SIGKILL');
      await ended;
      // What it had started ends by itself, and may still have the ports.
      while (!(await start())) await new Promise((next) => setTimeout(next, 500));
    },
    log,
    stop,
    remove: async () => {
      await stop();
      await copy?.drop();
      fs.rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A database made from the migrated one, on the server of all tests. */
async function copyOfTemplate(): Promise<{ url: string; throughDoor: string; door: Door; drop: () => Promise<void> }> {
  const name = `own_${randomBytes(6).toString('hex')}`;
  const url = new URL(setting('TEST_PG_URL'));
  await run(`create database ${name} template ${setting('TEST_PG_TEMPLATE')} strategy file_copy`);
  const own = url.href.replace(/\/postgres(\?|$)/, `/${name}$1`);
  const { host, port, user } = new pg.Client({ connectionString: own });
  const door = await openDoor(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  return {
    url: own,
    throughDoor: `postgresql://${user}@127.0.0.1:${door.port}/${name}`,
    door,
    drop: async () => {
      door.close();
      await run(`drop database ${name} with (force)`);
    },
  };

  async function run(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }
}

function childrenOf(pid: number): number[] {
  try {
    return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Which of the supervisor's few children this is; Next may have renamed its process. */
function roleOf(pid: number): Role | undefined {
  let command: string;
  try {
    command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return undefined;
  }
  if (command.includes('server/gateway/main.ts')) return 'gateway';
  if (command.includes('server/jobs/main.ts')) return 'worker';
  if (command.includes('server/web.ts') || command.startsWith('next-server')) return 'web';
  return /\bpostgres -D /.test(command) ? 'postgres' : undefined;
}
