import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import pg from 'pg';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { png } from './pictures.fixture.ts';
import { fetchDueIcons, iconOrigin } from './service.ts';

const { url } = await testDatabase({ LOG_LEVEL: 'silent' });
const none = new AbortController().signal;
const HOUR = 3_600_000;
const later = (hours = 0) => new Date(Date.now() + 1_000 + hours * HOUR);
const stored = (id: string) => db().routes.findFirstOrThrow({ where: { id } });

async function iconHost(colour = [0, 128, 255, 255]) {
  const host = { calls: 0, icon: png(32, { colour }) as Buffer | null, url: '' };
  const port = await listen(
    createServer((_, res) => {
      host.calls++;
      if (host.icon) res.writeHead(200, { 'content-type': 'text/html' }).end(host.icon);
      else res.writeHead(404).end();
    }),
  );
  host.url = `http://127.0.0.1:${port}`;
  return host;
}

test('a route has the icon of its upstream host after the job, and its writers are told of no change', async () => {
  const w = await workspace();
  const host = await iconHost();
  const route = await made(w.live, 'routes.create', { name: fresh('icon'), target_base_url: `${host.url}/v1` });
  assert.deepEqual([route.favicon_url, route.favicon_data, host.calls], [null, null, 0], 'no write waits for an icon');
  assert.equal(await fetchDueIcons(later(), none), 1);
  const record = await made(w.live, 'routes.update', { id: route.id, timeout_ms: 2_000 });
  assert.equal(record.favicon_url, `${host.url}/favicon.ico`);
  assert.equal(record.favicon_data, `data:image/png;base64,${host.icon?.toString('base64')}`);
  assert.ok(record.favicon_updated_at);
  const before = (await stored(route.id)).updated_at;
  assert.equal(await fetchDueIcons(later(24 * 29), none), 0, 'not again within 30 days');
  assert.equal(await fetchDueIcons(later(24 * 31), none), 1);
  assert.deepEqual((await stored(route.id)).updated_at, before);
  const icons = await made(w.live, 'routes.icons', { ids: route.id });
  assert.deepEqual(icons, [{ route_id: route.id, icon: record.favicon_data }]);
});

test('routes of one host ask it once, and another workspace asks for itself', async () => {
  const [one, two] = [await workspace(), await workspace()];
  const host = await iconHost();
  const all = [];
  for (let i = 0; i < 12; i++)
    all.push(await made(one.live, 'routes.create', { name: fresh('many'), target_base_url: `${host.url}/${i}` }));
  assert.equal(await fetchDueIcons(later(), none), 12);
  assert.equal(host.calls, 1);
  await made(two.live, 'routes.create', { name: fresh('other'), target_base_url: host.url });
  await fetchDueIcons(later(), none);
  assert.equal(host.calls, 2);
  const foreign = await made(two.live, 'routes.icons', { ids: all.map(({ id }) => id).join(',') });
  assert.deepEqual(foreign, [], 'icons of another workspace are nobody’s here');
  assert.deepEqual(await made(one.test, 'routes.icons', { ids: all[0].id }), [], 'and those of the other space neither');
});

test('another upstream host takes the old icon away at once and brings its own; a new path does not', async () => {
  const w = await workspace();
  const [first, second] = [await iconHost(), await iconHost([255, 0, 0, 255])];
  const { id } = await made(w.live, 'routes.create', { name: fresh('moves'), target_base_url: first.url });
  await fetchDueIcons(later(), none);
  await made(w.live, 'routes.update', { id, target_base_url: `${first.url}/v2` });
  assert.ok((await stored(id)).favicon_data);
  await made(w.live, 'routes.environments.put', { id, env: 'production', target_base_url: `${second.url}/v2` });
  assert.deepEqual([(await stored(id)).favicon_data, (await stored(id)).favicon_url], [null, null]);
  await fetchDueIcons(later(), none);
  assert.equal((await stored(id)).favicon_url, `${second.url}/favicon.ico`);
});

test('an answer that arrives after the route was led elsewhere is thrown away', async () => {
  const w = await workspace();
  const [slow, next] = [await iconHost(), await iconHost([255, 0, 0, 255])];
  const { id } = await made(w.live, 'routes.create', { name: fresh('race'), target_base_url: slow.url });
  const found = await fetchDueIcons(later(), none, async () => {
    await made(w.live, 'routes.update', { id, target_base_url: next.url });
    return { status: 200, headers: {}, body: slow.icon as Buffer, truncated: false };
  });
  assert.equal(found, 0);
  assert.equal((await stored(id)).favicon_data, null);
  await fetchDueIcons(later(), none);
  assert.equal((await stored(id)).favicon_url, `${next.url}/favicon.ico`);
});

test('a host that is down keeps its icon; one that shows none any more loses it', async () => {
  const w = await workspace();
  const host = await iconHost();
  const { id } = await made(w.live, 'routes.create', { name: fresh('down'), target_base_url: host.url });
  await fetchDueIcons(later(), none);
  const kept = (await stored(id)).favicon_data;
  await fetchDueIcons(later(24 * 31), none, async () => {
    const { UpstreamFault } = await import('#server/platform/http-out/faults.ts');
    throw new UpstreamFault('upstream_unreachable', 'The host could not be reached.');
  });
  assert.equal((await stored(id)).favicon_data, kept);
  host.icon = null;
  await fetchDueIcons(later(24 * 35), none);
  assert.deepEqual([(await stored(id)).favicon_data, (await stored(id)).favicon_updated_at], [null, null]);
});

test('a host the guard refuses by now is not asked, and is left alone for three days', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'routes.create', { name: fresh('inside'), target_base_url: 'http://127.0.0.1:9' });
  await sql().query(`update route_environment_configs set target_base_url = 'http://169.254.169.254' where route_id = $1`, [id]);
  assert.equal(await fetchDueIcons(later(), none), 0);
  const due = (await stored(id)).favicon_due_at?.getTime() ?? 0;
  assert.ok(due > Date.now() + 71 * HOUR && due < Date.now() + 73 * HOUR);
});

test('an icon makes no gateway read the workspace again', async () => {
  const w = await workspace();
  const host = await iconHost();
  const { id } = await made(w.live, 'routes.create', { name: fresh('quiet'), target_base_url: host.url });
  const ears = new pg.Client({ connectionString: url });
  await ears.connect();
  const told: string[] = [];
  ears.on('notification', ({ payload }) => told.push(payload ?? ''));
  await ears.query('listen config_changed');
  await fetchDueIcons(later(), none);
  assert.ok((await stored(id)).favicon_data);
  await ears.query('select 1');
  assert.deepEqual(told, []);
  await made(w.live, 'routes.update', { id, timeout_ms: 2_000 });
  await ears.query('select 1');
  assert.deepEqual(told, [`${w.tenant.id}:live`], 'a change of the route still does');
  await ears.end();
});

test('our own echo and hosts made of variables have no icon to ask for', () => {
  assert.equal(iconOrigin('https://API.example.com/v1'), 'https://api.example.com');
  assert.equal(iconOrigin('https://api.example.com:8443'), 'https://api.example.com:8443');
  for (const target of [null, undefined, '', 'http://echo.sallyport.internal/x', 'https://{{var:region}}.example.com/v1'])
    assert.equal(iconOrigin(target), null, `${target}`);
});
