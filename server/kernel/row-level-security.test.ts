import assert from 'node:assert/strict';
import test from 'node:test';
import type { PoolClient } from 'pg';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';

// What the second line behind own(ctx) holds against a statement that reaches it, read from the database's own catalogue.

await ownDatabase();
const rows = async <T extends object>(text: string) => (await sql().query<T>(text)).rows;

/** Runs `work` as a tenant-scoped transaction does, and rolls it back. */
async function asTenant(tenantId: string, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await sql().connect();
  try {
    await client.query('begin');
    await client.query(
      "select set_config('app.tenant_id', $1, true), set_config('app.sandbox', 'false', true), set_config('role', 'sallyport_app', true)",
      [tenantId],
    );
    await work(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

test('the tenant role sees no table, partition or view without row-level security, and no policy can be stepped around', async () => {
  const reach =
    "has_table_privilege('sallyport_app', c.oid, 'select, insert, update, delete, truncate') or has_any_column_privilege('sallyport_app', c.oid, 'select, insert, update')";
  const open = await rows<{ name: string }>(
    `select c.relname as name from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f') and not relrowsecurity and (${reach})`,
  );
  assert.deepEqual(open, []);
  const [role] = await rows<object>(
    "select rolsuper, rolbypassrls, rolcreaterole, rolcanlogin from pg_roles where rolname = 'sallyport_app'",
  );
  assert.deepEqual(role, { rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcanlogin: false });
  const owned = await rows<object>("select relname from pg_class where relowner = 'sallyport_app'::regrole");
  assert.deepEqual(owned, [], 'an owner is not bound by its policies');
});

test('no function that runs with more rights than its caller looks into the caller’s temporary tables first', async () => {
  const found = await rows<{ proname: string; path: string | null }>(
    "select proname, (select c from unnest(proconfig) c where c like 'search_path=%') as path from pg_proc where pronamespace = 'public'::regnamespace and prosecdef",
  );
  assert.ok(found.length > 0);
  for (const { proname, path } of found) assert.match(path ?? '', /, pg_temp$/, proname);
});

test('a temporary table does not stand in for the counters or the chain', async () => {
  const w = await workspace();
  await asTenant(w.tenant.id, async (client) => {
    await client.query('create temporary table row_counts (like public.row_counts including all)');
    await client.query(
      `insert into collections (id, tenant_id, sandbox, name, slug) values (gen_random_uuid(), '${w.tenant.id}', false, 'C', 'c')`,
    );
    const counted = await client.query<{ n: string }>("select n from public.row_counts where kind = 'collections' and not sandbox");
    assert.equal(Number(counted.rows[0]?.n), 1);
  });
});
