import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { createClient } from '#server/domain/clients/service.ts';
import { createCollection } from '#server/domain/collections/service.ts';
import { createEnvironment } from '#server/domain/environments/service.ts';
import { CreateRoute } from '#server/domain/routes/schema.ts';
import { createRoute } from '#server/domain/routes/service.ts';
import { createSecret } from '#server/domain/secrets/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';

// What the SQL function register_table gives a table, read from the catalogue and tried on a table of this test.

const { url } = await ownDatabase();
const rows = async <T extends object>(text: string, values: unknown[] = []) => (await sql().query<T>(text, values)).rows;

/** The migration of a new table, as a family would write it. */
const WIDGETS = `
  CREATE TABLE widgets (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "size" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "widgets_pkey" PRIMARY KEY ("id")
  );
  CREATE FUNCTION widget_document(r widgets) RETURNS search_document LANGUAGE sql STABLE AS $$ SELECT r.name, r.size::text, '{}'::text[], '' $$;`;
const REGISTER = `SELECT register_table('widgets', 'space', counted => true, announced => true, announced_columns => '{size}',
  document => 'widget', document_columns => '{name}', search_text => 'name')`;

/** Runs statements in a transaction of the workspace and space, and keeps what they changed. */
async function within<T>(ctx: Ctx, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await sql().connect();
  try {
    await client.query('begin');
    await client.query(
      "select set_config('app.tenant_id', $1, true), set_config('app.sandbox', $2, true), set_config('role', 'sallyport_app', true)",
      [ctx.tenant_id, String(ctx.sandbox)],
    );
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

const insert = (ctx: Ctx, name: string, owner = ctx) =>
  within(ctx, (client) =>
    client.query('insert into widgets (id, tenant_id, sandbox, name) values (gen_random_uuid(), $1, $2, $3)', [
      owner.tenant_id,
      owner.sandbox,
      name,
    ]),
  );
const names = (ctx: Ctx, text = 'select name from widgets order by name', values: unknown[] = []) =>
  within(ctx, async (client) => (await client.query<{ name: string }>(text, values)).rows.map(({ name }) => name));
const listed = (ctx: Ctx, q: string) =>
  names(ctx, `select w.name from matching_ids('widgets', $1, null, 10) as id join widgets w using (id) order by 1`, [`%${q}%`]);
const found = (ctx: Ctx, q: string) => names(ctx, `select title as name from find_documents($1, '{widget}', 5, false)`, [q]);
const counted = async (ctx: Ctx) =>
  within(ctx, async (client) =>
    Number((await client.query<{ n: string }>("select n from row_counts where kind = 'widgets'")).rows[0]?.n ?? 0),
  );

test('a table gets its row-level security, counter, announcements, document and list search by one call', async () => {
  const [w, other] = [await workspace(), await workspace()];
  await sql().query(WIDGETS);
  await sql().query("insert into widgets (id, tenant_id, sandbox, name) values (gen_random_uuid(), $1, false, 'Made before')", [
    w.tenant.id,
  ]);
  await sql().query(REGISTER);
  await insert(w.live, 'Blue widget');
  await insert(w.test, 'Test widget');
  await insert(other.live, 'Foreign widget');

  assert.deepEqual(await names(w.live), ['Blue widget', 'Made before']);
  assert.deepEqual(await names(w.test), ['Test widget']);
  await assert.rejects(insert(w.live, 'smuggled', other.live), /row-level security/);
  await assert.rejects(insert(w.live, 'smuggled', w.test), /row-level security/);
  assert.deepEqual([await counted(w.live), await counted(w.test), await counted(other.live)], [2, 1, 1]);
  assert.deepEqual(await found(w.live, 'widg'), ['Blue widget']);
  assert.deepEqual(await found(w.live, 'made before'), ['Made before'], 'rows from before are indexed');
  assert.deepEqual(await listed(w.live, 'E'), ['Blue widget', 'Made before']);
  assert.deepEqual(await listed(w.live, 'oreign'), []);
  assert.equal((await rows("select from pg_indexes where indexname = 'widgets_search'")).length, 1);

  await within(w.live, (client) => client.query("update widgets set name = 'Red one' where name = 'Blue widget'"));
  assert.deepEqual([await found(w.live, 'blue'), await found(w.live, 'red')], [[], ['Red one']]);
  await within(w.live, (client) => client.query("delete from widgets where name = 'Red one'"));
  assert.deepEqual([await counted(w.live), await found(w.live, 'red'), await listed(w.live, 'red')], [1, [], []]);
});

test('changes of the announced columns, new rows and deleted ones reach listeners, other changes do not', async () => {
  const w = await workspace();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const heard: (string | undefined)[] = [];
  client.on('notification', ({ payload }) => heard.push(payload));
  await client.query('listen config_changed');
  await insert(w.test, 'noted');
  await within(w.test, (c) => c.query("update widgets set name = 'renamed'"));
  await within(w.test, (c) => c.query('update widgets set size = 2'));
  await within(w.test, (c) => c.query('delete from widgets'));
  await client.query('select 1');
  await client.end();
  assert.deepEqual(heard, Array(3).fill(`${w.tenant.id}:test`));
});

test('registering a table again changes nothing, and with other options replaces what was there', async () => {
  const w = await workspace();
  await insert(w.live, 'Kept');
  const state = () =>
    rows(
      `select (select json_agg(pg_get_triggerdef(oid) order by tgname) from pg_trigger where tgrelid = 'widgets'::regclass) as triggers,
        (select json_agg(p order by policyname) from pg_policies p where tablename = 'widgets') as policies,
        (select json_agg(a order by privilege_type) from pg_class c, aclexplode(relacl) a where c.oid = 'widgets'::regclass) as privileges,
        (select json_agg(d order by ref_id) from search_documents d where type = 'widget') as documents,
        (select json_agg(r order by tenant_id, sandbox) from row_counts r where kind = 'widgets' and n > 0) as counts`,
    );
  const before = await state();
  await sql().query(REGISTER);
  assert.deepEqual(await state(), before);

  await sql().query("SELECT register_table('widgets', 'tenant', privileges => 'SELECT')");
  assert.deepEqual(await rows("select policyname from pg_policies where tablename = 'widgets'"), [{ policyname: 'own_tenant' }]);
  assert.deepEqual(await rows("select tgname from pg_trigger where tgrelid = 'widgets'::regclass"), []);
  await assert.rejects(insert(w.live, 'refused'), /permission denied/);
  await assert.rejects(listed(w.live, 'e'), /there is no search in widgets/);
  await sql().query(REGISTER);
  assert.deepEqual(await state(), before);
});

test('a call that cannot work says why and changes nothing', async () => {
  await sql().query('create table if not exists loose (id uuid not null, tenant_id uuid, sandbox boolean not null)');
  await sql().query('create table if not exists gadgets (id uuid not null, tenant_id uuid not null, sandbox boolean not null)');
  await sql().query('create schema if not exists elsewhere; create table if not exists elsewhere.gadgets (tenant_id uuid not null)');
  for (const [call, problem] of [
    ["'nothing', 'space'", /relation "nothing" does not exist/],
    ["'elsewhere.gadgets', 'tenant'", /not a table of the schema public/],
    ["'gadgets', 'workspace'", /partition must be 'space' or 'tenant', not 'workspace'/],
    ["'gadgets', null", /partition must be 'space' or 'tenant'/],
    ["'loose', 'space'", /cannot register loose: it needs the columns tenant_id uuid NOT NULL/],
    ["'row_counts', 'space', document => 'count'", /it needs the columns id uuid NOT NULL/],
    ["'tenant_policies', 'tenant', counted => true", /it needs the columns sandbox boolean NOT NULL/],
    ["'gadgets', 'space', document => 'gadget'", /create the function gadget_document\(gadgets\) RETURNS search_document first/],
    ["'gadgets', 'space', document => 'x; drop table gadgets'", /create the function x; drop table gadgets_document\(gadgets\)/],
    ["'gadgets', 'space', announced_columns => '{name}'", /announced_columns needs announced => true/],
    ["'gadgets', 'space', announced => true, announced_columns => '{none}'", /column "none" of relation "gadgets" does not exist/],
    ["'gadgets', 'tenant', search_text => 'name'", /only tables of a space have a search_text/],
    ["'gadgets', 'space', privileges => 'EVERYTHING'", /privilege type "everything"/],
  ] as const)
    await assert.rejects(sql().query(`SELECT register_table(${call})`), problem, call);
  await sql().query(
    `create or replace function client_document(r gadgets) returns search_document language sql stable as $$ select '', '', '{}'::text[], '' $$`,
  );
  await assert.rejects(
    sql().query("SELECT register_table('gadgets', 'space', document => 'client')"),
    /'client' is the document of clients/,
  );
  assert.deepEqual(await rows("select relrowsecurity from pg_class where relname = 'gadgets'"), [
    { relrowsecurity: false },
    { relrowsecurity: false },
  ]);
});

test('a list search names no table but registered ones, whatever else has the column', async () => {
  const w = await workspace();
  await sql().query('alter table loose add column if not exists search_text text; grant select on loose to sallyport_app');
  for (const list of [
    'users',
    'loose',
    'row_counts',
    'audit_logs',
    'pg_class',
    'public.clients',
    'Clients',
    'clients; select 1',
    'clients"',
    '',
  ])
    await assert.rejects(
      within(w.live, async (client) => {
        await client.query('create temporary table if not exists users (id uuid, tenant_id uuid, sandbox boolean, search_text text)');
        await client.query('select matching_ids($1, null, null, 1)', [list]);
      }),
      /there is no search in/,
      list,
    );
  await assert.rejects(
    within(w.live, (client) => client.query("select register_table('clients', 'tenant')")),
    /permission denied/,
  );
  await assert.rejects(
    within(w.live, (client) => client.query("select put_document(gen_random_uuid(), 'x', app_tenant(), false, null)")),
    /permission denied/,
  );
});

/** The tables from before register_table: privileges, whether rows are counted, whose changes are announced, document and its columns. */
const MOVED: Record<string, string> = {
  api_key_uses: 'space SELECT',
  api_keys: 'space * announced document api_key(active,name)',
  api_version_days: 'tenant SELECT',
  audit_logs: 'tenant INSERT,SELECT counted searched',
  call_days: 'space SELECT',
  client_authorities: 'tenant *',
  client_credentials: 'space * announced',
  clients: 'space * counted announced document client(enabled,ip_address,name) searched',
  collection_environment_defaults: 'space *',
  collection_variables: 'space * announced',
  collections: 'space * counted announced document collection(name,slug) searched',
  credential_usage: 'space *',
  environments: 'space * counted announced document environment(display_name,is_default,name)',
  explorer_calls: 'space DELETE,INSERT,SELECT',
  idempotency_keys: 'space *',
  memberships: 'tenant *',
  request_log_anchors: 'tenant SELECT',
  route_client_assignments: 'space * announced',
  route_environment_configs: 'space * announced',
  route_examples: 'space *',
  route_log_totals: 'space SELECT',
  routes:
    'space * counted announced(base_environment_id,collection_id,config_version,enabled,name,slug) document route(enabled,name,slug) searched',
  row_counts: 'space SELECT',
  saved_views: 'space *',
  search_documents: 'space SELECT',
  secret_environments:
    'space * announced(current_value_id,environment_name,expires_at_override,oauth2_expires_at,oauth2_retry_at,oauth2_status,refresh_generation,value_version)',
  secret_references: 'space *',
  secret_values: 'space * announced',
  secrets: 'space * counted announced document secret(name,shortcode_name,tags) searched',
  tenant_limit_overrides: 'tenant SELECT',
  tenant_master_keys: 'tenant *',
  tenant_policies: 'tenant *',
  usage_counters: 'tenant SELECT',
};

test('the tables from before have the policies, privileges and triggers they had', async () => {
  const found = await rows<{ name: string; about: string }>(
    `with triggers as (
        select t.*, coalesce((select '(' || string_agg(attname, ',' order by attname) || ')' from pg_attribute where attrelid = tgrelid and attnum = any(tgattr)), '') as columns
        from pg_trigger t)
      select c.relname as name, concat_ws(' ', substr(p.polname, 5),
        (select replace(string_agg(privilege_type, ',' order by privilege_type), 'DELETE,INSERT,SELECT,UPDATE', '*') from aclexplode(c.relacl) where grantee = 'sallyport_app'::regrole),
        (select 'counted' from triggers where tgrelid = c.oid and tgname = 'count_deleted' and tgfoid = 'count_rows'::regproc),
        (select 'announced' || columns from triggers where tgrelid = c.oid and tgfoid = 'announce_config'::regproc),
        (select 'document ' || rtrim(encode(tgargs, 'escape'), '\\0') || columns from triggers where tgrelid = c.oid and tgfoid = 'index_document'::regproc),
        (select 'searched' from pg_indexes where indexname = c.relname || '_search')) as about
      from pg_class c join pg_policy p on p.polrelid = c.oid where c.relrowsecurity and c.relname = any($1) order by 1`,
    [Object.keys(MOVED)],
  );
  assert.deepEqual(Object.fromEntries(found.map(({ name, about }) => [name, about])), MOVED);
  const policies = await rows<{ policyname: string; own: string }>(
    'select distinct policyname, qual || with_check || cmd || permissive || roles::text as own from pg_policies where tablename = any($1)',
    [Object.keys(MOVED)],
  );
  const space = '((tenant_id = app_tenant()) AND (sandbox = app_sandbox()))';
  const tenant = '(tenant_id = app_tenant())';
  assert.deepEqual(policies.map(({ own }) => own).sort(), [space, tenant].map((own) => `${own}${own}ALLPERMISSIVE{sallyport_app}`).sort());
});

test('every type of document says what it said before', async () => {
  const w = await workspace();
  await createEnvironment(w.live, { name: 'staging', display_name: 'Staging area' });
  await createCollection(w.live, { name: 'Team Blue' });
  await createSecret(w.live, { name: 'STRIPE_KEY', value: 'x', tags: ['pci', 'eu'] });
  const client = await createClient(w.live, { name: 'Builder', ip_address: '203.0.113.7' });
  await sql().query(
    "insert into client_credentials (id, tenant_id, sandbox, client_id, kind, ip_range) select gen_random_uuid(), $1, false, $2, 'ip', '10.1.0.0/16'",
    [w.tenant.id, client.id],
  );
  const route = await createRoute(
    w.live,
    CreateRoute.parse({ name: 'PaymentsApi', slug: 'pay', target_base_url: 'https://api.example.com/v1' }),
  );
  await sql().query('update routes set enabled = false where id = $1', [route.id]);
  const { row: key } = await w.key('live', 'Key - Infrastructure', { active: false });
  const documents = await rows<{ type: string; said: unknown[] }>(
    `select type, json_build_array(title, subtitle, badges, words) as said from search_documents
      where tenant_id = $1 and not sandbox and (type <> 'environment' or subtitle = 'staging') order by type`,
    [w.tenant.id],
  );
  const words = async (text: string) =>
    (await rows<{ words: string }>("select array_to_string(search_words($1), ' ') as words", [text]))[0]?.words;
  assert.deepEqual(Object.fromEntries(documents.map(({ type, said }) => [type, said])), {
    api_key: ['Key - Infrastructure', key.key_prefix, ['revoked'], await words(`Key - Infrastructure ${key.key_prefix}`)],
    client: ['Builder', '203.0.113.7', [], await words('Builder 203.0.113.7 10.1.0.0/16')],
    collection: ['Team Blue', 'team-blue', [], await words('Team Blue team-blue')],
    environment: ['Staging area', 'staging', [], await words('Staging area staging')],
    route: ['PaymentsApi', 'api.example.com', ['disabled'], await words('PaymentsApi pay api.example.com')],
    secret: ['STRIPE_KEY', 'STRIPE_KEY', [], await words('STRIPE_KEY pci eu')],
  });
  await sql().query('delete from client_credentials where client_id = $1', [client.id]);
  assert.deepEqual(await rows("select words ~ '\\m16\\M' as held from search_documents where ref_id = $1", [client.id]), [{ held: false }]);
});
