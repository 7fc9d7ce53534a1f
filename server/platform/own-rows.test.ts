import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ownQuery, ownRows } from './own-rows.ts';
import { ownSql } from './sql.ts';

await testDatabase();

type Row = { id: string; tenant_id: string; sandbox: boolean };
/** Filters by the id alone, as a query that forgot its workspace would: only row-level security is left. */
const careless = ownQuery('test-careless', 'select id, tenant_id, sandbox from environments where id = $3::uuid');
const all = ownQuery('test-all', 'select id, tenant_id, sandbox from environments');

const environmentsOf = (tenant_id: string, sandbox: boolean) => db().environments.findMany({ where: { tenant_id, sandbox } });

test('shows rows of the own workspace and space only, even to a query that filters by neither', async () => {
  const [mine, other] = [await workspace(), await workspace()];
  const [here, there, sibling] = await Promise.all([
    environmentsOf(mine.tenant.id, false),
    environmentsOf(other.tenant.id, false),
    environmentsOf(mine.tenant.id, true),
  ]);
  const [own, foreign, test] = [here[0]?.id, there[0]?.id, sibling[0]?.id];
  const live = { tenant_id: mine.tenant.id, sandbox: false };
  // More often than PostgreSQL makes a plan for the values at hand: the generic plan is tested as well.
  for (let i = 0; i < 12; i++) {
    assert.deepEqual(
      (await ownRows<Row>(live, careless, own)).map(({ id }) => id),
      [own],
    );
    assert.deepEqual(await ownRows(live, careless, foreign), []);
    assert.deepEqual(await ownRows(live, careless, test), []);
    assert.deepEqual((await ownRows<Row>({ ...live, sandbox: true }, careless, test)).length, 1);
  }
  const seen = await ownRows<Row>(live, all);
  assert.deepEqual(new Set(seen.map(({ id }) => id)), new Set(here.map(({ id }) => id)));
});

test('parallel calls of several workspaces never see each other’s rows', async () => {
  const several = await Promise.all([workspace(), workspace(), workspace()]);
  await Promise.all(
    Array.from({ length: 150 }, async (_, i) => {
      const own = { tenant_id: several[i % 3]?.tenant.id ?? '', sandbox: i % 2 === 0 };
      const rows = await ownRows<Row>(own, all);
      assert.ok(rows.length > 0);
      for (const row of rows) assert.deepEqual({ tenant_id: row.tenant_id, sandbox: row.sandbox }, own);
    }),
  );
});

test('a connection acts as the application role and keeps no workspace between two statements', async () => {
  const w = await workspace();
  await ownRows({ tenant_id: w.tenant.id, sandbox: false }, all);
  for (let i = 0; i < 10; i++) {
    const { rows } = await ownSql().query(
      'select current_user as role, app_tenant() as tenant, (select count(*)::int from environments) as visible',
    );
    assert.deepEqual(rows, [{ role: 'sallyport_app', tenant: null, visible: 0 }]);
  }
});
