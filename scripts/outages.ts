// node scripts/bootstrap.mjs exec node scripts/outages.ts [name …]   what calls, the API, the dashboard and the health checks say in each outage, of real parts:
// PostgreSQL, Redis or Valkey, and our three processes. Prints one row of a Markdown table for each (docs/self-hosting.md has them). Needs Linux, redis-server or
// valkey-server, and for two of them root (a small tmpfs) and libfaketime; what is missing is skipped with its reason.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { familyOf, findTool } from './bench/machine.ts';
import { fail, Problem, root } from './command.ts';
import { type Database, postmaster, startDatabase } from './database.ts';
import { buildElements } from './elements.ts';
import { freePorts } from './ports.ts';
import { generateClient, migrate } from './schema.ts';

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-outages-'));
const volume = path.join(directory, 'volume');
const [api = 0, sandbox = 0, admin = 0, proxy = 0, store = 0] = await freePorts(5);
const faketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const clock = path.join(directory, 'clock');
const children = new Map<string, ChildProcess>();
const lines: string[] = [];
let database: Database;
let mounted = false;
let lastSaid = '';

type Probe = { name: string; ask: () => Promise<string> };
type Outage = {
  name: string;
  lacks?: () => string | undefined;
  begin: () => Promise<unknown>;
  seconds: number;
  end: () => Promise<unknown>;
};

const outages: Outage[] = [
  { name: 'PostgreSQL read-only', begin: () => readOnly('on'), seconds: 8, end: () => readOnly('off') },
  { name: 'PostgreSQL restarted', begin: () => database.stop(), seconds: 8, end: () => database.revive() },
  { name: 'PostgreSQL paused', begin: async () => signalDatabase('SIGSTOP'), seconds: 45, end: async () => signalDatabase('SIGCONT') },
  {
    name: 'PostgreSQL without room on its disk',
    lacks: () => (mounted ? undefined : 'no tmpfs can be mounted here'),
    begin: fillVolume,
    seconds: 15,
    end: async () => {
      fs.rmSync(path.join(volume, 'filler'), { force: true });
      await database.revive();
    },
  },
  {
    name: 'Gateway started while PostgreSQL is away',
    begin: async () => {
      await database.stop();
      await stopRole('gateway', 'SIGKILL');
      startRole('gateway');
      await until(() => answers(proxy));
    },
    seconds: 8,
    end: () => database.revive(),
  },
  {
    name: 'Web hangs',
    begin: async () => children.get('web')?.kill('SIGSTOP'),
    seconds: 25,
    end: async () => children.get('web')?.kill('SIGCONT'),
  },
  { name: 'Web killed', begin: () => stopRole('web', 'SIGKILL'), seconds: 5, end: async () => startRole('web') },
  { name: 'Valkey away', begin: () => stopRole('store', 'SIGKILL'), seconds: 8, end: async () => startStore() },
  {
    name: 'Valkey restarted',
    begin: async () => {
      await stopRole('store', 'SIGKILL');
      startStore();
    },
    seconds: 4,
    end: async () => {},
  },
  {
    name: 'Clock of the machine back an hour',
    lacks: () => (fs.existsSync(faketime) ? undefined : 'libfaketime is not installed'),
    begin: async () => fs.writeFileSync(clock, '-3600'),
    seconds: 10,
    end: async () => fs.writeFileSync(clock, '+0'),
  },
];

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
process.on('exit', () => {
  for (const child of children.values()) child.kill('SIGKILL');
  const server = postmaster(path.join(volume, 'postgres/data'));
  if (server) process.kill(server.pid, 'SIGKILL');
  if (mounted) spawnSync('umount', ['-l', volume]);
});

try {
  if (!findTool('redis-server') && !findTool('valkey-server')) throw new Problem('Install redis-server or valkey-server.');
  await install();
  const probes = await customer();
  console.log(
    `| Outage | ${probes.map(({ name }) => name).join(' | ')} | Well again | Lines logged |\n| --- | ${probes.map(() => '---').join(' | ')} | --- | --- |`,
  );
  const wanted = process.argv.slice(2);
  for (const outage of outages)
    if (wanted.length === 0 || wanted.some((name) => outage.name.includes(name))) console.log(await row(outage, probes));
  process.exit(0);
} catch (error) {
  fail(error);
}

