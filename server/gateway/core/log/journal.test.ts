import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import test from 'node:test';
import pg from 'pg';
import { freePort } from '#scripts/ports.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { connection } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { databaseDoor } from '#server/testing/database-door.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { callers, type GatewayProcess, startGatewayProcess } from '../../gateway-process.fixture.ts';
import { exchange } from '../raw-client.fixture.ts';
import { batchOf } from './batch.ts';
import { createJournal } from './journal.ts';
import { journalHead, readJournal } from './journal-lines.ts';
import { thisProcess } from './journal-owner.ts';
import type { LogRow } from './row.ts';
import { createSpill } from './spill.ts';
import { usageStamps } from './usage-stamps.ts';
import { createLogWriter } from './writer.ts';

const { directory } = await ownDatabase();
const folder = path.join(directory, 'request-log');
const upstream = await startUpstream();
const w = await workspace();
await makeRoute(w, 'r', upstream.url);
const long = await startUpstream(longAnswer);
await makeRoute(w, 'long', long.url);
const { text: key } = await w.key();

/** More than is held back whole, with its length: its callers know that it is over before its connection says so. */
function longAnswer(_: unknown, res: ServerResponse): void {
  const bytes = Buffer.alloc(3 * 1024 * 1024, 'x');
  res.writeHead(200, { 'content-type': 'text/plain', 'content-length': bytes.length }).end(bytes);
}

const logged = async (ids: readonly string[]): Promise<string[]> =>
  (await db().request_logs.findMany({ where: { request_id: { in: [...ids] } }, select: { request_id: true } })).map(
    (row) => row.request_id,
  );

/** Every one of the calls is in the log once, and counted once. */
async function allLogged(of: Workspace, ids: readonly string[]): Promise<void> {
  await until(async () => new Set(await logged(ids)).size === ids.length).catch(async () => {
    const found = new Set(await logged(ids));
    assert.fail(`${ids.length - found.size} of ${ids.length} are missing`);
  });
  const rows = await logged(ids);
  assert.equal(rows.length, ids.length, 'no row is there twice');
  const [counts] = await db().$queryRaw<{ rows: bigint; counted: bigint }[]>`select
    (select count(*) from request_logs where tenant_id = ${of.tenant.id}::uuid) as rows,
    (select coalesce(sum(count), 0)::bigint from request_rollups where tenant_id = ${of.tenant.id}::uuid) as counted`;
  assert.equal(counts?.counted, counts?.rows, 'charts count what the log has');
}

const files = () => (existsSync(folder) ? readdirSync(folder) : []);
/** Of every file that is still there when it is read. */
const textsIn = (where: string): string[] =>
  readdirSync(where).flatMap((name) => {
    try {
      return readFileSync(path.join(where, name), 'utf8');
    } catch {
      return []; // it was deleted meanwhile
    }
  });
const textOfFiles = () => (existsSync(folder) ? textsIn(folder).join('') : '');

/** Calls until some are answered, and kills the gateway in the middle of the others. */
async function killedUnderLoad(gateway: GatewayProcess, least: number): Promise<string[]> {
  const loads = [callers(10, gateway.port, w.tenant.slug, '/r', key), callers(2, gateway.port, w.tenant.slug, '/long', key)];
  await until(() => loads.every(({ answered }, i) => answered.length >= (i === 0 ? least : 5)), undefined, 90_000);
  await gateway.kill();
  for (const load of loads) {
    await load.stop();
    assert.deepEqual([...load.statuses.keys()], [200]);
  }
  return loads.flatMap(({ answered }) => answered);
}

test('a gateway that is killed has lost no call that was answered, with and without syncing, and none is logged twice', {
  timeout: 240_000,
}, async () => {
  const ids: string[] = [];
  for (const [mode, least] of [
    ['on', 300],
    ['fsync', 100],
  ] as const)
    ids.push(...(await killedUnderLoad(await startGatewayProcess({ REQUEST_LOG_JOURNAL: mode }), least)));
  const next = await startGatewayProcess();
  await allLogged(w, ids);
  await until(() => files().length === 0);
  await next.stop();
});

