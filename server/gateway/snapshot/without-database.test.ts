import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import test, { after } from 'node:test';
import pg from 'pg';
import { freePort } from '#scripts/ports.ts';
import { db } from '#server/platform/db.ts';
import { egressSettings } from '#server/platform/http-out/settings.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { databaseDoor } from '#server/testing/database-door.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { assemble } from '../assemble.ts';
import { ask, makeRoute, makeSecret, startUpstream } from '../gateway.fixture.ts';
import { startGatewayProcess } from '../gateway-process.fixture.ts';
import { createDisk } from './disk.ts';
import type { SpaceRows } from './slices.ts';
import { Snapshots } from './store.ts';

// Gateways that start while the database is away (interface rule 12 §15), and what becomes of the copy they start from.

const { directory } = await ownDatabase();
const folder = path.join(directory, 'snapshot');
const upstream = await startUpstream();

const made = [];
for (const name of ['good', 'changed', 'cut', 'swapped', 'other']) {
  const w = await workspace();
  await makeSecret(w, 'HELD', { production: `held-by-${name}` });
  await makeRoute(w, 'r', upstream.url, { inject_headers_json: { 'X-Held': '{{secret:HELD}}' } });
  made.push({ slug: w.tenant.slug, key: (await w.key()).text, file: path.join(folder, `${w.tenant.id}.live.bin`) });
}
const [good, changed, cut, swapped, other] = made as [Made, Made, Made, Made, Made];
type Made = (typeof made)[number];

/** A gateway had everything, and ended. */
const before = await assemble();
await before.runtime.snapshots.poll();
await before.close(100);

test('a gateway that starts without its database serves what its copy proves, refuses the rest, says so, and goes on when it is back', {
  timeout: 180_000,
}, async () => {
  const intact = readFileSync(changed.file);
  writeFileSync(changed.file, intact.with(intact.length - 40, (intact.at(-40) ?? 0) ^ 1));
  truncateSync(cut.file, 200);
  writeFileSync(swapped.file, readFileSync(other.file));
  const door = await databaseDoor();
  door.shut();
  const metrics = await freePort();
  const gateway = await startGatewayProcess({ DATABASE_URL: door.url, METRICS_PORT: String(metrics) });
  const call = ({ slug, key }: Made, wanted = key) => ask(gateway.port, slug, '/r', { key: wanted });
  for (const one of [good, other]) {
    assert.equal((await call(one)).status, 200);
    assert.match(String(upstream.seen.at(-1)?.headers['x-held']), /^held-by-(?:good|other)$/, 'secrets are in the copy too');
  }
  assert.equal((await call(good, other.key)).status, 401, 'the key of another workspace');
  for (const one of [changed, cut, swapped]) {
    const { status, headers, body } = await call(one);
    assert.deepEqual([status, headers['retry-after']], [503, '5']);
    assert.match(body, /"type":"dependency_unavailable"/);
  }
  const lines = (text: string) => gateway.lines().filter((line) => line.includes(text)).length;
  assert.equal(lines('skipped a configuration snapshot'), 3);
  assert.equal(lines('some of the configuration snapshot on disk is missing'), 1);
  assert.equal(lines('serving the last snapshot'), 1);
  const ready = await ask(gateway.port, good.slug, '/readyz');
  const told = JSON.parse(ready.body) as { status: string; parts: Record<string, { since: string; effect: string }> };
  assert.deepEqual([ready.status, told.status], [200, 'degraded']);
  assert.ok(Date.parse(told.parts.database?.since ?? '') <= Date.now());
  assert.match(told.parts.database?.effect ?? '', /Calls are served from the configuration of 20/);
  assert.match(told.parts.configuration?.effect ?? '', /Some workspaces are missing/);
  assert.doesNotMatch(ready.body, /127\.0\.0\.1|postgres:|ECONN/, 'an open page names no address');
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  assert.match(text, /^sallyport_snapshot_fresh 1$/m);
  assert.match(text, /^sallyport_snapshot_failures [1-9]/m);
  assert.doesNotMatch(gateway.lines().join('\n'), /held-by-/);

  door.open();
  for (const one of [changed, cut, swapped]) await until(async () => (await call(one)).status === 200);
  await until(
    async () => !('database' in ((JSON.parse((await ask(gateway.port, good.slug, '/readyz')).body) as { parts?: object }).parts ?? {})),
  );
  const id = String((await call(good)).headers['x-svc-request-id']);
  await until(async () => (await db().request_logs.count({ where: { request_id: id } })) === 1);
  await gateway.stop();
  assert.equal(createDisk(folder, rootKeys()).read().complete, true, 'and its copy is whole again');
});