/** Asks everything twice a second while it lasts, and then until everything is as before. */
async function row(outage: Outage, probes: readonly Probe[]): Promise<string> {
  const lacking = outage.lacks?.();
  if (lacking) return `| ${outage.name} | skipped: ${lacking} |`;
  const before = lines.length;
  await outage.begin();
  const said = probes.map(() => new Map<string, number>());
  const ends = performance.now() + outage.seconds * 1_000;
  // Each by itself: one that waits for its answer holds up no other.
  const asking = probes.map(async ({ ask }, i) => {
    while (performance.now() < ends) {
      const asked = performance.now();
      const answer = await ask();
      const waited = performance.now() - asked > 3_000 ? `${answer} after ${Math.round((performance.now() - asked) / 1_000)} s` : answer;
      said[i]?.set(waited, (said[i]?.get(waited) ?? 0) + 1);
      await sleep(500);
    }
  });
  await sleep(outage.seconds * 1_000);
  const logged = lines.slice(before).filter((line) => !line.startsWith('store:'));
  const foreign = logged.filter((line) => !/^\w+: \{/.test(line)).length;
  await outage.end();
  const back = performance.now();
  await Promise.all(asking);
  await until(async () => {
    const now = await Promise.all(probes.map(({ ask }) => ask()));
    lastSaid = now.join(' | ');
    return now.every((answer) => /^20\d(?: ok)?$/.test(answer));
  });
  const cells = said.map((answers) => [...answers].map(([answer, n]) => `${answer} (${n})`).join(', '));
  return `| ${outage.name} | ${cells.join(' | ')} | ${((performance.now() - back) / 1_000).toFixed(1)} s | ${logged.length}${foreign > 0 ? `, ${foreign} not JSON` : ''} |`;
}

async function install(): Promise<void> {
  fs.mkdirSync(volume);
  fs.writeFileSync(clock, '+0');
  mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'tmpfs', volume]).status === 0;
  await Promise.all([generateClient(), buildElements()]);
  database = await startDatabase(path.join(volume, 'postgres'), ['max_wal_size=80MB', 'min_wal_size=32MB']);
  await database.create('sallyport');
  await migrate(database.url('sallyport'));
  startStore();
  for (const role of ['web', 'gateway', 'worker']) startRole(role);
  await until(() => answers(api));
}

/** A person with a workspace, its starter key and its sample route. */
async function customer(): Promise<Probe[]> {
  const origin = `http://localhost:${admin}`;
  const post = (where: string, body: object, headers: Record<string, string> = {}) =>
    fetch(origin + where, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin, ...headers },
      body: JSON.stringify(body),
    });
  const signedUp = await post('/auth/signup', { email: 'ada@example.com', password: 'poetical science of 1843', tenant_name: 'Engines' });
  const cookie = signedUp.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  const me = (await (await fetch(`${origin}/auth/me`, { headers: { cookie } })).json()) as { csrf_token: string };
  const { api_key, route_url } = (await (await post('/auth/starter-key', {}, { cookie, 'x-csrf-token': me.csrf_token })).json()) as Record<
    string,
    string
  >;
  const bearer = { authorization: `Bearer ${api_key}` };
  let n = 0;
  const change = () => ({
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `e${Date.now()}${n++}` }),
  });
  return [
    { name: 'Calls', ask: () => statusOf(route_url ?? '', { headers: { 'x-svc-key': api_key ?? '' } }) },
    { name: 'API, reading', ask: () => statusOf(`http://localhost:${sandbox}/v1/routes`, { headers: bearer }) },
    { name: 'API, changing', ask: () => statusOf(`http://localhost:${sandbox}/v1/collections`, change()) },
    { name: 'Dashboard', ask: () => statusOf(`${origin}/auth/me`, { headers: { cookie } }) },
    { name: 'A page', ask: () => statusOf(`${origin}/`, { headers: { cookie } }) },
    { name: '/readyz of calls', ask: () => readiness(proxy) },
    { name: '/readyz of the API', ask: () => readiness(api) },
    { name: '/readyz of the dashboard', ask: () => readiness(admin) },
  ];
}

