import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import pg from 'pg';
import { keyIdOf } from '#server/crypto/tokens.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { egressSettings } from '#server/platform/http-out/settings.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { connection } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { databaseDoor } from '#server/testing/database-door.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { assemble } from '../assemble.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { createDisk } from './disk.ts';
import { Snapshots } from './store.ts';

const { directory } = await testDatabase();
const running = await startGateway();
const { port } = running;
const upstream = await startUpstream();

test('every change is served by announcement alone, long before the poll', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { inject_headers_json: { 'X-A': '1' } });
  const { text: key, row } = await w.key();
  const call = () => ask(port, w.tenant.slug, '/r', { key });
  const steps: [string, () => Promise<unknown>, () => Promise<boolean>][] = [
    ['a new workspace with its route', async () => {}, async () => (await call()).status === 200],
    [
      'settings',
      () => db().route_environment_configs.updateMany({ where: { route_id: route.id }, data: { inject_headers_json: { 'X-A': '2' } } }),
      async () => (await call()) && upstream.seen.at(-1)?.headers['x-a'] === '2',
    ],
    [
      'a switched-off route',
      () => db().routes.update({ where: { id: route.id }, data: { enabled: false } }),
      async () => (await call()).status === 404,
    ],
    [
      'a switched-on route',
      () => db().routes.update({ where: { id: route.id }, data: { enabled: true } }),
      async () => (await call()).status === 200,
    ],
    [
      'a revoked key',
      () => db().api_keys.update({ where: { id: row.id }, data: { active: false } }),
      async () => (await call()).status === 401,
    ],
    [
      'another plan',
      () => db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_plan: 'free' } }),
      async () => running.runtime.snapshots.byId(w.tenant.id)?.live.tenant.rps === 10,
    ],
    [
      'a deleted workspace',
      () => db().tenants.update({ where: { id: w.tenant.id }, data: { deleted_at: new Date() } }),
      async () => (await ask(port, w.tenant.slug, '/r')).status === 404,
    ],
  ];
  for (const [what, change, seen] of steps) {
    await change();
    await until(seen, `${what} is announced`);
  }
});

test('a refresh that was asked for after a change includes it, however many are asked for at once', async () => {
  const w = await workspace();
  await served(running, w);
  for (let i = 0; i < 10; i++) {
    await makeRoute(w, `burst-${i}`, upstream.url);
    await Promise.all(Array.from({ length: 5 }, () => running.runtime.snapshots.refresh(w.tenant.id)));
    assert.ok(running.runtime.snapshots.byId(w.tenant.id)?.live.route(`burst-${i}`), `burst-${i}`);
  }
});

test('a call sees one version of the configuration whole, while it changes under load', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  const route = await makeRoute(w, 'r', `${upstream.url}/v0`, { inject_headers_json: { 'X-Version': '0' } });
  await served(running, w);
  let version = 0;
  let done = false;
  const changer = (async () => {
    while (!done) {
      version++;
      await db().route_environment_configs.updateMany({
        where: { route_id: route.id },
        data: { target_base_url: `${upstream.url}/v${version}`, inject_headers_json: { 'X-Version': String(version) } },
      });
    }
  })();
  const from = upstream.seen.length;
  const versions = () => new Set(upstream.seen.slice(from).map((s) => s.url)).size;
  // A busy machine needs longer until it has served several versions; a test that looks at one version proves nothing.
  try {
    for (let round = 0; round < 100 || versions() < 4; round++)
      await Promise.all(Array.from({ length: 4 }, () => ask(port, w.tenant.slug, '/r', { key })));
  } finally {
    done = true;
    await changer;
  }
  const seen = upstream.seen.slice(from);
  for (const s of seen) assert.equal(s.url, `/v${s.headers['x-version']}`);
});