test('what a gateway kept that was killed while the database was away is logged by one that runs beside it', {
  timeout: 180_000,
}, async () => {
  const door = await databaseDoor();
  const [cut, beside] = await Promise.all([startGatewayProcess({ DATABASE_URL: door.url }), startGatewayProcess()]);
  door.shut();
  const ids = await killedUnderLoad(cut, 300);
  assert.ok(files().length > 0);
  await allLogged(w, ids);
  const more = callers(2, beside.port, w.tenant.slug, '/r', key);
  await until(() => more.answered.length >= 10);
  await more.stop();
  await allLogged(w, more.answered);
  await beside.stop();
  assert.deepEqual(files(), []);
});

test('a disk that takes nothing more stops no call and loses no row; it is told once, and counted', { timeout: 180_000 }, async () => {
  const metrics = await freePort();
  // No file may become longer than a kilobyte: the first write is cut short, as on a disk that becomes full.
  const gateway = await startGatewayProcess({ METRICS_PORT: String(metrics) }, { shell: 'ulimit -f 1' });
  const load = callers(8, gateway.port, w.tenant.slug, '/r', key);
  await until(() => load.answered.length >= 300, undefined, 90_000);
  await load.stop();
  assert.deepEqual([...load.statuses.keys()], [200]);
  await allLogged(w, load.answered);
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  assert.ok(Number(/^sallyport_request_log_unjournaled_rows_total (\d+)/m.exec(text)?.[1]) > 100, text.match(/.*journal.*/g)?.join('\n'));
  assert.match(text, /^sallyport_request_log_lost_total 0$/m);
  assert.equal(gateway.lines().filter((line) => line.includes('the journal of the request log')).length, 1);
  await gateway.stop();
  for (const name of files()) rmSync(path.join(folder, name));
});

test('a caller has the end of its answer only when the row is on the disk, where nobody else reads it, and no secret is in it', async () => {
  const running = await startGateway();
  const own = await workspace();
  await makeSecret(own, 'CANARY', { production: 'canary-secret-27182818' });
  await makeRoute(own, 'r', upstream.url, { inject_headers_json: { 'X-Injected': '{{secret:CANARY}}' } });
  await makeRoute(own, 'long', long.url);
  const { text: ownKey } = await own.key();
  await served(running, own);
  const isKept = async (id: string) => textOfFiles().includes(id) || (await logged([id])).length === 1;
  for (const [method, target, status] of [
    ['GET', '/r?token=canary-by-name', 200],
    ['HEAD', '/r', 200],
    ['GET', '/long', 200],
    ['GET', '/nowhere', 404],
    ['POST', '/r', 200],
  ] as const)
    for (let i = 0; i < 5; i++) {
      const headers = { 'x-private': 'canary-header' };
      const answer = await ask(running.port, own.tenant.slug, target, { method, key: ownKey, headers });
      assert.equal(answer.status, status, target);
      const kept = await isKept(answer.headers['x-svc-request-id'] ?? '');
      assert.ok(kept, `${method} ${target}`);
      for (const canary of ['canary-', ownKey]) assert.ok(!textOfFiles().includes(canary), canary);
    }
  const last = ask(running.port, own.tenant.slug, '/r', { key: ownKey });
  await until(() => files().length > 0);
  for (const name of files()) assert.equal(statSync(path.join(folder, name), { throwIfNoEntry: false })?.mode ?? 0o100600, 0o100600);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  await last;
});

test('calls that share a connection are answered in their order, and a stream that is held at its end is whole', async () => {
  const running = await startGateway();
  const own = await workspace();
  const chunks = await startUpstream((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < 3; i++) res.write(`data: ${i}\n\n`);
    res.end();
  });
  await makeRoute(own, 'r', upstream.url);
  await makeRoute(own, 'events', chunks.url);
  const { text: ownKey } = await own.key();
  await served(running, own);
  const one = (target: string, more = '') =>
    `GET ${target} HTTP/1.1\r\nHost: ${own.tenant.slug}.localhost\r\nX-Svc-Key: ${ownKey}\r\n${more}\r\n`;
  const { head, body } = await exchange(
    running.port,
    one('/r') + one('/nowhere') + one('/events') + one('/r', 'Connection: close\r\n'),
    60_000,
  );
  assert.deepEqual(
    [...`${head}\r\n${body}`.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ['200', '404', '200', '200'],
  );
  assert.match(body, /data: 0.*data: 1.*data: 2\n\n\r\n0\r\n\r\nHTTP.*\{"ok":true\}$/s);
});

