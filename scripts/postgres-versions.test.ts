import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { after, type TestContext } from 'node:test';
import pg from 'pg';
import { fold } from '#server/kernel/fold.ts';
import { endAll, folderOf } from '#server/testing/processes.ts';
import { until } from '#server/testing/until.ts';
import { type Database, startDatabase } from './database.ts';
import { OLDEST, versionProblem } from './database-version.ts';
import { type Installation, send, signUp, startInstallation } from './installation.fixture.ts';
import { installedVersions } from './postgres-installations.ts';
import { migrate, migrationState } from './schema.ts';

// The service on every PostgreSQL that the documentation names: the migrations, and what a new customer does first, from outside. Versions that aren't installed
// are skipped: `apt-get install postgresql-15`, or `node scripts/fetch-postgres.ts <folder>` and POSTGRES_BINARIES_DIR=<folder>.

const NAMED = [15, 16, 17, 18];
const PACKAGED = 18;
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
const installed = installedVersions();
after(endAll);

/** A new server of that installation, or of the packaged one, for the time of a test. */
async function serverFor(t: TestContext, installation?: string): Promise<{ database: Database; directory: string }> {
  const { directory, remove } = folderOf(`test-${process.pid}-versions`);
  t.after(remove);
  const database = await startDatabase(path.join(directory, 'postgres'), FAST, installation);
  t.after(() => database.stop());
  return { database, directory };
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A workspace whose secret a route adds to calls; answers with what the upstream got. */
async function firstCall({ sandbox, proxy }: Installation, { slug, key }: { slug: string; key: string }): Promise<string | undefined> {
  const seen: (string | undefined)[] = [];
  const upstream = createServer((req, res) => {
    seen.push(req.headers.authorization);
    res.end('{}');
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const made = [
      await send(`${sandbox}/v1/secrets`, { key, body: { name: 'PARTNER_KEY', value: 'the-value-of-the-partner' } }),
      await send(`${sandbox}/v1/routes`, {
        key,
        body: { name: 'Orders', target_base_url: url, inject_headers_json: { Authorization: 'Bearer {{secret:PARTNER_KEY}}' } },
      }),
    ];
    assert.deepEqual(
      made.map(({ status }) => status),
      [201, 201],
    );
    const call = () => send(`${proxy}/p/sandbox-${slug}/orders/charges`, { key });
    await until(async () => (await call()).status === 200, 'the gateway serves the route');
    return seen.at(-1);
  } finally {
    upstream.close();
  }
}

/** The rows of a table that the service's role sees as that workspace. */
const visible = (client: pg.Client, table: string, tenantId: string) =>
  client
    .query(
      `begin; select set_config('app.tenant_id', '${tenantId}', true), set_config('app.sandbox', 'true', true), set_config('role', 'sallyport_app', true)`,
    )
    .then(() => client.query<{ tenant_id: string }>(`select distinct tenant_id from ${table}`))
    .finally(() => client.query('rollback'));

for (const version of NAMED) {
  const installation = installed.find((one) => one.version === version)?.installation;
  const skip = version !== PACKAGED && !installation && `PostgreSQL ${version} is not installed`;

  test(`PostgreSQL ${version} takes all migrations, and a new customer signs up, keeps a secret, calls with it and finds it audited`, {
    skip,
  }, async (t) => {
    const { database, directory } = await serverFor(t, installation);
    const url = database.url('sallyport');
    await migrate(url);
    assert.deepEqual(await migrationState(url), { missing: [], unknown: [] });
    const running = await startInstallation(url, directory);
    const [ours, theirs] = [await signUp(running, `ours-${version}`), await signUp(running, `theirs-${version}`)];
    assert.equal(await firstCall(running, ours), 'Bearer the-value-of-the-partner');

    const { body } = await send(`${running.sandbox}/v1/audit-logs`, { key: ours.key });
    const audited = (body.data as { action: string; resource_type: string }[]).map((entry) => `${entry.resource_type} ${entry.action}`);
    for (const entry of ['secret create', 'route create']) assert.ok(audited.includes(entry), `${entry} in ${audited.join(', ')}`);
    const foreign = (await send(`${running.sandbox}/v1/secrets`, { key: theirs.key })).body.data as { name: string }[];
    assert.ok(foreign.every(({ name }) => name !== 'PARTNER_KEY'));
    await withClient(url, async (client) => {
      assert.equal(
        (await client.query(`select current_setting('server_version')`)).rows[0]?.current_setting.split('.')[0],
        String(version),
      );
      const { rows } = await client.query<{ id: string }>('select id from tenants where slug = $1', [ours.slug]);
      const id = rows[0]?.id ?? '';
      for (const table of ['secrets', 'routes', 'audit_logs'])
        assert.deepEqual((await visible(client, table, id)).rows, [{ tenant_id: id }], table);
    });
    await withClient(url, assertFolds);
    for (const role of running.roles) assert.equal(await role.stop(), 0, role.role);
  });
}

/** `scim_fold` before PostgreSQL 18 is a map made of what memory does (prisma/migrations/20261123011230_platform_scim_fold). */
async function assertFolds(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ code: number; folded: string }>(
    `select code, scim_fold(chr(code)) as folded from generate_series(1, 131071) code
      where code not between 55296 and 57343 and scim_fold(chr(code)) <> normalize(chr(code), NFC)`,
  );
  assert.ok(rows.length > 1_400);
  assert.deepEqual(
    rows.filter(({ code, folded }) => fold(String.fromCodePoint(code)) !== folded),
    [],
  );
  for (const [a, b, same] of [
    ['Ä', 'a\u0308', true],
    ['ΣΑΣ', 'σας', true],
    ['STRASSE', 'straße', false],
  ] as const)
    assert.equal((await client.query('select scim_fold($1) = scim_fold($2) as same', [a, b])).rows[0]?.same, same, `${a} ${b}`);
}

test('an older server is refused with the version that is needed', () => {
  assert.match(versionProblem(140_018) ?? '', /PostgreSQL 14, and Sallyport needs 15 or newer\. Upgrade it/);
  assert.equal(versionProblem(OLDEST * 10_000), undefined);
});

const older = installed.find(({ version }) => version < OLDEST);
test('migrations don’t begin on an older server', { skip: !older && 'no older PostgreSQL is installed' }, async (t) => {
  const { database } = await serverFor(t, older?.installation);
  await assert.rejects(migrate(database.url('sallyport')), /Sallyport needs 15 or newer/);
  await withClient(database.url('postgres'), async (client) => {
    assert.equal((await client.query(`select from pg_database where datname = 'sallyport'`)).rowCount, 0);
  });
});

test('a database whose migration had other words when it was applied goes on with the ones it lacks', async (t) => {
  const { database } = await serverFor(t);
  const url = database.url('sallyport');
  await migrate(url);
  await withClient(url, (client) =>
    client.query(`update _prisma_migrations set checksum = repeat('0', 64) where migration_name like '%_platform_scim_fold'`),
  );
  await migrate(url);
  assert.deepEqual(await migrationState(url), { missing: [], unknown: [] });
});
