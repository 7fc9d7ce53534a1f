import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import pg from 'pg';
import { isAlive } from '../scripts/command.ts';
import { type OwnSystem, type Role, startOwnSystem } from './isolated-system.ts';
import { type Load, startLoad } from './load.ts';
import { json, startUpstream, type Upstream, until } from './running-system.ts';

/**
 * J3: any one process may die at any moment under load. No acknowledged write is lost, the gateway goes on proxying without web or database,
 * and everything heals by itself. The system is this file's own.
 */
test.describe.configure({ mode: 'serial' });

const slug = 'restart';
let system: OwnSystem;
let upstream: Upstream;
let key: string;
let load: Load;
let callUrl: string;
/** Once the system that stops takes no new call. */
const refused = Promise.withResolvers<void>();

test.beforeAll(async () => {
  system = await startOwnSystem({ embedded: true });
  upstream = await startUpstream((req, res) => {
    if (!req.url?.includes('slow')) return void res.end('{"ok":true}');
    res.writeHead(200, { 'content-type': 'text/plain' });
    res.write('first half, ');
    void refused.promise.then(() => res.end('second half'));
  });
  await system.command(['create-tenant', '--slug', slug]);
  const made = await system.command(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure']);
  key = made.api_key as string;
  await json(`${system.api}/v1/secrets`, { key, body: { name: 'TOKEN', value: 'a secret that outlives a database' } });
  const route = await json(`${system.api}/v1/routes`, {
    key,
    body: { name: 'orders', target_base_url: upstream.url, inject_headers_json: { 'x-token': '{{secret:TOKEN}}' } },
  });
  expect(route.status, route.text).toBe(201);
  callUrl = `${system.proxy}/p/${slug}/orders/x`;
  expect((await json(callUrl, { headers: { 'x-svc-key': key } })).status).toBe(200);
  load = startLoad({ api: system.api, callUrl, key, writers: 3, callers: 2 });
});

test.afterAll(async () => {
  await load?.stop().catch(() => undefined);
  upstream?.close();
  await system?.remove();
});

/** A read and a write through the API and a call through a route, all good. */
async function works(): Promise<boolean> {
  const before = load.acknowledged.size;
  const [read, called] = await Promise.all([
    json(`${system.api}/v1/environments`, { key }),
    json(callUrl, { headers: { 'x-svc-key': key } }),
  ]);
  return read.status === 200 && called.status === 200 && load.acknowledged.size > before;
}

/** Kills, waits until another process stands in its place and everything works; answers how long that took and from when on. */
async function killed(role: Role): Promise<{ from: number; to: number }> {
  await until('the load is running', works);
  const from = Date.now();
  const victim = system.kill(role);
  await until(`${role} is started again`, () => ![undefined, victim].includes(system.pid(role)));
  await until(`everything works after ${role} died`, works);
  await until('some calls went through', () => load.proxied.filter(({ at }) => at >= from).length > 5);
  const to = Date.now();
  console.log(`${role}: all well after ${to - from} ms; refusals so far ${JSON.stringify([...load.refusals])}`);
  expect(load.garbage).toEqual([]);
  return { from, to };
}

const failedBetween = ({ from, to }: { from: number; to: number }) => load.unproxied.filter(({ at }) => at >= from && at <= to);
const calledBetween = ({ from, to }: { from: number; to: number }) => load.proxied.filter(({ at }) => at >= from && at <= to);

for (const role of ['web', 'worker'] as const)
  test(`kill -9 of the ${role} process: proxied calls go on as if nothing had happened`, async () => {
    const window = await killed(role);
    expect(failedBetween(window)).toEqual([]);
    expect(calledBetween(window).length).toBeGreaterThan(5);
    if (role === 'web') expect(load.refusals.get('dependency_unavailable') ?? 0, 'the gateway said what was the matter').toBeGreaterThan(0);
  });

test('kill -9 of the gateway: it is back, with everything it knew', async () => {
  const window = await killed('gateway');
  const late = load.unproxied.filter(({ at }) => at > window.to);
  expect(late).toEqual([]);
});

test('kill -9 of PostgreSQL: proxied calls go on, and what was not logged then is logged afterwards', async () => {
  const before = { refused: load.refusals.get('dependency_unavailable') ?? 0, faults: load.refusals.get('internal_error') ?? 0 };
  const window = await killed('postgres');
  expect(failedBetween(window)).toEqual([]);
  const calls = calledBetween(window);
  expect(calls.length).toBeGreaterThan(5);
  expect((load.refusals.get('internal_error') ?? 0) - before.faults, 'a lost database is never called a fault of this service').toBe(0);
  expect(load.refusals.get('dependency_unavailable') ?? 0).toBeGreaterThan(before.refused);
  await logged(calls.map(({ id }) => id));
});

test('a gateway that starts while the database is away serves from its own copy, keeps its logs, and writes them when it can', async () => {
  const data = path.join(system.dataDir, 'postgres/data');
  const away = `${data}.away`;
  const served: string[] = [];
  const faults = load.refusals.get('internal_error') ?? 0;
  const callOnce = async () => {
    const answer = await json(callUrl, { headers: { 'x-svc-key': key } });
    if (answer.status === 200) served.push(answer.headers.get('x-svc-request-id') ?? '');
    return answer.status === 200;
  };
  await until('the load is running', works);
  system.kill('postgres');
  fs.renameSync(data, away); // the supervisor tries to start it again all the time, and must not succeed yet
  const crashed = system.kill('gateway');
  await until('the gateway serves from its copy', callOnce);
  expect(system.pid('gateway')).not.toBe(crashed);
  const seen = upstream.seen.at(-1);
  expect(seen?.headers['x-token'], 'secrets are in the copy too').toBe('a secret that outlives a database');
  for (const method of ['GET', 'POST']) {
    const answer = await json(`${system.api}/v1/environments`, {
      method,
      key,
      ...(method === 'POST' ? { body: { name: 'x' } } : {}),
    });
    expect([answer.status, answer.body?.error?.type, answer.headers.get('retry-after')], answer.text).toEqual([
      503,
      'dependency_unavailable',
      '5',
    ]);
    expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
  }
  for (let i = 0; i < 5; i++) expect(await callOnce()).toBe(true);

  // An orderly restart in the middle of it: the rows in its memory go to the disk, and the next process finds them there.
  const orderly = system.pid('gateway') ?? 0;
  process.kill(orderly, 'SIGTERM');
  await until('another gateway serves', async () => ![undefined, orderly].includes(system.pid('gateway')) && (await callOnce()));

  const from = Date.now();
  fs.renameSync(away, data);
  await until('everything works after the database is back', works);
  console.log(`database back: all well after ${Date.now() - from} ms`);
  expect((load.refusals.get('internal_error') ?? 0) - faults, 'also not when a pool finds its connections dead').toBe(0);
  expect(load.garbage).toEqual([]);
  await logged(served);
});

test('every acknowledged write is there once, with one audit entry, and no other', async () => {
  await until('there is something to count', () => load.acknowledged.size > 50);
  await load.stop();
  const rows = await query<{ id: string; name: string }>(`select id, name from clients where name like 'write-%'`);
  const byName = new Map(rows.map((row) => [row.name, row.id]));
  expect(rows.length, 'no write took effect twice').toBe(byName.size);
  expect([...load.acknowledged].filter(([name, id]) => byName.get(name) !== id)).toEqual([]);
  expect(byName.size).toBe(load.acknowledged.size);
  const audits = await query<{ resource_id: string }>(
    `select resource_id from audit_logs where resource_type = 'client' and action = 'create'`,
  );
  expect(audits.map((row) => row.resource_id).sort()).toEqual(rows.map((row) => row.id).sort());
  console.log(
    `${byName.size} writes, ${load.interrupted.size} retried while an earlier attempt held the key, ${load.proxied.length} calls, ${load.unproxied.length} failed while the gateway itself was down`,
  );
});

test('a tenant key that the operator rotates while it runs seals new secrets as soon as the web process hears of it', async () => {
  const version = async (name: string) => {
    const made = await json(`${system.api}/v1/secrets`, { key, body: { name, value: 'x' } });
    expect(made.status, made.text).toBe(201);
    const rows = await query<{ tmk_version: number }>(
      'select v.tmk_version from secret_values v join secret_environments e on e.current_value_id = v.id where e.secret_id = $1',
      [made.body.data.id],
    );
    return rows.map((row) => row.tmk_version);
  };
  await load.stop(); // its writes with idempotency keys notice a rotation by themselves
  expect(await version('SEALED_BEFORE')).toEqual([1]);
  // While the worker stands still nobody moves what was sealed under the old key, so a value's row says what it was sealed under.
  const worker = system.pid('worker') as number;
  process.kill(worker, 'SIGSTOP');
  try {
    for (const next of [2, 3]) {
      expect(await system.command(['rotate-tenant-key', '--slug', slug])).toMatchObject({ rotated: true, new_version: next });
      let made = 0;
      await until(`a new secret is sealed under version ${next}`, async () => (await version(`UNDER_${next}_${made++}`))[0] === next);
    }
  } finally {
    process.kill(worker, 'SIGCONT');
  }
});

test('SIGTERM lets a running call end, takes no new one, and stops everything', async () => {
  const slow = new Promise<string>((resolve, reject) => {
    const request = http.get(`${system.proxy}/p/${slug}/orders/slow`, { headers: { 'x-svc-key': key }, agent: false }, (res) => {
      let text = '';
      res.on('data', (chunk) => {
        text += chunk;
      });
      res.on('end', () => resolve(`${res.statusCode} ${text}`));
      res.on('error', reject);
    });
    request.on('error', reject);
  });
  await until('the upstream is working on it', () => upstream.seen.some((call) => call.url.includes('slow')));
  const pids = (['gateway', 'web', 'worker', 'postgres'] as const).map((role) => system.pid(role));
  const code = system.stop();
  await until('no new call is taken', () =>
    json(callUrl, { headers: { 'x-svc-key': key } }).then(
      () => false,
      () => true,
    ),
  );
  refused.resolve();
  expect(await slow).toBe('200 first half, second half');
  expect(await code).toBe(0);
  // An ended process nobody has reaped yet still has its number; it does not run.
  await until('nothing is left running', () => pids.every((pid) => pid !== undefined && !isAlive(pid)));
});

async function logged(ids: readonly string[]): Promise<void> {
  let missing: string[] = [];
  await until(`${ids.length} calls are in the log`, async () => {
    const rows = await query<{ request_id: string }>('select request_id from request_logs where request_id = any($1::uuid[])', [ids]);
    missing = ids.filter((id) => !rows.some((row) => row.request_id === id));
    if (missing.length > 0) throw new Error(`${missing.length} of ${ids.length} are missing`);
    return true;
  });
}

async function query<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: system.databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}
