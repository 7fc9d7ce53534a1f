// npm run bench [-- proxy bodies latency memory payloads journal fields wrap connections events equal sockets many hot crypto tokens oauth lists scim vaults pki ai detectors migrations databases deliveries alerts web hostile kills start] [--seconds=n] [--only=text]   what the service costs, beside nginx and a Next route handler, on this machine.
// One table on standard output, steps on standard error; exit code 1 when a target is missed. Nothing is written into the checkout but
// what `npm start` builds there. See server/gateway/README.md for the method.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { measureAi } from './bench/ai.ts';
import { measureAlerts } from './bench/alerts.ts';
import { measureBodies } from './bench/bodies.ts';
import { measureCallEvents } from './bench/call-events.ts';
import { measureConnections } from './bench/connections.ts';
import { measureCrypto } from './bench/crypto.ts';
import { measureDatabases } from './bench/databases.ts';
import { measureDeliveries } from './bench/deliveries.ts';
import { measureDetectors } from './bench/detectors.ts';
import { measureEqual } from './bench/equal.ts';
import { measureFields } from './bench/fields.ts';
import { measureHostile } from './bench/hostile.ts';
import { measureHot } from './bench/hot.ts';
import { measureJournal } from './bench/journal.ts';
import { measureKills } from './bench/kills.ts';
import { measureLatency } from './bench/latency.ts';
import { measureLists } from './bench/lists.ts';
import { cores, endChildren, findTool, moveSelfTo, requireMachine, tracked } from './bench/machine.ts';
import { measureMany } from './bench/many.ts';
import { measureMemory } from './bench/memory.ts';
import { measureMigrations } from './bench/migrations.ts';
import { measureOAuth } from './bench/oauth.ts';
import { measurePayloads } from './bench/payloads.ts';
import { measurePki } from './bench/pki.ts';
import { type Bench, type Peer, startProxies } from './bench/proxies.ts';
import { measureProxy } from './bench/proxy.ts';
import { type Row, say, table } from './bench/report.ts';
import { measureScim } from './bench/scim.ts';
import { measureSockets } from './bench/sockets.ts';
import { measureStart } from './bench/start.ts';
import { measureTokenCheck } from './bench/token-check.ts';
import { measureVaults } from './bench/vaults.ts';
import { measureWeb } from './bench/web.ts';
import { measureWrap } from './bench/wrap.ts';
import { fail, Problem } from './command.ts';
import { postmaster } from './database.ts';

const parts = [
  'proxy',
  'bodies',
  'latency',
  'memory',
  'payloads',
  'journal',
  'fields',
  'wrap',
  'connections',
  'events',
  'equal',
  'sockets',
  'many',
  'hot',
  'crypto',
  'tokens',
  'oauth',
  'lists',
  'scim',
  'vaults',
  'pki',
  'ai',
  'detectors',
  'migrations',
  'databases',
  'deliveries',
  'alerts',
  'web',
  'hostile',
  'kills',
  'start',
] as const;
type Part = (typeof parts)[number];
const proxyParts: Partial<Record<Part, (bench: Bench) => Promise<Row[]>>> = {
  proxy: measureProxy,
  bodies: measureBodies,
  latency: measureLatency,
  memory: measureMemory,
  payloads: measurePayloads,
  journal: measureJournal,
  fields: measureFields,
  wrap: measureWrap,
  connections: measureConnections,
  events: measureCallEvents,
};

const ownParts = {
  equal: measureEqual,
  sockets: measureSockets,
  many: measureMany,
  hot: measureHot,
  crypto: measureCrypto,
  tokens: measureTokenCheck,
  oauth: measureOAuth,
  lists: measureLists,
  scim: measureScim,
  vaults: measureVaults,
  pki: measurePki,
  ai: measureAi,
  detectors: measureDetectors,
  migrations: measureMigrations,
  databases: measureDatabases,
  deliveries: measureDeliveries,
  alerts: measureAlerts,
  web: measureWeb,
  hostile: (directory: string) => measureHostile(directory, { seconds: Number(option('seconds') ?? 60), only: option('only') }),
  kills: measureKills,
} satisfies Partial<Record<Part, (directory: string) => Promise<Row[]>>>;

