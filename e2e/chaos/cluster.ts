import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { postmaster, startDatabase } from '../../scripts/database.ts';
import { accepts, freePorts } from '../../scripts/ports.ts';
import { migrate } from '../../scripts/schema.ts';
import type { Life, Span } from '../../server/testing/chaos/history.ts';
import { endAll, folderOf, type RoleProcess, startRole } from '../../server/testing/processes.ts';
import { until } from '../running-system.ts';

/** What may die. A machine is a gateway and the web process beside it. */
export type Victim = 'gateway' | 'web' | 'worker' | 'machine' | 'counters' | 'database';

export type Cluster = {
  gateways: readonly RoleProcess[];
  databaseUrl: string;
  /** One of the operator's commands. */
  command: (args: readonly string[]) => Promise<Record<string, string>>;
  /** When each gateway, by its number, lived and was away. */
  lives: ReadonlyMap<number, readonly Life[]>;
  outages: ReadonlyMap<number, readonly Span[]>;
  /** Of the store of counters. */
  storeLives: readonly Life[];
  store: 'PostgreSQL' | 'Valkey';
  /** SIGKILL, and started once more. */
  kill: (victim: Victim, which: number) => Promise<void>;
  /** SIGTERM, and started once more. */
  restart: (victim: 'gateway' | 'web' | 'worker', which: number) => Promise<void>;
  /** Stands still for so long, as a process does whose machine swaps. */
  pause: (victim: 'gateway' | 'worker', which: number, ms: number) => Promise<void>;
  /** SIGTERM to all roles, in order; their exit codes. */
  stop: () => Promise<(number | null)[]>;
  log: () => string;
  remove: () => Promise<void>;
};

const now = () => performance.now();

/** Two machines with a gateway and web, two workers, and Valkey or Redis where one is installed, on one PostgreSQL; each a process of its own. */
export async function startCluster(): Promise<Cluster> {
  // By this name the next run of tests ends the server and removes the folder if this one dies.
  const { directory, remove } = folderOf(`test-${process.pid}-chaos`);
  const database = await startDatabase(directory);
  await database.create('chaos');
  const databaseUrl = database.url('chaos');
  await migrate(databaseUrl);
  const valkey = await startValkey(directory);
  const [api = 0, sandbox = 0, admin = 0] = await freePorts(3);
  const env = {
    DATABASE_URL: databaseUrl,
    MASTER_KEY_B64: randomBytes(32).toString('base64'),
    SVC_GATEWAYS: '2',
    UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8',
    // One installation has one set of addresses, whatever machine answers.
    PUBLIC_API_URL: `http://127.0.0.1:${api}`,
    PUBLIC_SANDBOX_API_URL: `http://127.0.0.1:${sandbox}`,
    PUBLIC_ADMIN_URL: `http://localhost:${admin}`,
    ...(valkey && { REDIS_URL: valkey.url }),
  };
  const machine = (n: number) => ({ directory, env: { ...env, WEB_SOCKET: path.join(directory, `web-${n}.sock`) } });
  const start = (role: 'gateway' | 'web' | 'worker') => Promise.all([0, 1].map((n) => startRole(role, machine(n))));
  const [gateways, webs, workers] = await Promise.all([start('gateway'), start('web'), start('worker')]).catch(async (error: unknown) => {
    endAll();
    await valkey?.kill();
    await database.stop();
    remove();
    throw error;
  });
  const of = { gateway: gateways, web: webs, worker: workers };
  const roles = [...gateways, ...webs, ...workers];

  const lives = new Map<number, Life[]>([0, 1].map((n) => [n, [{ from: now(), to: Number.POSITIVE_INFINITY, killed: false }]]));
  const outages = new Map<number, Span[]>([0, 1].map((n) => [n, []]));
  const storeLives: Life[] = [{ from: now(), to: Number.POSITIVE_INFINITY, killed: false }];
  const ends = (its: Life[], killed: boolean) => Object.assign(its.at(-1) as Life, { to: now(), killed });
  const begins = (its: Life[]) => its.push({ from: now(), to: Number.POSITIVE_INFINITY, killed: false });

  const away = async (n: number, killed: boolean, work: () => Promise<unknown>) => {
    const its = lives.get(n) as Life[];
    ends(its, killed);
    const outage = { from: now(), to: Number.POSITIVE_INFINITY };
    outages.get(n)?.push(outage);
    await work();
    outage.to = now();
    begins(its);
  };
  const again = (role: RoleProcess, end: () => Promise<unknown>) => async () => {
    await end();
    await role.start();
  };
  const killRole = (role: RoleProcess) => again(role, role.kill);

  return {
    gateways,
    databaseUrl,
    lives,
    outages,
    storeLives,
    store: valkey ? 'Valkey' : 'PostgreSQL',
    command: async (args) => {
      const options = { env: { ...process.env, ...env, DATA_DIR: directory, LOG_LEVEL: 'error' } };
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', 'scripts/admin.ts', ...args],
        options,
      );
      return JSON.parse(stdout) as Record<string, string>;
    },
    kill: async (victim, which) => {
      const [gateway, web, worker] = [gateways[which], webs[which], workers[which]] as [RoleProcess, RoleProcess, RoleProcess];
      if (victim === 'gateway') await away(which, true, killRole(gateway));
      if (victim === 'machine') await away(which, true, () => Promise.all([killRole(gateway)(), killRole(web)()]));
      if (victim === 'web') await killRole(web)();
      if (victim === 'worker') await killRole(worker)();
      if (victim === 'counters' && valkey) {
        ends(storeLives, true);
        await valkey.kill();
        await valkey.start();
        begins(storeLives);
      }
      if (victim === 'database') {
        if (!valkey) ends(storeLives, true); // its counters are in an unlogged table
        const server = postmaster(path.join(directory, 'data'));
        if (server) process.kill(server.pid, 'SIGKILL');
        await until('PostgreSQL is back', () => database.revive().then(() => true));
        if (!valkey) begins(storeLives);
      }
    },
    restart: async (victim, which) => {
      const role = of[victim][which] as RoleProcess;
      if (victim === 'gateway') await away(which, false, again(role, role.stop));
      else await again(role, role.stop)();
    },
    pause: async (victim, which, ms) => {
      const role = of[victim][which] as RoleProcess;
      role.pause();
      await new Promise((next) => setTimeout(next, ms));
      role.resume();
    },
    stop: async () => {
      const codes: (number | null)[] = [];
      for (const these of [gateways, webs, workers]) codes.push(...(await Promise.all(these.map((role) => role.stop()))));
      return codes;
    },
    log: () => roles.map((role) => `--- ${role.role} ---\n${role.log().slice(-3_000)}`).join('\n'),
    remove: async () => {
      await Promise.all(roles.map((role) => role.kill().catch(() => undefined)));
      await valkey?.kill();
      await database.stop();
      remove();
    },
  };
}

/** Valkey, or Redis, on a port of its own; nothing of it is kept. Undefined where neither is installed. */
async function startValkey(directory: string) {
  const program = ['valkey-server', 'redis-server'].find((name) => spawnSync(name, ['--version']).status === 0);
  if (!program) return undefined;
  const [port = 0] = await freePorts(1);
  let child: ChildProcess | undefined;
  const start = async () => {
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory];
    child = spawn(program, settings, { stdio: 'ignore' });
    await until('Valkey answers', () => accepts({ port, host: '127.0.0.1' }));
  };
  const kill = () =>
    new Promise<void>((resolve) => {
      child?.once('exit', () => resolve());
      child?.kill('SIGKILL');
    });
  await start();
  return { url: `redis://127.0.0.1:${port}`, start, kill };
}