test('an exception that an operator made for a time ends at its time, without anything being announced', async (t) => {
  const w = await workspace({ plan: 'free' });
  const expires_at = new Date(Date.now() + 3_600_000);
  for (const [kind, value] of [
    ['tenant_rps', 77],
    ['api_calls', null],
  ] as const)
    await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind, value, expires_at } });
  await served(running, w);
  const tenant = () => running.runtime.snapshots.byId(w.tenant.id)?.live.tenant;
  assert.deepEqual([tenant()?.rps, tenant()?.monthlyCalls], [77, null]);
  t.mock.timers.enable({ apis: ['Date'], now: expires_at });
  assert.deepEqual([tenant()?.rps, tenant()?.monthlyCalls], [10, 10_000]);
});

test('a missed announcement is found by the poll', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const marker = await makeRoute(other, 'marker', upstream.url);
  const client = new pg.Client(connection());
  await client.connect();
  // As a change whose announcement was lost: the trigger does not fire.
  await client.query('set session_replication_role = replica');
  await client.query('update routes set enabled = enabled where false');
  const route = await makeRoute(w, 'quiet', upstream.url);
  // Announcements are heard in order: when one of another workspace has been heard, so have all before it.
  const heardAll = async (slug: string) => {
    await client.query('update routes set slug = $1 where id = $2', [slug, marker.id]);
    await client.query("select pg_notify('config_changed', $1)", [other.tenant.id]);
    await until(() => running.runtime.snapshots.byId(other.tenant.id)?.live.route(slug) !== undefined);
  };
  await heardAll('made');
  await served(running, w);
  await client.query('update routes set enabled = false where id = $1', [route.id]);
  await heardAll('changed');
  await client.end();
  assert.equal(running.runtime.snapshots.byId(w.tenant.id)?.live.route('quiet')?.enabled, true);
  await running.runtime.snapshots.poll();
  assert.equal(running.runtime.snapshots.byId(w.tenant.id)?.live.route('quiet')?.enabled, false);
});

test('the copy on disk is sealed, bound to its name, and worthless when it was tampered with', async () => {
  const w = await workspace();
  await makeSecret(w, 'CANARY', { production: 'canary-plaintext' }, { description: 'canary-description' });
  await makeRoute(w, 'canary-route', upstream.url);
  await served(running, w);
  const folder = path.join(directory, 'snapshot');
  const file = path.join(folder, `${w.tenant.id}.live.bin`);
  await until(() => existsSync(file));
  await until(() =>
    createDisk(folder, rootKeys())
      .read()
      .spaces.some((s) => s.tenant.id === w.tenant.id && s.routes.length === 1),
  );
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(path.join(folder, name)).toString('latin1');
    for (const canary of ['canary', w.tenant.slug, 'routes']) assert.ok(!bytes.includes(canary), `${canary} in ${name}`);
  }
  const other = path.join(folder, `${newId()}.live.bin`);
  writeFileSync(other, readFileSync(file));
  assert.equal(
    createDisk(folder, rootKeys())
      .read()
      .spaces.filter((s) => s.tenant.id === w.tenant.id && s.space === 'live').length,
    1,
  );
});

/** A pool that keeps the names of the statements that it ran, and whose commits wait for `beforeCommit`. */
function watchedPool(beforeCommit: () => Promise<void> | undefined = () => undefined) {
  const { idleTimeoutMillis: _, ...config } = connection();
  const pool = new pg.Pool({ ...config, max: 2 });
  const ran: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      const [statement] = given as [string | { name?: string; text: string }];
      const name = typeof statement === 'string' ? statement : (statement.name ?? statement.text);
      if (name.startsWith('snapshot-')) ran.push(name);
      const wait = name === 'commit' ? beforeCommit() : undefined;
      return wait === undefined ? query(...given) : wait.then(() => query(...given));
    }) as typeof client.query;
  });
  after(() => pool.end());
  return { pool, ran };
}

const FINGERPRINT = 'snapshot-fingerprints-of';