const machine = `${os.availableParallelism()} cores of ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${process.platform}-${process.arch}`;
const options = process.argv.slice(2).filter((text) => text.startsWith('--'));
const wanted = chosen(process.argv.slice(2).filter((text) => !text.startsWith('--')));
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-bench-'));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
process.on('exit', () => {
  endChildren();
  for (const part of ['proxies', ...Object.keys(ownParts)]) {
    const database = postmaster(path.join(directory, part, 'data/postgres/data'));
    if (database) process.kill(database.pid, 'SIGQUIT');
  }
  fs.rmSync(directory, { recursive: true, force: true });
});

try {
  const overProxies = wanted.filter((part) => part in proxyParts);
  requireMachine(overProxies.length > 0 || wanted.includes('equal') || wanted.includes('many') ? ['nginx'] : []);
  if (overProxies.length > 0 && !findTool('wrk'))
    say('wrk is not installed (apt-get install wrk). Using the slower built-in load generator');
  const installations = [overProxies, ...wanted.filter((part) => !(part in proxyParts)).map((part) => [part])].filter(
    ({ length }) => length > 0,
  );
  const rows: Row[] = [];
  // A process has the settings of one installation.
  for (const group of installations) rows.push(...(installations.length > 1 ? await inItsProcess(group) : await measured(group)));
  const code = rows.some((row) => row.pass === false) ? 1 : 0;
  if (process.send) process.send(rows, () => process.exit(code));
  else {
    console.log(`\n${machine}\n\n${table(rows)}\n`);
    process.exit(code);
  }
} catch (error) {
  fail(error);
}

/** Parts that share one installation. */
async function measured(group: readonly Part[]): Promise<Row[]> {
  const [part] = group;
  // The time that `npm start` takes is not for one core; all else is.
  if (part === 'start') return measureStart(path.join(directory, 'start'));
  if (part === 'kills') return measureKills(path.join(directory, 'kills'));
  if (part !== 'hostile') moveSelfTo(cores.others);
  if (part && part in proxyParts) return overThem(group);
  const measure = ownParts[part as keyof typeof ownParts];
  return measure(path.join(directory, part as string));
}

async function inItsProcess(group: readonly Part[]): Promise<Row[]> {
  const child = tracked(fork(import.meta.filename, [...group, ...options], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
  let rows: Row[] | undefined;
  child.on('message', (message) => {
    rows = message as Row[];
  });
  await once(child, 'exit');
  if (!rows) throw new Problem(`The measurement of ${group.join(', ')} ended early; its message is above.`);
  return rows;
}

async function overThem(names: readonly Part[]): Promise<Row[]> {
  const bench = await startProxies(path.join(directory, 'proxies'), peersOf(names));
  try {
    const rows: Row[] = [];
    for (const name of names) rows.push(...((await proxyParts[name]?.(bench)) ?? []));
    return rows;
  } finally {
    await bench.stop();
  }
}

function peersOf(names: readonly Part[]): Peer[] {
  return [
    'nginx',
    ...(names.includes('proxy') ? (['next'] as const) : []),
    ...(names.includes('bodies') ? (['tuned nginx'] as const) : []),
  ];
}

/** The value of `--name=value`. */
function option(name: string): string | undefined {
  return options.find((text) => text.startsWith(`--${name}=`))?.slice(name.length + 3);
}

function chosen(names: readonly string[]): Part[] {
  const unknown = names.find((name) => !parts.some((part) => part === name));
  if (unknown) fail(new Problem(`Unknown part ${unknown}. Available parts: ${parts.join(', ')}.`));
  return parts.filter((part) => names.length === 0 || names.includes(part));
}
