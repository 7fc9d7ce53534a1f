import assert from 'node:assert/strict';
import test from 'node:test';
import { ListClients } from '#server/domain/clients/schema.ts';
import { createClient, deleteClient, listClients, updateClient } from '#server/domain/clients/service.ts';
import { createEnvironment } from '#server/domain/environments/service.ts';
import { deleteRouteEnvironment, putRouteEnvironment } from '#server/domain/routes/environments/service.ts';
import { CreateRoute, ListRoutes, PutRouteEnvironment, UpdateRoute } from '#server/domain/routes/schema.ts';
import { createRoute, listRoutes, updateRoute } from '#server/domain/routes/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';

// A search is answered by a look-up or by reading rows in order: either way the answer is that of the plain query.

await testDatabase();
const ROWS = 6_000;
const clients = (ctx: Ctx, query: object) => listClients(ctx, ListClients.parse(query));
const routes = (ctx: Ctx, query: object) => listRoutes(ctx, ListRoutes.parse(query));

/** Beginnings that thousands share, that few have, and that lie at one end of every order. */
const PARTS = [
  'Payments API',
  'payments-e1',
  '100% payments',
  'a_b',
  'axb',
  'back\\slash',
  "o'brien; drop table clients; --",
  'Größe ÄÖÜ ß',
  '日本語',
  '😀 e1',
  'İstanbul',
  'tab\tx',
];

async function filled(w: Workspace) {
  await sql().query(
    `insert into clients (id, tenant_id, sandbox, name, type, ip_address, enabled, created_at, updated_at)
      select gen_random_uuid(), $1, false,
        case when i <= 600 then 'oldest ' || i when i % 100 = 0 then 'rarely ' || i else (array[${PARTS.map((_, i) => `$${i + 3}`)}])[1 + i % ${PARTS.length}] || ' ' || i end,
        case when i % 3 = 0 then 'user' else 'server' end, '10.0.0.' || i % 250, i % 20 <> 0, now() - ($2::int - i) * interval '1 minute', now()
      from generate_series(1, $2::int) i`,
    [w.tenant.id, ROWS, ...PARTS],
  );
  await sql().query('analyze clients');
}

type Row = { id: string; name: string; type: string; enabled: boolean; created_at: Date };
const rowsOf = async (w: Workspace, q: string): Promise<Row[]> =>
  (
    await sql().query<Row>(
      'select id, name, type, enabled, created_at from clients where tenant_id = $1 and not sandbox and strpos(search_text, lower($2) collate "C") > 0 order by name, id',
      [w.tenant.id, q],
    )
  ).rows;

const w = await workspace();
await filled(w);

const QUERIES = [
  'payments',
  'PAYMENTS API',
  'e1',
  'E',
  '%',
  '_',
  '0%',
  'a_b',
  '\\',
  'back\\',
  "'",
  "o'brien; drop",
  'größe',
  'ß',
  '日',
  '😀',
  'i',
  'oldest',
  'rarely',
  'oldest 77',
  '10.0.0.7',
  '\t',
  'ʻ',
  'nothing like it',
  'x 1',
];

test('a search finds what holds its text, by any order and filter, on every page, asked once and again', async () => {
  for (const q of QUERIES) {
    const plain = await rowsOf(w, q.trim());
    for (const [filter, passes] of [
      [{}, () => true],
      [{ enabled: 'true' }, (row: Row) => row.enabled],
      [{ enabled: 'false', type: 'user' }, (row: Row) => !row.enabled && row.type === 'user'],
    ] as const) {
      const wanted = plain.filter(passes);
      for (const [sort, order] of [
        ['name', 'asc'],
        ['created_at', 'desc'],
      ] as const) {
        const sorted = sort === 'name' ? wanted : wanted.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime());
        const inOrder = order === 'desc' ? sorted.toReversed() : sorted;
        const last = Math.max(1, Math.ceil(wanted.length / 25));
        for (const page of [1, 1, last, ...(order === 'asc' ? [Math.ceil(last / 2), last + 1] : [])]) {
          const got = await clients(w.live, { ...filter, q, sort, order, page, per_page: 25 });
          const what = JSON.stringify({ q, filter, sort, order, page });
          assert.equal(got.total, wanted.length, what);
          assert.deepEqual(
            got.rows.map(({ name }) => name),
            inOrder.slice((page - 1) * 25, page * 25).map(({ name }) => name),
            what,
          );
        }
      }
    }
  }
});

test('the total of a search shows every change at once: of a name, a filter, a new row and one that went', async () => {
  const total = async (query: object) => (await clients(w.live, query)).total;
  const [one] = (await clients(w.live, { q: 'payments api', enabled: 'true' })).rows;
  assert.ok(one);
  const before = {
    all: await total({ q: 'payments' }),
    on: await total({ q: 'payments', enabled: 'true' }),
    both: await total({ type: 'server', enabled: 'true' }),
  };
  assert.ok(before.all > 1_000 && before.on > 1_000 && before.both > 1_000, 'more than is looked up');
  const expect = async (all: number, on: number, what: string) =>
    assert.deepEqual(
      [await total({ q: 'payments' }), await total({ q: 'payments', enabled: 'true' })],
      [before.all + all, before.on + on],
      what,
    );
  await expect(0, 0, 'asked again');
  await updateClient(w.live, { id: one.id, description: 'nobody searches this' });
  await expect(0, 0, 'another field');
  await updateClient(w.live, { id: one.id, enabled: false });
  await expect(0, -1, 'switched off');
  await updateClient(w.live, { id: one.id, name: 'Renamed' });
  await expect(-1, -1, 'renamed');
  await updateClient(w.live, { id: one.id, name: 'Payments again', enabled: true });
  await expect(0, 0, 'and back');
  const made = await createClient(w.live, { name: 'More payments', ip_address: '203.0.113.7' });
  await expect(1, 1, 'one more');
  await deleteClient(w.live, { id: made.id });
  await expect(0, 0, 'and gone');
  await sql().query("update clients set type = 'user' where tenant_id = $1 and type = 'server' and name like 'axb%'", [w.tenant.id]);
  const { rows } = await sql().query<{ n: number }>(
    "select count(*)::int as n from clients where tenant_id = $1 and type = 'server' and enabled",
    [w.tenant.id],
  );
  assert.equal(await total({ type: 'server', enabled: 'true' }), rows[0]?.n, 'many rows at once, without a search');
});