async function statusOf(url: string, init: RequestInit): Promise<string> {
  try {
    const res = await fetch(url, { ...init, signal: AbortSignal.timeout(150_000) });
    const text = await res.text();
    const type = res.ok ? '' : (/"(?:type|code)":"(\w+)"/.exec(text)?.[1] ?? '');
    return [res.status, type, res.status === 503 && !res.headers.has('retry-after') ? 'without Retry-After' : ''].filter(Boolean).join(' ');
  } catch (error) {
    return (error as Error).name;
  }
}

async function readiness(port: number): Promise<string> {
  try {
    const res = await fetch(`http://localhost:${port}/readyz`, { signal: AbortSignal.timeout(10_000) });
    const { status, parts = {} } = (await res.json()) as { status: string; parts?: object };
    return [res.status, status, Object.keys(parts).join(' + ')].filter(Boolean).join(' ');
  } catch (error) {
    return (error as Error).name;
  }
}

async function answers(port: number): Promise<boolean> {
  return (await readiness(port)).startsWith('200');
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const late = performance.now() + 120_000;
  while (!(await holds())) {
    if (performance.now() > late) throw new Problem(`It did not come back: ${lastSaid}\n${lines.slice(-20).join('\n')}`);
    await sleep(200);
  }
}

function startRole(role: string): void {
  const main = { web: 'server/web.ts', gateway: 'server/gateway/main.ts', worker: 'server/jobs/main.ts' }[role] ?? '';
  const fake = fs.existsSync(faketime)
    ? { LD_PRELOAD: faketime, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_CACHE_DURATION: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' }
    : {};
  const settings: NodeJS.ProcessEnv = {
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_URL: database.url('sallyport'),
    REDIS_URL: `redis://127.0.0.1:${store}`,
    DATA_DIR: path.join(directory, 'data'),
    LOG_SPILL_DIR: directory,
    PLANE_PORTS: `api:${api},sandbox:${sandbox},admin:${admin},proxy:${proxy}`,
    ...fake,
  };
  fs.mkdirSync(path.join(directory, 'data'), { recursive: true, mode: 0o711 });
  run(role, process.execPath, ['--disable-warning=ExperimentalWarning', main], { ...process.env, ...settings });
}

function startStore(): void {
  run(
    'store',
    findTool('valkey-server') ?? 'redis-server',
    ['--port', String(store), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--loglevel', 'warning'],
    process.env,
  );
}

function run(name: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.set(name, child);
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      lines.push(
        ...bytes
          .toString()
          .split('\n')
          .filter(Boolean)
          .map((line) => `${name}: ${line}`),
      );
      fs.appendFileSync(path.join(os.tmpdir(), 'sallyport-outages.log'), bytes);
    });
}

async function stopRole(name: string, signal: NodeJS.Signals): Promise<void> {
  const child = children.get(name);
  if (!child || child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

/** For all transactions that begin from now on, as a primary is that was demoted. */
async function readOnly(value: 'on' | 'off'): Promise<void> {
  const client = new pg.Client({ connectionString: database.url('sallyport'), options: '-c default_transaction_read_only=off' });
  await client.connect();
  await client.query(`alter system set default_transaction_read_only = ${value}`);
  await client.query('select pg_reload_conf()');
  await client.end();
}

function signalDatabase(signal: NodeJS.Signals): void {
  for (const pid of familyOf(postmaster(path.join(volume, 'postgres/data'))?.pid ?? 0)) process.kill(pid, signal);
}

async function fillVolume(): Promise<void> {
  const filler = fs.openSync(path.join(volume, 'filler'), 'w');
  const block = Buffer.alloc(64 * 1024);
  try {
    for (;;) fs.writeSync(filler, block);
  } catch {
    // it is full
  } finally {
    fs.closeSync(filler);
  }
}
