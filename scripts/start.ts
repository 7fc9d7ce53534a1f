import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../server/kernel/errors.ts';
import { type Env, env } from '../server/platform/env.ts';
import { log } from '../server/platform/log.ts';
import { ownedFolder, usableFolder } from '../server/platform/private-folder.ts';
import { addresses } from './addresses.ts';
import { buildAgent } from './agent.ts';
import { webBuild } from './build.ts';
import { failInWords, Problem, wordsOf } from './command.ts';
import { type Database, startDatabase } from './database.ts';
import { databaseClient } from './database-client.ts';
import { buildElements } from './elements.ts';
import { recordInstallation } from './installation.ts';
import { accepts, hostBehind, publicPorts, whyNotAllFree } from './ports.ts';
import { pricesProblem } from './prices-file.ts';
import { elapsed, say, step } from './progress.ts';
import { keepRunning, type RoleProcess } from './role.ts';
import { DatabaseAway, generateClient, migrate, migrationState } from './schema.ts';

// npm start: brings everything up in one go and keeps it up. npm run dev: the same with Next's development server and restarts on changes.

failInWords();
const dev = process.argv.includes('--dev');
const stopBudgetMs = 30_000 + env.SHUTDOWN_DELAY_SECONDS * 1_000;
/** Calls come before the build. */
const BUILD_NICENESS = 10;
const running: RoleProcess[] = [];
let database: Database | undefined;
let lock: net.Server | undefined;
type Role = Env['SALLYPORT_ROLES'][number];
let clientMade: Promise<void> | undefined;
let stopping: Promise<never> | undefined;
let ready = false;
const pagesReady = Promise.withResolvers<void>();
const building = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
process.on('disconnect', () => void stop(0)); // who started it over a channel, as the browser tests do, is gone

try {
  // Others may pass through and not look around: the database server may have to run as another account (see database.ts).
  usableFolder('DATA_DIR', env.DATA_DIR, 0o711);
  const unpriced = pricesProblem();
  if (unpriced !== undefined) throw new Problem(unpriced);
  await claimDataDirectory();
  const taken = await whyNotAllFree(portsHere(), env.BIND_ADDRESS);
  if (taken.length > 0) throw new Problem(taken.join('\n'));
  clientMade = step('Generate the database client', generateClient);
  const [{ url, away }] = await all([
    preparedDatabase(),
    clientMade,
    step('Compile hosted fields', buildElements),
    step('Compile the agent', buildAgent),
  ]);
  if (away) await serveUntilThere(url, away);
  recordInstallation(env);
  // In development Next compiles each page at its first request.
  const build = env.SALLYPORT_ROLES.includes('web') && !dev ? webBuild() : undefined;
  await step(`Start ${env.SALLYPORT_ROLES.join(', ')}`, async () => {
    startRoles(url, env.SALLYPORT_ROLES);
    if (database && !away) void watchDatabase(database);
    await allConnect();
  });
  if (build && !build.exists) {
    greet(`Calls, /v1 and sign-up through the API work, ${elapsed()} s after the packages. The dashboard follows.`);
    await step('Build the dashboard', () => build.make({ niceness: BUILD_NICENESS, signal: building.signal }));
  }
  if (build) await step('Load the dashboard', () => pagesReady.promise);
  ready = true;
  greet(`Sallyport is ready after ${elapsed()} s.`);
} catch (error) {
  if (stopping !== undefined) await stopping;
  console.error(wordsOf(error) ?? error);
  await stop(1);
}

/** The values of all, or the first failure once every other has ended too: a server that is still starting would be left behind. */
async function all<T extends readonly unknown[]>(work: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(work);
  return (await Promise.all(work)) as unknown as T;
}

/** One supervisor a data directory: the embedded database and the web socket have room for one. A socket, since a pid file goes stale. */
async function claimDataDirectory(): Promise<void> {
  ownedFolder('WEB_SOCKET', path.dirname(env.WEB_SOCKET));
  const socket = `${env.WEB_SOCKET}.run`;
  if (await accepts({ path: socket }))
    throw new Problem(`Sallyport is already running from ${env.DATA_DIR}. Stop it first, or set DATA_DIR.`);
  fs.rmSync(socket, { force: true });
  const server = net.createServer((visitor) => visitor.end());
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(socket, resolve));
  lock = server.unref();
}

/** Its URL, and that it has every migration and fits the root key, or why it isn't there although a gateway has something to serve meanwhile. */
async function preparedDatabase(): Promise<{ url: string; away?: DatabaseAway }> {
  const url = env.DATABASE_URL ?? (await step('Start PostgreSQL', embeddedDatabase));
  try {
    await step('Apply migrations', () => upToDate(url));
    return { url };
  } catch (error) {
    if (!(error instanceof DatabaseAway) || !canServeWithout()) throw error;
    return { url, away: error };
  }
}