test('a copy that another installation sealed serves nothing', { timeout: 120_000 }, async () => {
  const settings = { DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/x', MASTER_KEY_B64: randomBytes(32).toString('base64') };
  const gateway = await startGatewayProcess(settings, { ready: 503 });
  assert.equal((await ask(gateway.port, good.slug, '/r', { key: good.key })).status, 503);
  await gateway.kill();
});

test('a gateway that started without its database ends when that turns out to belong to another root key', {
  timeout: 120_000,
}, async () => {
  const door = await databaseDoor();
  door.shut();
  const settings = { DATABASE_URL: door.url, MASTER_KEY_B64: randomBytes(32).toString('base64') };
  const gateway = await startGatewayProcess(settings, { ready: 503 });
  door.open();
  await until(() => gateway.lines().some((line) => line.includes("the root key doesn't match this database")));
  await gateway.ended;
});

test('a gateway starts over a database that accepts connections and says nothing', { timeout: 120_000 }, async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  after(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const gateway = await startGatewayProcess({ DATABASE_URL: `postgresql://postgres@127.0.0.1:${port}/x` });
  assert.equal((await ask(gateway.port, good.slug, '/r', { key: good.key })).status, 200);
  await until(async () => (await ask(gateway.port, good.slug, '/readyz')).body.includes('database'));
  await gateway.kill();
});

const spaces = (): SpaceRows[] => createDisk(folder, rootKeys()).read().spaces;

test('a copy that is too old, or of a time that has not come, is not fresh, whatever is done to the clock', async (t) => {
  const where = path.join(directory, 'times');
  const pool = new pg.Pool({ connectionString: 'postgresql://postgres@127.0.0.1:1/x', connectionTimeoutMillis: 200 });
  after(() => pool.end());
  const freshAfter = async (confirmedAt: number) => {
    const disk = createDisk(where, rootKeys());
    for (const rows of spaces()) void disk.keep(rows);
    await disk.confirm(confirmedAt);
    const snapshots = new Snapshots({ pool, egress: egressSettings({}), disk: createDisk(where, rootKeys()), maxAgeMs: 3_600_000 });
    await snapshots.start(0);
    await snapshots.close();
    return snapshots;
  };
  assert.equal((await freshAfter(Date.now() - 3_601_000)).fresh, false);
  assert.equal((await freshAfter(Date.now() + 3_601_000)).fresh, false);
  const snapshots = await freshAfter(Date.now() - 3_500_000);
  assert.deepEqual([snapshots.fresh, snapshots.knowsAll], [true, true]);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 86_400_000 });
  assert.ok(snapshots.ageMs() >= 3_500_000, 'a clock that is set back makes nothing young');
  t.mock.timers.setTime(Date.now() + 2 * 86_400_000);
  assert.equal(snapshots.fresh, false);
});

test('a copy that the disk does not take leaves none of before that would be served as confirmed', async () => {
  const where = path.join(directory, 'full');
  const [rows] = spaces() as [SpaceRows];
  const file = path.join(where, `${rows.tenant.id}.${rows.space}.bin`);
  const draft = `${file}.${process.pid}.tmp`;
  const disk = createDisk(where, rootKeys());
  const read = () => createDisk(where, rootKeys()).read();
  const named = (name: string): SpaceRows => ({ ...rows, tenant: { ...rows.tenant, name } as SpaceRows['tenant'] });
  await disk.keep(named('one'));
  await disk.confirm(1_000);
  assert.deepEqual([read().spaces.length, read().confirmedAt, read().complete], [1, 1_000, true]);

  mkdirSync(path.join(draft, 'taken'), { recursive: true });
  await disk.keep(named('two'));
  assert.equal(existsSync(file), false, 'what was revoked since is still good in it');
  await disk.confirm(2_000);
  assert.deepEqual([read().spaces.length, read().confirmedAt, read().complete], [0, 2_000, false]);

  mkdirSync(path.join(file, 'stays'), { recursive: true });
  await disk.keep(named('three'));
  await disk.confirm(3_000);
  assert.equal(read().confirmedAt, 2_000, 'nothing is confirmed beside a copy that stays');

  for (const place of [draft, file]) rmSync(place, { recursive: true });
  await disk.keep(named('three'));
  await disk.confirm(4_000);
  assert.deepEqual([read().spaces.length, read().confirmedAt, read().complete], [1, 4_000, true]);
});

test('what killed gateways left half written is removed, and what another gateway writes now stays', async (t) => {
  const where = path.join(directory, 'drafts');
  await createDisk(where, rootKeys()).confirm(1_000);
  const [left, later, young] = [1, 2, 3].map((pid) => path.join(where, `confirmed.bin.${pid}.tmp`)) as [string, string, string];
  const write = (file: string, at: number) => {
    writeFileSync(file, 'half');
    utimesSync(file, at / 1_000, at / 1_000);
  };
  const now = Date.now();
  write(left, now - 3_600_000);
  write(young, now);
  const disk = createDisk(where, rootKeys());
  assert.deepEqual([left, young].map(existsSync), [false, true]);
  write(later, now - 3_600_000);
  await disk.confirm(2_000);
  assert.equal(existsSync(later), true, 'looked for once in a while');
  t.mock.timers.enable({ apis: ['Date'], now: now + 3_600_000 });
  await disk.confirm(3_000);
  assert.deepEqual([later, young].map(existsSync), [false, false]);
});

test('a folder that cannot be listed for a while costs no copy that is written after it', async (t) => {
  const where = path.join(directory, 'unlisted');
  const disk = createDisk(where, rootKeys());
  await disk.confirm(1_000);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_600_000 });
  renameSync(where, `${where}-away`);
  await disk.confirm(2_000);
  renameSync(`${where}-away`, where);
  await disk.confirm(3_000);
  assert.equal(createDisk(where, rootKeys()).read().confirmedAt, 3_000);
});