const rowOf = (request_id: string, path = '/x'): LogRow => ({
  ...{ request_id, tenant_id: w.tenant.id, sandbox: false, ts: new Date().toISOString(), path, method: 'GET', status_code: 200 },
  ...{ route_id: null, matched_client_id: null, identification_method: null, src_ip: '127.0.0.1', environment: null, latency_ms: 1 },
  ...{ upstream_host: null, error: null, rate_limited: false, proxy_mode: 'route', client_origin: 'direct', origin: 'upstream' },
  ...{ upstream_status: 200, upstream_ms: 1, attempts: 1, request_bytes: 0, response_bytes: 2, slug: null, route_name: null },
  ...{ client_name: null, user_agent: null, signature_valid: null, api_key_id: null, oauth_client_id: null, user_id: null },
  ...{ secrets_used: ['S'], warnings: [], error_detail: null, payload_flags: null, node_id: 'n', injected: ['header:a\tb'] },
  trace: { phases_ms: { inspect: 0.1 }, latency_phase: 'complete', request_headers: ['a'], response_headers: [], limits: {} },
});

const textOf = (rows: readonly LogRow[]): string => {
  const batch = batchOf(rows);
  return (
    journalHead.toString() +
    batch
      .message()
      .subarray(batch.end - batch.message().length + 5)
      .toString()
  );
};

function writerOver(where: string, pool: pg.Pool, more: { maxBatch?: number; maxQueue?: number } = {}) {
  const spill = createSpill(path.join(directory, 'no-spill'));
  return createLogWriter({
    pool,
    spill,
    journal: createJournal(where, 'on'),
    stamps: usageStamps(pool),
    nodeId: 'n',
    everyMs: 60_000,
    ...more,
  });
}

const pool = new pg.Pool(connection());
onFileEnd(() => pool.end());

test('files are read whatever a crash or another release made of them, and those of a process that lives are left alone', async () => {
  const where = path.join(directory, 'found');
  mkdirSync(where);
  const put = (name: string, text: string, ageS = 0) => {
    const file = path.join(where, name);
    writeFileSync(file, text);
    const at = Date.now() / 1_000 - ageS;
    utimesSync(file, at, at);
    return file;
  };
  const [torn, damaged, older, left, alone, seen, living, abandoned] = [
    newId(),
    newId(),
    newId(),
    newId(),
    newId(),
    newId(),
    newId(),
    newId(),
  ];
  const [boot, namespace, pid, began] = thisProcess.split('.');
  const ended = [boot, namespace, pid, `${began}0`].join('.');
  const line = textOf([rowOf(torn)]);
  put(
    `${ended}-0.log`,
    `${line}${textOf([rowOf(newId())])
      .split('\n')[1]
      ?.slice(0, -30)}`,
  );
  const broken = [
    `${'x\t'.repeat(38)}x`,
    '\0'.repeat(500),
    textOf([rowOf(newId())])
      .split('\n')[1]
      ?.replace('{"phases', '{"ph"ases'),
  ];
  put(
    `${ended}-1.log`,
    `${broken.reduce((text, one) => `${text}${one}\n`, journalHead.toString())}${textOf([rowOf(damaged)]).split('\n')[1]}\n`,
  );
  const [head = '', row = ''] = textOf([rowOf(older)]).split('\n');
  const before = (text: string) => text.split('\t').toSpliced(head.split('\t').indexOf('warnings') - 1, 1);
  put(`${ended}-2.log`, `${[...before(`x\t${head}`).slice(1), 'of_tomorrow'].join('\t')}\n${[...before(row), 'anything'].join('\t')}\n`);
  put(`left-${thisProcess}-3.log`, textOf([rowOf(left)]));
  put(`${ended}-4.log`, '');
  const unseen = ['ffffffff', namespace, pid, began].join('.');
  put(`${unseen}-5.log`, textOf([rowOf(abandoned)]), 40);
  const kept = [
    put(`${unseen}-6.log`, textOf([rowOf(alone)]), 5),
    put(`${[boot, namespace, process.ppid, lifeOfParent()].join('.')}-7.log`, textOf([rowOf(seen)]), 3_600),
    put(`${thisProcess}-8.log`, textOf([rowOf(living)]), 3_600),
    put(`${ended}-9.log`, 'sallyport-request-log 2\tsomething of tomorrow\n'),
  ];
  const writer = writerOver(where, pool);
  await writer.flush();
  assert.deepEqual(
    (await logged([torn, damaged, older, left, abandoned, alone, seen, living])).sort(),
    [torn, damaged, older, left, abandoned].sort(),
  );
  assert.deepEqual(
    readdirSync(where)
      .map((name) => path.join(where, name))
      .sort(),
    kept.sort(),
  );
  const stored = await db().request_logs.findFirstOrThrow({ where: { request_id: older } });
  assert.deepEqual([stored.warnings, stored.injected, stored.secrets_used], [[], ['header:a\tb'], ['S']]);
  await writer.close();
});