/** There, migrated, and of this root key. @throws DatabaseAway when it isn't there, or goes again meanwhile */
async function upToDate(url: string): Promise<void> {
  if (database && !(await database.answers())) throw new DatabaseAway(database.down?.message ?? 'The embedded PostgreSQL stopped.');
  try {
    await database?.create('sallyport');
    await migrate(url);
    const { unknown } = await migrationState(url);
    if (unknown.length > 0) log.warn({ migrations: unknown }, 'the database was used by a newer version of Sallyport');
    await clientMade;
    await fittingRootKey(url); // before the roles start: one sentence instead of one from each
  } catch (error) {
    if (error instanceof DatabaseAway || !isOutage(error)) throw error;
    throw new DatabaseAway(`The database is not responding: ${(error as Error).message}. Check DATABASE_URL.`);
  }
}

async function embeddedDatabase(): Promise<string> {
  database = await startDatabase(path.join(env.DATA_DIR, 'postgres'), [], { patient: canServeWithout() });
  return database.url('sallyport');
}

/** Whether a gateway of this folder had a configuration, and there is a key that opens it. */
function canServeWithout(): boolean {
  const hasKey = env.MASTER_KEY_B64 !== undefined || fs.existsSync(env.MASTER_KEY_FILE);
  return env.SALLYPORT_ROLES.includes('gateway') && hasKey && fs.existsSync(path.join(env.DATA_DIR, 'snapshot/confirmed.bin'));
}

/** Calls are served from the configuration on disk until the database is there and has its migrations. */
async function serveUntilThere(url: string, away: DatabaseAway): Promise<void> {
  say(`${away.message}\nUntil it is there, calls are served from the last configuration. The dashboard and the API follow.`);
  startRoles(url, ['gateway']);
  if (database) void watchDatabase(database);
  for (;;) {
    await sleep(1_000);
    try {
      return await upToDate(url);
    } catch (error) {
      if (!(error instanceof DatabaseAway)) throw error;
    }
  }
}

/** Roles check for themselves too, since each may be started alone. */
async function fittingRootKey(url: string): Promise<void> {
  const [{ checkRootKey }, { wipeKeys }] = await Promise.all([
    import('../server/domain/keys/root-check.ts'), // after the client it needs was generated
    import('../server/platform/keys.ts'),
  ]);
  const client = databaseClient(url, { query_timeout: 10_000 });
  try {
    await client.connect();
    await checkRootKey(client);
  } finally {
    wipeKeys();
    await client.end().catch(() => {});
  }
}

function portsHere() {
  return env.SALLYPORT_ROLES.includes('gateway') ? publicPorts(env) : [];
}

/** Those that don't run yet. */
function startRoles(url: string, roles: readonly Role[]): void {
  const mains = {
    gateway: [...(dev ? ['--watch', '--watch-preserve-output'] : []), 'server/gateway/main.ts'],
    // Next sees to pages. By path: what it compiles is loaded too, and must not restart it.
    web: [...(dev ? ['--watch-path=server', '--watch-preserve-output'] : []), 'server/web.ts', ...(dev ? ['--dev'] : [])],
    worker: [...(dev ? ['--watch', '--watch-preserve-output'] : []), 'server/jobs/main.ts'],
  };
  const childEnv: NodeJS.ProcessEnv = { ...process.env, DATABASE_URL: url, DATA_DIR: env.DATA_DIR, WEB_SOCKET: env.WEB_SOCKET };
  const onHopeless = (name: string) => {
    if (ready || dev) return; // what has run once is tried for ever: the cause may go away
    console.error(`${name} keeps exiting. See its messages above.`);
    void stop(1);
  };
  for (const name of roles) {
    if (running.some((role) => role.name === name)) continue;
    const onReady = name === 'web' ? () => pagesReady.resolve() : undefined;
    running.push(keepRunning({ name, args: mains[name], env: childEnv, onReady, onHopeless }));
  }
}

/** Until every port and the web process accept connections. */
async function allConnect(): Promise<void> {
  const targets: net.NetConnectOpts[] = portsHere().map(({ port }) => ({ port, host: hostBehind(env.BIND_ADDRESS) }));
  if (env.SALLYPORT_ROLES.includes('web')) targets.push({ path: env.WEB_SOCKET });
  for (const target of targets) while (!(await accepts(target))) await sleep(50);
}

/** The embedded server has no service manager but us: when it is gone it is started again, and the roles' pools reconnect. */
async function watchDatabase(server: Database): Promise<void> {
  for (;;) {
    await sleep(500);
    if (stopping !== undefined) return;
    if (await server.answers()) continue;
    const lost = performance.now();
    log.error('the embedded PostgreSQL exited; restarting it');
    await server.revive().then(
      () => log.info({ away_ms: Math.round(performance.now() - lost) }, 'the embedded PostgreSQL is running again'),
      (error: unknown) => log.error(error, 'the embedded PostgreSQL could not be restarted'),
    );
  }
}

function greet(headline: string): void {
  say(`\n${headline}\n${addresses(env)}\n`);
}

/** Gateway first, so that no new call comes in; the database last. A second signal does not hurry it: the budget is its limit. */
function stop(code: number): Promise<never> {
  stopping ??= (async () => {
    const until = Date.now() + stopBudgetMs;
    building.abort();
    if (running.length > 0) log.info('stopping');
    for (const name of ['gateway', 'web', 'worker'])
      await running.find((role) => role.name === name)?.stop(Math.max(500, until - Date.now() - 5000));
    await database?.stop();
    lock?.close();
    process.exit(code);
  })();
  return stopping;
}
