import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { buildWeb } from '../build.ts';
import { fail, Problem, root } from '../command.ts';
import { type Database, postmaster, startDatabase } from '../database.ts';
import { buildElements } from '../elements.ts';
import { freePorts } from '../ports.ts';
import { generateClient, migrate } from '../schema.ts';
import { answers } from './http.ts';
import { cores, familyOf, spawnOn, stopChild, until } from './machine.ts';

// Our own processes as `npm start` runs them, but each on a core of our choice, over a database of their own.

export type Ports = { api: number; sandbox: number; admin: number; proxy: number };

export type Installation = {
  directory: string;
  url: string;
  ports: Ports;
  /** With settings of its own it needs a port of its own. */
  startGateway: (settings?: Record<string, string>, port?: number) => Promise<ChildProcess>;
  startWeb: () => Promise<ChildProcess>;
  databasePids: () => number[];
  stop: () => Promise<void>;
};

/** An empty, migrated installation in `directory`, its database on the cores of this process. Sets our environment, so that domain verbs work on it. */
export async function install(directory: string): Promise<Installation> {
  const [api, sandbox, admin, proxy] = (await freePorts(4)) as [number, number, number, number];
  const data = path.join(directory, 'data');
  await Promise.all([generateClient(), buildElements()]);
  // A checkpoint in the middle of a round would be measured as ours.
  const database: Database = await startDatabase(path.join(data, 'postgres'), ['max_wal_size=8GB', 'checkpoint_timeout=30min']);
  await database.create('sallyport');
  const url = database.url('sallyport');
  await migrate(url);
  Object.assign(process.env, {
    DATABASE_URL: url,
    DATA_DIR: data,
    PLANE_PORTS: `api:${api},sandbox:${sandbox},admin:${admin},proxy:${proxy}`,
    PUBLIC_API_URL: `http://localhost:${api}`,
    PUBLIC_SANDBOX_API_URL: `http://localhost:${sandbox}`,
    PUBLIC_ADMIN_URL: `http://localhost:${admin}`,
    UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8',
    LOG_SPILL_DIR: directory,
    LOG_LEVEL: 'warn',
  });
  const databasePids = () => familyOf(postmaster(path.join(data, 'postgres/data'))?.pid ?? 0);
  const running = new Set<ChildProcess>();
  let stopping = false;
  const role = (main: string, settings: Record<string, string> = {}) => {
    const leash = pathToFileURL(path.join(root, 'scripts/exit-with-supervisor.ts')).href;
    const child = spawnOn(
      cores.measured,
      process.execPath,
      ['--disable-warning=ExperimentalWarning', `--import=${leash}`, ...flags(), main],
      {
        cwd: root,
        env: { ...process.env, ...settings },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    );
    running.add(child);
    child.on('exit', (code, signal) => {
      if (!stopping) fail(new Problem(`${main} exited during a measurement (${signal ?? code}).`));
    });
    return child;
  };
  return {
    directory,
    url,
    ports: { api, sandbox, admin, proxy },
    startGateway: async (settings, port = proxy) => {
      const child = role('server/gateway/main.ts', settings);
      await until('The gateway', () => answers(`http://127.0.0.1:${port}/readyz`), 120_000, child);
      return child;
    },
    startWeb: async () => {
      await buildWeb();
      const child = role('server/web.ts');
      await new Promise<void>((resolve, reject) => {
        child.once('message', () => resolve());
        child.once('exit', () => reject(new Error('The web process exited before it was ready.')));
      });
      return child;
    },
    databasePids,
    stop: async () => {
      stopping = true;
      for (const child of running) await stopChild(child, 'SIGTERM', 5_000);
      const { closeDb } = await import('../../server/platform/db.ts');
      await closeDb();
      await sleep(50);
      await database.stop();
    },
  };
}

/** More flags for Node, e.g. BENCH_NODE_FLAGS="--cpu-prof --cpu-prof-dir=/tmp/prof" to see where the time goes. */
export const flags = (): string[] => (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean);
