import assert from 'node:assert/strict';
import test from 'node:test';
import { ListClients } from '#server/domain/clients/schema.ts';
import { createClient, listClients } from '#server/domain/clients/service.ts';
import { ListRoutes } from '#server/domain/routes/schema.ts';
import { listRoutes } from '#server/domain/routes/service.ts';
import { ListSecrets } from '#server/domain/secrets/schema.ts';
import { createSecret, listSecrets } from '#server/domain/secrets/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';

// Pages and totals of lists that are larger than what is ever counted row by row.

await ownDatabase();
const ROWS = 36_000;
const clients = (ctx: Ctx, query: object) => listClients(ctx, ListClients.parse(query));
const secrets = (ctx: Ctx, query: object) => listSecrets(ctx, ListSecrets.parse(query));

/** Half of the clients are users, one in twenty is off; a hundred share each instant. Triggers sleep meanwhile, so the count they keep is written. */
async function filled(w: Workspace) {
  const client = await sql().connect();
  try {
    await client.query('begin; set local session_replication_role = replica');
    await client.query(
      `insert into clients (id, tenant_id, sandbox, name, type, ip_address, enabled, created_at, updated_at)
        select gen_random_uuid(), $1, false, 'Client ' || md5(i::text), case when i % 2 = 0 then 'user' else 'server' end, '10.0.0.1', i % 20 <> 0,
          now() - (i / 100) * interval '1 minute', now() from generate_series(1, $2::int) i`,
      [w.tenant.id, ROWS],
    );
    await client.query("insert into row_counts (tenant_id, sandbox, kind, n) values ($1, false, 'clients', $2)", [w.tenant.id, ROWS]);
    await client.query('commit');
  } finally {
    client.release();
  }
}

test('every page of a long list is the slice it names, counted from either end, and its total is the true one', async () => {
  const w = await workspace();
  await filled(w);
  const { rows } = await sql().query<{ id: string; type: string; enabled: boolean; name: string; created_at: Date }>(
    'select id, type, enabled, name, created_at from clients where tenant_id = $1',
    [w.tenant.id],
  );
  const orders = {
    created_at: (a: (typeof rows)[0], b: (typeof rows)[0]) => a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : 1),
    name: (a: (typeof rows)[0], b: (typeof rows)[0]) => (a.name < b.name ? -1 : 1),
  };
  const filters: [object, (row: (typeof rows)[0]) => boolean][] = [
    [{}, () => true],
    [{ type: 'user' }, (row) => row.type === 'user'],
    [{ enabled: 'true' }, (row) => row.enabled],
    [{ enabled: 'false' }, (row) => !row.enabled],
    [{ type: 'user', enabled: 'false' }, (row) => row.type === 'user' && !row.enabled],
    [{ q: 'abc' }, (row) => row.name.includes('abc')],
    [{ q: 'CLIENT' }, () => true],
    [{ q: 'e1' }, (row) => row.name.includes('e1')],
    [{ q: 'e1', enabled: 'true' }, (row) => row.name.includes('e1') && row.enabled],
    [{ q: 'abc', type: 'server' }, (row) => row.name.includes('abc') && row.type === 'server'],
    [{ q: 'no such thing', type: 'server' }, () => false],
  ];
  for (const [sort, compare] of Object.entries(orders)) {
    const sorted = rows.toSorted(compare);
    for (const [filter, passes] of filters)
      for (const order of ['asc', 'desc']) {
        const wanted = sorted.filter(passes);
        if (order === 'desc') wanted.reverse();
        const last = Math.max(1, Math.ceil(wanted.length / 17));
        for (const page of new Set([1, Math.ceil(last / 2), Math.ceil(last / 2) + 1, last, last + 1]))
          if (page > 0) {
            const got = await clients(w.live, { ...filter, sort, order, page, per_page: 17 });
            const what = JSON.stringify({ filter, sort, order, page });
            assert.equal(got.total, wanted.length, what);
            assert.deepEqual(
              got.rows.map((row) => row.id),
              wanted.slice((page - 1) * 17, page * 17).map((row) => row.id),
              what,
            );
          }
      }
  }
  assert.equal((await clients(w.test, {})).total, 0);
});

test('pages come from an index under row-level security, without reading or sorting the other rows', async () => {
  const w = await workspace();
  await filled(w);
  await sql().query('analyze clients');
  await read(w.live, async (tx) => {
    for (const [sort, order] of [
      ['created_at', 'desc'],
      ['name', 'asc'],
      ['ip_address', 'asc'],
    ]) {
      const plan = await tx.$queryRawUnsafe<{ 'QUERY PLAN': string }[]>(
        `explain select id from clients where tenant_id = $1::uuid and sandbox = $2::boolean order by ${sort} ${order}, id ${order} limit 20`,
        w.tenant.id,
        false,
      );
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(text, new RegExp(`Index (?:Only )?Scan using clients_tenant_id_sandbox_${sort}_id_idx`), sort);
      assert.doesNotMatch(text, /Sort|Seq Scan|Bitmap/, sort);
    }
  });
});