test('a page of a search is the page as it is now, in every order, after any change', async () => {
  const v = await workspace();
  const names = ['beta api', 'Alpha api', 'gamma api', 'delta', 'Epsilon API', 'zeta api'];
  for (const [i, name] of names.entries()) await createClient(v.live, { name, ip_address: `203.0.113.${i + 1}` });
  const assertTrue = async (what: string) => {
    const { rows } = await sql().query<{ id: string; name: string }>(
      `select id, name from clients where tenant_id = $1 and not sandbox and name ilike '%api%' order by name, id`,
      [v.tenant.id],
    );
    for (const order of ['asc', 'desc'])
      for (const page of [1, 2, 3]) {
        const wanted = (order === 'asc' ? rows : rows.toReversed()).slice((page - 1) * 2, page * 2).map(({ id }) => id);
        for (const time of ['first', 'again']) {
          const got = await clients(v.live, { q: 'api', sort: 'name', order, page, per_page: 2 });
          assert.deepEqual([got.rows.map(({ id }) => id), got.total], [wanted, rows.length], `${what}: ${order}, page ${page}, ${time}`);
        }
      }
    const elsewhere = await clients(v.test, { q: 'api', sort: 'name', order: 'asc', page: 1, per_page: 2 });
    assert.deepEqual([elsewhere.rows, elsewhere.total], [[], 0], 'the other space has none');
  };
  await assertTrue('as made');
  const id = async (name: string) => (await v.live.db.clients.findFirstOrThrow({ where: { tenant_id: v.tenant.id, name } })).id;
  await updateClient(v.live, { id: await id('Alpha api'), name: 'alpha api' });
  await assertTrue('a name in lower case');
  await updateClient(v.live, { id: await id('zeta api'), name: 'a zeta api' });
  await assertTrue('another name');
  await updateClient(v.live, { id: await id('delta'), name: 'delta api' });
  await assertTrue('one more that is found');
  await deleteClient(v.live, { id: await id('beta api') });
  await assertTrue('one gone');
  await createClient(v.live, { name: 'an api', ip_address: '203.0.113.77' });
  await assertTrue('one made');
});

test('a transaction counts its own changes and nobody else sees them, also after a rollback', async () => {
  const total = async (ctx: Ctx) => (await clients(ctx, { q: 'payments' })).total;
  const before = await total(w.live);
  await assert.rejects(
    inTransaction(w.live, async (tx) => {
      await tx.clients.deleteMany({ where: { tenant_id: w.tenant.id, sandbox: false, name: { startsWith: 'payments-e1' } } });
      const own = await total({ ...w.live, tx });
      assert.ok(own < before);
      assert.equal(await total({ ...w.live, tx }), own);
      assert.equal(await total(w.live), before, 'nobody else sees it');
      throw new Error('undone');
    }),
    /undone/,
  );
  await createClient(w.live, { name: 'payments next', ip_address: '203.0.113.7' });
  assert.equal(await total(w.live), before + 1);
});

test('a total is that of one space of one workspace', async () => {
  const other = await workspace();
  await filled(other);
  await sql().query("delete from clients where tenant_id = $1 and name like 'payments-e1%'", [other.tenant.id]);
  const [mine, theirs] = [(await rowsOf(w, 'payments')).length, (await rowsOf(other, 'payments')).length];
  assert.notEqual(mine, theirs);
  for (let i = 0; i < 2; i++)
    assert.deepEqual(
      [
        await clients(w.live, { q: 'payments' }),
        await clients(other.live, { q: 'payments' }),
        await clients(w.test, { q: 'payments' }),
      ].map(({ total }) => total),
      [mine, theirs, 0],
    );
});

test('routes of an environment are counted again when one is configured for it or no longer', async () => {
  const total = async (query: object = {}) => (await routes(w.live, { environment: 'staging', ...query })).total;
  await createEnvironment(w.live, { name: 'staging' });
  const made = await Promise.all(
    ['first', 'second'].map((name) => createRoute(w.live, CreateRoute.parse({ name, target_base_url: 'https://api.example.com' }))),
  );
  const put = (id: string) => putRouteEnvironment(w.live, PutRouteEnvironment.parse({ id, env: 'staging' }));
  const seen: number[] = [];
  const look = async () => seen.push(await total(), await total({ q: 'first' }), await total({ enabled: 'true' }));
  await look();
  await look();
  for (const { id } of made) {
    await put(id);
    await look();
  }
  await updateRoute(w.live, UpdateRoute.parse({ id: made[1]?.id, enabled: false }));
  await look();
  await deleteRouteEnvironment(w.live, { id: made[0]?.id ?? '', env: 'staging' });
  await look();
  assert.deepEqual(seen, [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 1, 2, 2, 1, 1, 1, 0, 0]);
  for (const q of ['x', '%', "'"]) assert.equal(await total({ q, collection_id: w.tenant.id }), 0);
});