test('a change reloads the slice it belongs to and no other, and nothing when nothing has changed', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url);
  await w.key();
  const secret = await makeSecret(w, 'S', { production: 'value' });
  const { pool, ran } = watchedPool();
  const snapshots = new Snapshots({ pool, egress: egressSettings({}), maxAgeMs: 60_000 });
  await snapshots.refresh(w.tenant.id);
  const picture = () => snapshots.byId(w.tenant.id)?.live;
  const scope = { tenant_id: w.tenant.id, sandbox: false };
  const client = { id: newId(), ...scope, name: 'office', ip_address: '203.0.113.9' };
  const changes: [string[], () => Promise<unknown>, () => unknown][] = [
    [
      ['snapshot-clients-client_ranges', 'snapshot-clients-client_certificates', 'snapshot-clients-signers'],
      async () => {
        await db().clients.create({ data: client as never });
        await db().client_credentials.create({
          data: { id: newId(), ...scope, client_id: client.id, kind: 'ip', ip_range: '203.0.113.9/32' } as never,
        });
      },
      () => picture()?.clientsAt('203.0.113.9')[0]?.client.name === 'office',
    ],
    [
      ['snapshot-routes-routes', 'snapshot-routes-configs', 'snapshot-routes-assignments', 'snapshot-routes-field_actions'],
      () => db().routes.update({ where: { id: route.id }, data: { enabled: false } }),
      () => picture()?.route('r')?.enabled === false,
    ],
    [
      ['snapshot-secrets-secrets', 'snapshot-secrets-secret_values', 'snapshot-secrets-secret_links'],
      () => db().secrets.delete({ where: { id: secret.id } }),
      () => picture()?.secretByName('S') === undefined,
    ],
    [
      ['snapshot-tenants'],
      () => db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_plan: 'free' } }),
      () => picture()?.tenant.plan === 'free',
    ],
    [[], async () => {}, () => true],
  ];
  for (const [queries, change, seen] of changes) {
    await change();
    const before = picture();
    ran.length = 0;
    await snapshots.refresh(w.tenant.id);
    assert.deepEqual(ran, [FINGERPRINT, ...queries]);
    assert.ok(seen(), `${queries}`);
    assert.equal(picture() === before, queries.length === 0, 'a picture is replaced, never changed');
    assert.equal(picture()?.secretByName('nobody'), undefined);
  }
  assert.equal(snapshots.sizes().clients, 1);
  await snapshots.close();
});

test('a slice that was emptied is not taken for one that did not change, nor is a copy on disk for the truth', async () => {
  const w = await workspace();
  const { row, text } = await w.key();
  let held: Promise<void> | undefined;
  const { pool } = watchedPool(() => held);
  const disk = createDisk(path.join(directory, 'emptied'), rootKeys());
  const make = () => new Snapshots({ pool, disk, egress: egressSettings({}), maxAgeMs: 60_000 });
  const first = make();
  await first.refresh(w.tenant.id);
  await first.close();
  await db().api_keys.deleteMany({ where: { tenant_id: w.tenant.id } });
  await first.refresh(w.tenant.id);
  const keyId = keyIdOf(text);
  assert.equal(first.byId(w.tenant.id)?.live.key(keyId), undefined);

  await db().api_keys.create({ data: row as never });
  const second = make();
  await second.refresh(w.tenant.id);
  assert.ok(second.byId(w.tenant.id)?.live.key(keyId));
  await second.close(); // its copy has the key
  await db().api_keys.deleteMany({ where: { tenant_id: w.tenant.id } });
  const reborn = make();
  after(() => reborn.close());
  const loaded = Promise.withResolvers<void>();
  held = loaded.promise;
  await reborn.start(0);
  assert.ok(reborn.byId(w.tenant.id)?.live.key(keyId), 'a database that takes long is not waited for: the copy is served');
  loaded.resolve();
  await reborn.poll();
  assert.equal(reborn.byId(w.tenant.id)?.live.key(keyId), undefined);
});

test('a poll that read its rows before a key was revoked does not bring the key back', async () => {
  const w = await workspace();
  const { row, text } = await w.key();
  let release = () => {};
  let held: Promise<void> | undefined;
  let waiting = false;
  const { pool } = watchedPool(() => {
    waiting = held !== undefined;
    const wait = held;
    held = undefined; // only the first commit
    return wait;
  });
  const snapshots = new Snapshots({ pool, egress: egressSettings({}), maxAgeMs: 60_000 });
  after(() => snapshots.close());
  await snapshots.refresh(w.tenant.id);
  const key = () => snapshots.byId(w.tenant.id)?.live.key(keyIdOf(text));
  assert.ok(key());
  await db().api_keys.update({ where: { id: row.id }, data: { name: 'renamed' } }); // gives the poll something to load
  held = new Promise((resolve) => {
    release = resolve;
  });
  const polled = snapshots.poll();
  await until(() => waiting);
  await db().api_keys.update({ where: { id: row.id }, data: { active: false } });
  await snapshots.refresh(w.tenant.id);
  assert.equal(key(), undefined);
  release();
  await polled;
  assert.equal(key(), undefined);
});