test('a search takes its text as it stands, whatever the case, and finds nothing of another space or workspace', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const made = async (ctx: Ctx, name: string) => (await createClient(ctx, { name, ip_address: '203.0.113.7' })).id;
  const percent = await made(w.live, '100% of it');
  const under = await made(w.live, 'a_b');
  const slash = await made(w.live, 'back\\slash');
  const umlaut = await made(w.live, 'Größe ÄÖÜ');
  await made(w.live, '100 of it');
  await made(w.live, 'axb');
  for (const ctx of [w.test, other.live]) await made(ctx, '100% of it');
  const found = async (q: string) => (await clients(w.live, { q })).rows.map((row) => row.id);
  assert.deepEqual(await found('0%'), [percent]);
  assert.deepEqual(await found('A_B'), [under]);
  assert.deepEqual(await found('back\\'), [slash]);
  assert.deepEqual(await found('\\'), [slash]);
  assert.deepEqual(await found('größe äö'), [umlaut]);
  assert.deepEqual(await found("'; drop table clients; --"), []);
  assert.equal((await found('203.0.113')).length, 6);
  assert.deepEqual((await clients(w.live, { q: '100%', page: 3 })).rows, []);
  assert.equal((await clients(w.live, { q: '100%', page: 3 })).total, 1);
});

test('a tag is found whole, beside a part of the name', async () => {
  const w = await workspace();
  for (const [name, tags] of [
    ['STRIPE_KEY', ['pci', 'eu']],
    ['STRIPE_OLD', ['pci-old']],
    ['MAILER', ['pci']],
  ] as const)
    await createSecret(w.live, { name, value: 'x', tags: [...tags] });
  const names = async (query: object) => (await secrets(w.live, query)).rows.map((row) => row.name);
  assert.deepEqual(await names({ tag: 'pci' }), ['MAILER', 'STRIPE_KEY']);
  assert.deepEqual(await names({ tag: 'pci', q: 'stripe' }), ['STRIPE_KEY']);
  assert.deepEqual(await names({ tag: 'pci', q: 'stripe', secret_type: 'oauth2' }), []);
});

test('the look-ups that run with their owner’s rights answer for the caller’s space alone, and for no table but the lists’', async () => {
  const w = await workspace();
  await createClient(w.live, { name: 'mine', ip_address: '203.0.113.7' });
  const client = await sql().connect();
  const asked = async (text: string, values: unknown[] = []) => (await client.query<{ n: number }>(text, values)).rows[0]?.n;
  try {
    await client.query('begin; set local role sallyport_app');
    const count = "select matching_count('clients', '%', null)::int as n";
    assert.equal(await asked(count), 0, 'without a space there is nothing');
    await client.query("select set_config('app.tenant_id', $1, true), set_config('app.sandbox', 'true', true)", [w.tenant.id]);
    assert.equal(await asked(count), 0);
    await client.query("select set_config('app.sandbox', 'false', true)");
    assert.equal(await asked(count), 1);
    await client.query('savepoint s');
    await assert.rejects(asked("select matching_count('users', '%', null)::int as n"), /no search in users/);
    await client.query('rollback to s');
    await assert.rejects(
      asked(`select count(*)::int as n from matching_ids('clients; select 1', '%', null, 1)`),
      /no search in clients; select 1/,
    );
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('where the extensions may not be created the search answers all the same, and the installation goes on', async () => {
  const w = await workspace();
  await createClient(w.live, { name: 'Findable', ip_address: '203.0.113.7' });
  const client = await sql().connect();
  try {
    await client.query('create role limited; drop extension pg_trgm cascade');
    await client.query(
      'begin; grant all on schema public to limited; grant execute on function add_search_indexes to limited; set local role limited',
    );
    assert.equal((await client.query<{ made: boolean }>('select add_search_indexes() as made')).rows[0]?.made, false);
    await client.query('rollback');
    assert.equal((await clients(w.live, { q: 'NDAB' })).total, 1);
    assert.equal((await listRoutes(w.live, ListRoutes.parse({ q: 'x' }))).total, 0);
    assert.equal((await client.query<{ made: boolean }>('select add_search_indexes() as made')).rows[0]?.made, true);
    assert.equal((await client.query("select from pg_indexes where indexname = 'clients_search'")).rowCount, 1);
    assert.equal((await clients(w.live, { q: 'NDAB' })).total, 1);
  } finally {
    client.release();
    await sql()
      .query('drop owned by limited; drop role limited')
      .catch(() => {});
  }
});