/** As proc_pid_stat(5) has it. */
const lifeOfParent = () => readFileSync(`/proc/${process.ppid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[19];

test('while the database is away rows stay in the journal instead of memory, and whoever comes next writes them once', async () => {
  const where = path.join(directory, 'away');
  const away = new pg.Pool({ connectionString: 'postgresql://postgres@127.0.0.1:1/x', connectionTimeoutMillis: 200 });
  const writer = writerOver(where, away, { maxBatch: 10, maxQueue: 50 });
  const ids = Array.from({ length: 95 }, newId);
  for (const id of ids) writer.take(rowOf(id));
  assert.ok(writer.queued <= 60, `${writer.queued} rows stay in memory`);
  assert.deepEqual(
    readJournal(
      readdirSync(where)
        .map((name) => readFileSync(path.join(where, name), 'utf8').replace(/^sally.*\n/, ''))
        .reduce((all, text) => all + text, journalHead.toString()),
    )
      ?.rows.map((row) => row.request_id)
      .sort(),
    ids.toSorted(),
  );
  await writer.close();
  await away.end();
  const again = readdirSync(where).map((name) => readFileSync(path.join(where, name)));
  const next = writerOver(where, pool);
  await next.flush();
  assert.deepEqual((await logged(ids)).sort(), ids.toSorted());
  assert.deepEqual(readdirSync(where), []);
  // As if the process had been killed between the commit and the deletion.
  for (const [i, text] of again.entries()) writeFileSync(path.join(where, `left-${i}.log`), text);
  const third = writerOver(where, pool);
  await third.flush();
  assert.deepEqual(readdirSync(where), []);
  await allLogged(w, ids);
  for (const one of [next, third]) await one.close();
});

test('a file that rested gets nothing more, since others may have taken it: its rows go to a new one first', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const where = path.join(directory, 'rested');
  const journal = createJournal(where, 'on');
  const rows = Array.from({ length: 3 }, () => rowOf(newId()));
  const batch = batchOf([]);
  const followed = journal.follow(batch);
  const kept = () => textsIn(where).map((text) => readJournal(text)?.rows.map((row) => row.request_id));
  for (const [i, pause] of [0, 5_000, 11_000].entries()) {
    t.mock.timers.setTime(Date.now() + pause);
    batch.add(rows[i] as LogRow);
    assert.equal(followed.whole, false);
    followed.append();
    assert.equal(followed.whole, true);
    assert.ok(kept().some((ids) => ids?.length === i + 1));
  }
});

test('a folder that is gone costs no answer, and the journal is whole again when it is back', async () => {
  const where = path.join(directory, 'gone');
  const batch = batchOf([]);
  const journal = createJournal(where, 'fsync');
  const followed = journal.follow(batch);
  rmSync(where, { recursive: true });
  batch.add(rowOf(newId()));
  followed.append();
  await journal.synced();
  assert.deepEqual([followed.whole, journal.failing], [false, true]);
  mkdirSync(where);
  await until(() => {
    followed.append();
    return followed.whole;
  });
  await journal.synced();
  assert.equal(journal.failing, false);
  followed.drop();
  await until(() => readdirSync(where).length === 0);
});
