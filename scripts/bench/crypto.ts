import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { Problem } from '../command.ts';
import { entitled } from '../entitled.ts';
import { freePorts } from '../ports.ts';
import { cores, cpuSeconds, median, spawnOn, stopChild, until } from './machine.ts';
import { type Measured, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';
import { install } from './service.ts';

const rounds = 3;
const shape: Shape = { connections: 16, seconds: 4, method: 'POST' };
const ITEMS = 100;
const PLAINTEXT = Buffer.from('Jane Doe, 415-555-9311').toString('base64');
/** Of Vault's CPU for the same call. */
const MOST_OF_VAULT = 0.5;
/** Of a call's CPU, for one item of a batch of a hundred. */
const MOST_OF_CALL = 0.1;

type Work = 'encrypt' | 'hmac' | 'batch';
const works: readonly Work[] = ['encrypt', 'hmac', 'batch'];
type Side = {
  name: string;
  url: string;
  headers: Record<string, string>;
  pids: () => number[];
  calls: Record<Work, { path: string; body: string }>;
};

/** CPU of encrypting and of an HMAC on /v1, beside Vault's transit engine doing the same. Both serve from one core; PostgreSQL is reported apart. */
export async function measureCrypto(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  const stops: (() => Promise<unknown>)[] = [installation.stop];
  try {
    const key = await makeKeys();
    const gateway = await installation.startGateway();
    const ours = sideOf('sallyport', `http://127.0.0.1:${installation.ports.api}`, { Authorization: `Bearer ${key}` }, gateway, {
      encrypt: ['/v1/crypto/keys/bench-aes/encrypt', { plaintext_b64: PLAINTEXT }],
      hmac: ['/v1/crypto/keys/bench-hmac/sign', { data_b64: PLAINTEXT }],
      batch: ['/v1/crypto/keys/bench-aes/encrypt', { batch: Array(ITEMS).fill({ plaintext_b64: PLAINTEXT }) }],
    });
    const sides = [ours];
    const binary = process.env.BENCH_VAULT;
    if (binary) {
      const vault = await startVault(binary, directory);
      stops.unshift(vault.stop);
      sides.push(vault.side);
    } else say('BENCH_VAULT names no vault binary: its part is skipped');

    const cpu = new Map<string, number[]>();
    const database: Record<Work, number[]> = { encrypt: [], hmac: [], batch: [] };
    for (const side of sides) for (const work of works) await run(side, work, { ...shape, seconds: 8 }, directory);
    for (let round = 1; round <= rounds; round++)
      for (const work of works)
        for (const side of sides) {
          const before = cpuSeconds(installation.databasePids());
          const result = await run(side, work, shape, directory);
          if (side === ours) database[work].push(((cpuSeconds(installation.databasePids()) - before) / result.requests) * 1e6);
          const name = `${side.name} ${work}`;
          cpu.set(name, [...(cpu.get(name) ?? []), result.cpu]);
          say(
            `${work}, round ${round}, ${side.name}: ${micros(result.cpu)}, ${Math.round(result.requests / shape.seconds)} calls/s, p50 ${result.p50} ms`,
          );
        }
    const of = (side: string, work: Work) => median(cpu.get(`${side} ${work}`) ?? []);
    return [
      ...calls.map(({ work, what }) => besideVault(what, of('sallyport', work), of('vault', work))),
      ofBatch(of),
      databaseRow(database),
    ];
  } finally {
    for (const stop of stops) await stop();
  }
}

const calls = [
  { work: 'encrypt', what: 'encrypt on /v1, CPU a call' },
  { work: 'hmac', what: 'HMAC on /v1, CPU a call' },
] as const;

function besideVault(what: string, ours: number, vault: number): Row {
  if (Number.isNaN(vault))
    return { what, measured: micros(ours), against: 'Vault skipped (BENCH_VAULT)', value: '', target: '', pass: null };
  const ratio = ours / vault;
  return {
    what,
    measured: micros(ours),
    against: `Vault transit ${micros(vault)}`,
    value: times(ratio),
    target: `<= ${MOST_OF_VAULT} x`,
    pass: ratio <= MOST_OF_VAULT,
  };
}

function ofBatch(of: (side: string, work: Work) => number): Row {
  const [item, call, vault] = [of('sallyport', 'batch') / ITEMS, of('sallyport', 'encrypt'), of('vault', 'batch') / ITEMS];
  return {
    what: `encrypt in a batch of ${ITEMS}, CPU an item`,
    measured: micros(item),
    against: `one call ${micros(call)}${Number.isNaN(vault) ? '' : `; Vault's item ${micros(vault)}`}`,
    value: times(item / call),
    target: `<= ${MOST_OF_CALL} x`,
    pass: item / call <= MOST_OF_CALL,
  };
}

const databaseRow = (database: Record<Work, number[]>): Row => ({
  what: 'the same, CPU of PostgreSQL',
  measured: `${micros(median(database.encrypt))} a call`,
  against: `HMAC ${micros(median(database.hmac))}; batch ${micros(median(database.batch) / ITEMS)} an item`,
  value: '',
  target: '',
  pass: null,
});

function sideOf(
  name: string,
  url: string,
  headers: Record<string, string>,
  { pid = 0 }: ChildProcess,
  bodies: Record<Work, readonly [path: string, body: unknown]>,
): Side {
  const calls = Object.fromEntries(Object.entries(bodies).map(([work, [path, body]]) => [work, { path, body: JSON.stringify(body) }]));
  return { name, url, headers: { ...headers, 'Content-Type': 'application/json' }, pids: () => [pid], calls: calls as Side['calls'] };
}

/** Without a web process a call that the gateway doesn't answer itself fails, and with it the measurement. */
const run = (side: Side, work: Work, how: Shape, directory: string): Promise<Measured> =>
  measure(side, side.calls[work].path, { ...how, body: side.calls[work].body }, directory);

async function makeKeys(): Promise<string> {
  const operator = await import('../../server/domain/operator/service.ts');
  const { createCryptoKey } = await import('../../server/domain/crypto-keys/service.ts');
  const tenant = await operator.provisionTenant({ slug: 'bench', plan: 'enterprise', starter: false });
  const ctx = entitled(operator.operatorCtx(tenant.id, 'live'));
  for (const [name, key_type] of [
    ['bench-aes', 'aes256-gcm'],
    ['bench-hmac', 'hmac-sha256'],
  ] as const)
    await createCryptoKey(ctx, { name, key_type, mode: 'cloud-only', derived: false, convergent: false });
  const { api_key } = await operator.createKey({ slug: 'bench', space: 'live', role: 'Key - Infrastructure' });
  return api_key;
}

/** Vault's dev server: in memory, without TLS and without an audit device. */
async function startVault(binary: string, directory: string): Promise<{ side: Side; stop: () => Promise<void> }> {
  if (!fs.existsSync(binary)) throw new Problem(`BENCH_VAULT names ${binary}, which doesn't exist.`);
  const [port, cluster] = (await freePorts(2)) as [number, number];
  const url = `http://127.0.0.1:${port}`;
  const token = 'bench-root';
  const listen = [`-dev-listen-address=127.0.0.1:${port}`, `-dev-root-token-id=${token}`, '-dev-no-store-token', '-log-level=error'];
  const child = spawnOn(cores.measured, binary, ['server', '-dev', ...listen], {
    stdio: ['ignore', 'ignore', 'ignore'],
    env: { ...process.env, HOME: directory, VAULT_CLUSTER_ADDR: `http://127.0.0.1:${cluster}` },
  });
  const headers = { 'X-Vault-Token': token };
  const post = (path: string, body: unknown) => fetch(`${url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  await until(
    'Vault',
    () =>
      fetch(`${url}/v1/sys/health`).then(
        (one) => one.status === 200,
        () => false,
      ),
    60_000,
    child,
  );
  for (const [path, body] of [
    ['sys/mounts/transit', { type: 'transit' }],
    ['transit/keys/bench', { type: 'aes256-gcm96' }],
  ] as const) {
    const made = await post(path, body);
    if (!made.ok) throw new Problem(`Vault refused ${path}: ${made.status} ${await made.text()}`);
  }
  const side = sideOf('vault', url, headers, child, {
    encrypt: ['/v1/transit/encrypt/bench', { plaintext: PLAINTEXT }],
    hmac: ['/v1/transit/hmac/bench', { input: PLAINTEXT }],
    batch: ['/v1/transit/encrypt/bench', { batch_input: Array(ITEMS).fill({ plaintext: PLAINTEXT }) }],
  });
  return { side, stop: () => stopChild(child) };
}
