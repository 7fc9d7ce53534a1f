import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import pg from 'pg';
import { handle as handleSession } from '#server/auth/handle.ts';
import { basic, makeClient, post } from '#server/oauth/oauth.fixture.ts';
import { closeDb } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { directory, person } from '#server/scim/scim.fixture.ts';
import { handleTrpc } from '#server/trpc/handle.ts';
import { call } from './calls.ts';
import { dashboardPerson } from './dashboard.ts';
import { ownDatabase } from './database.ts';
import { browser } from './people.ts';
import { until } from './until.ts';

// What the planes of web answer while the database takes no changes, ends statements or ends connections, and that they go on by themselves afterwards.

const { url } = await ownDatabase();
const admin = new pg.Client({ connectionString: url });
await admin.connect();
await admin.query('set default_transaction_read_only = off; set statement_timeout = 0');
after(() => admin.end());
const { rows } = await admin.query<{ name: string }>('select current_database() as name');
const name = rows[0]?.name ?? '';

const d = await directory();
const { text: key } = await d.key();
const client = await makeClient(d);
const member = await dashboardPerson();
await member.join(d.tenant.id, 'owner');

type Answer = { status: number; text: string; headers: Headers };
let serial = 0;
/** A change on each plane. */
const changes: Record<string, () => Promise<Answer>> = {
  'the Management API': () => call('POST', '/collections', { key, body: { name: `c-${serial++}` } }),
  'an idempotent call': () =>
    call('POST', '/collections', { key, body: { name: `i-${serial++}` }, headers: { 'idempotency-key': `k-${serial}` } }),
  tRPC: () =>
    member.call('POST /admin/trpc/collections.create', { name: `t-${serial++}` }, { workspace: d.tenant.slug, handle: handleTrpc }),
  'the dashboard’s other calls': () => member.call('PATCH /admin/settings', { name: `W ${serial++}` }, { workspace: d.tenant.slug }),
  'the session plane': () => browser().post('/auth/magic/start', { email: `someone-${serial++}@${d.domain}` }),
  SCIM: () => d.scim.post('/Users', person(`p-${serial++}@${d.domain}`)),
  OAuth: () => post('/oauth/token', { grant_type: 'client_credentials' }, { authorization: basic(client.client_id, client.secret) }),
};

const all = async () =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(changes).map(async ([plane, change]) => {
        const { status, headers, text } = await change();
        assert.doesNotMatch(text, /sql|statement timeout|read-only transaction|prisma/i, plane);
        return [plane, [status, Number(headers.get('retry-after')) > 0]] as const;
      }),
    ),
  );
const everywhere = <T>(value: T) => Object.fromEntries(Object.keys(changes).map((plane) => [plane, value]));
const works = async () => Object.values(await all()).every(([status]) => status < 300);

/** Settings of the database hold for connections that are opened from now on. */
async function onlyNewConnections(): Promise<void> {
  const others = 'from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()';
  await admin.query(`select pg_terminate_backend(pid) ${others}`, [name]);
  await until(async () => (await admin.query(`select ${others}`, [name])).rowCount === 0, 'the connections are gone');
}

/** Reading on each plane, by who was seen long ago, so that it is noted again. SCIM serves nothing that it can't count. */
const reads: Record<string, () => Promise<Answer>> = {
  'the Management API': () => call('GET', '/collections', { key }),
  tRPC: () => member.call('GET /admin/trpc/collections.list', undefined, { workspace: d.tenant.slug, handle: handleTrpc }),
  'the dashboard’s other calls': () => member.call('GET /admin/settings', undefined, { workspace: d.tenant.slug }),
  'the session plane': () => member.call('GET /auth/me', undefined, { handle: handleSession }),
};

test('while the database takes no changes each plane is read, although it would note who was there', async () => {
  await admin.query("update sessions set last_seen_at = now() - interval '5 minutes'");
  await admin.query("update memberships set last_active_at = now() - interval '1 day'");
  await admin.query(`alter database ${name} set default_transaction_read_only = on`);
  await onlyNewConnections();
  try {
    for (const [plane, read] of Object.entries(reads)) {
      const { status, text } = await read();
      assert.equal(status, 200, `${plane}: ${text}`);
    }
  } finally {
    await admin.query(`alter database ${name} reset default_transaction_read_only`);
    await onlyNewConnections();
  }
});

test('while the database takes no changes each plane answers 503 with Retry-After, and goes on with new connections once it does', async () => {
  assert.ok(await works());
  await admin.query(`alter database ${name} set default_transaction_read_only = on`);
  await onlyNewConnections();
  assert.deepEqual(await all(), everywhere([503, true]));
  assert.equal((await call('GET', '/collections', { key })).status, 200, 'reads go on');
  // Connections that are open by now stay read-only for as long as they live, as those to a former primary do.
  await Promise.all([sql().query('select 1'), sql().query('select 1')]);
  await admin.query(`alter database ${name} reset default_transaction_read_only`);
  await until(works, 'changes are made again');
  const { rows: left } = await sql().query<{ read_only: string }>("select current_setting('default_transaction_read_only') as read_only");
  assert.deepEqual(left, [{ read_only: 'off' }], 'every pool of the process connects anew');
});

test('when statements are ended for their time each plane answers 503 with Retry-After', async () => {
  await admin.query(`alter database ${name} set statement_timeout = '500ms'`);
  await onlyNewConnections();
  await admin.query('begin');
  try {
    await admin.query(`do $$ declare t text; begin
      for t in select format('%I', relname) from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname not like '\\_prisma%'
      loop execute 'lock table ' || t || ' in access exclusive mode'; end loop; end $$`);
    assert.deepEqual(await all(), everywhere([503, true]));
  } finally {
    await admin.query('rollback');
    await admin.query(`alter database ${name} reset statement_timeout`);
  }
  await closeDb();
  await until(works, 'changes are made again');
});

test('a connection that the server ended is told as an outage and not used again', async () => {
  assert.ok(await works());
  await onlyNewConnections();
  const answers = Object.values(await all()).map(([status]) => status);
  assert.ok(
    answers.every((status) => status < 300 || status === 503),
    String(answers),
  );
  await until(works, 'changes are made again');
});