test('a copy on disk that lacks a list of this release is skipped, since missing rows are no empty ones', async () => {
  const w = await workspace();
  await w.key();
  const folder = path.join(directory, 'older');
  const disk = createDisk(folder, rootKeys());
  const { pool } = watchedPool();
  const snapshots = new Snapshots({ pool, disk, egress: egressSettings({}), maxAgeMs: 60_000 });
  await snapshots.refresh(w.tenant.id);
  await snapshots.close();
  const { spaces } = createDisk(folder, rootKeys()).read();
  assert.deepEqual(spaces.map(({ space }) => space).sort(), ['live', 'test']);
  for (const { api_keys: _, ...rows } of spaces) await disk.keep(rows as never);
  assert.deepEqual(createDisk(folder, rootKeys()).read().spaces, []);
});

test('a call never sees half of a transaction that changed several slices, however often it is announced', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'pair', upstream.url);
  const collection = await db().collections.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'c', slug: 'c' } as never,
  });
  const variable = await db().collection_variables.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      sandbox: false,
      collection_id: collection.id,
      key: 'v',
      type: 'value',
      value: 'n0',
    } as never,
  });
  await served(running, w);
  let done = false;
  let halves = 0;
  let seen = 0;
  let last = '';
  const look = () => {
    const { live } = running.runtime.snapshots.byId(w.tenant.id) ?? {};
    const held = live?.variable('c', 'v', null);
    const value = held?.type === 'value' ? held.value : '';
    if (live?.route('pair')?.name !== `Route ${value}`) halves++;
    if (value !== last) seen++;
    last = value;
    if (!done) setImmediate(look);
  };
  await db().routes.update({ where: { id: route.id }, data: { name: 'Route n0' } });
  await served(running, w);
  look();
  let written = 0;
  while (written < 40 || seen <= 3) {
    written++;
    await db().$transaction([
      db().routes.update({ where: { id: route.id }, data: { name: `Route n${written}` } }),
      db().collection_variables.update({ where: { id: variable.id }, data: { value: `n${written}` } }),
    ]);
  }
  await until(() => last === `n${written}`);
  done = true;
  assert.equal(halves, 0);
});

test('without its database the gateway goes on serving, keeps the logs, counts, and heals by itself', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  const secret = await makeSecret(w, 'HELD', { production: 'held-value' });
  await makeRoute(w, 'r', upstream.url, { inject_headers_json: { 'X-Held': `{{secret_id:${secret.id}}}` } });

  const door = await databaseDoor();
  const { Pool } = pg;
  const pool = new Pool({ connectionString: door.url, connectionTimeoutMillis: 30_000, max: 3 });
  pool.on('error', () => {});
  const disk = createDisk(path.join(directory, 'door-snapshot'), rootKeys());
  const egress = egressSettings({ privateAllowlist: [{ cidr: '127.0.0.0/8' }] });
  const open: Snapshots[] = [];
  const snapshotsOf = (files: ReturnType<typeof createDisk>, maxAgeMs: number) => {
    const made = new Snapshots({ pool, egress, disk: files, maxAgeMs });
    open.push(made);
    return made;
  };
  after(async () => {
    for (const one of open) await one.close();
    await pool.end();
  });
  const snapshots = snapshotsOf(disk, 60_000);
  await snapshots.start();
  assert.ok(snapshots.byId(w.tenant.id)?.live.route('r'));
  await disk.settled();
  door.shut();
  await snapshots.poll();
  assert.ok(snapshots.fresh);
  assert.ok(snapshots.byId(w.tenant.id)?.live.route('r'), 'it still serves');
  await assert.rejects(snapshots.refresh(w.tenant.id));

  // A gateway that starts meanwhile has the same picture, from disk.
  const reborn = snapshotsOf(createDisk(path.join(directory, 'door-snapshot'), rootKeys()), 60_000);
  await reborn.start(50);
  assert.ok(reborn.fresh);
  assert.equal(reborn.byId(w.tenant.id)?.live.route('r')?.slug, 'r');
  assert.equal(reborn.byId(w.tenant.id)?.live.secretByName('HELD')?.values.size, 1);
  assert.ok(reborn.byId(w.tenant.id)?.row.keys.length);
  const strict = snapshotsOf(createDisk(path.join(directory, 'door-snapshot'), rootKeys()), 1);
  await strict.start(50);
  assert.equal(strict.fresh, false);

  await makeRoute(w, 'made-meanwhile', upstream.url);
  door.open();
  for (const one of [snapshots, reborn]) await until(() => one.byId(w.tenant.id)?.live.route('made-meanwhile') !== undefined);
  await served(running, w);
  assert.equal((await ask(port, w.tenant.slug, '/r', { key })).status, 200);
});

test('a whole gateway whose database connections are cut answers every call, and loses no log row', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  await makeRoute(w, 'r', upstream.url);
  await served(running, w);
  const killer = new pg.Client(connection());
  await killer.connect();
  const route = await db().routes.findFirstOrThrow({ where: { tenant_id: w.tenant.id, slug: 'r' } });
  let calls = 0;
  for (let round = 0; round < 5; round++) {
    await killer.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'sallyport-%' and datname = current_database()",
    );
    for (let i = 0; i < 5; i++) {
      const answer = await ask(port, w.tenant.slug, '/r', { key });
      assert.equal(answer.status, 200, answer.body);
      calls++;
    }
  }
  await killer.end();
  await until(async () => {
    await running.flush();
    return (await db().request_logs.count({ where: { route_id: route.id } })) === calls;
  });
  await makeRoute(w, 'afterwards', upstream.url);
  await until(async () => (await ask(port, w.tenant.slug, '/afterwards', { key })).status === 200);
});

test('a snapshot nobody could confirm for too long serves nothing, and says what is missing', async () => {
  process.env.SNAPSHOT_MAX_AGE_SECONDS = '3600';
  assert.equal(env.SNAPSHOT_MAX_AGE_SECONDS, 3600);
  const w = await workspace();
  const { text: key } = await w.key();
  await makeRoute(w, 'r', upstream.url);
  const old = await assemble();
  const { port: oldPort } = await old.gateway.listen('proxy', 0, '127.0.0.1');
  Object.defineProperty(old.runtime.snapshots, 'fresh', { value: false });
  const answer = await ask(oldPort, w.tenant.slug, '/r', { key });
  assert.deepEqual([answer.status, answer.headers['x-svc-error'], answer.headers['retry-after']], [503, 'dependency_unavailable', '5']);
  assert.equal((await ask(oldPort, w.tenant.slug, '/readyz')).status, 503);
  assert.equal((await ask(oldPort, w.tenant.slug, '/healthz')).status, 200);
  await old.close(100);
});

test('a call that was served from an old picture says in its log row how old it was', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  await makeRoute(w, 'r', upstream.url);
  const old = await assemble();
  after(() => old.close(100));
  const { port: oldPort } = await old.gateway.listen('proxy', 0, '127.0.0.1');
  const warnings = async (ageMs: number) => {
    Object.defineProperty(old.runtime.snapshots, 'ageMs', { value: () => ageMs, configurable: true });
    const { headers, status } = await ask(oldPort, w.tenant.slug, '/r', { key });
    assert.equal(status, 200);
    await old.flush();
    const row = await db().request_logs.findFirstOrThrow({ where: { request_id: headers['x-svc-request-id'] ?? '' } });
    return row.warnings;
  };
  assert.deepEqual(await warnings(60_000), [], 'two polls that were missed are no news');
  assert.deepEqual(await warnings(754_321), ['unconfirmed:754']);
});
