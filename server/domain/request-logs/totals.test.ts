import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { sql } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

type Minute = { route: string; minute: number; status?: number; count: number };

/** Adds calls as the gateway's writer does: a new minute is inserted, a known one grows. */
const add = (tenant: string, minutes: readonly Minute[]) =>
  sql().query(
    `insert into request_rollups as r (tenant_id, sandbox, minute, route_id, environment, status_class, count)
      select $1, false, to_timestamp(m * 60), route, '', status, n from unnest($2::int[], $3::uuid[], $4::int[], $5::int[]) as u(m, route, status, n) order by 3, 4, 6
      on conflict (tenant_id, sandbox, minute, route_id, environment, status_class) do update set count = r.count + excluded.count`,
    [tenant, minutes.map((m) => m.minute), minutes.map((m) => m.route), minutes.map((m) => m.status ?? 2), minutes.map((m) => m.count)],
  );

const totals = async (tenant: string): Promise<Record<string, number>> => {
  const { rows } = await sql().query<{ route_id: string; n: string }>('select route_id, n from route_log_totals where tenant_id = $1', [
    tenant,
  ]);
  return Object.fromEntries(rows.map((row) => [row.route_id, Number(row.n)]));
};

test("a route's total follows its minutes as they are added, grow and are removed", async () => {
  const { tenant } = await workspace();
  const [a, b] = [randomUUID(), randomUUID()];
  await add(tenant.id, [
    { route: a, minute: 1, count: 3 },
    { route: a, minute: 1, status: 5, count: 1 },
    { route: b, minute: 2, count: 7 },
  ]);
  await add(tenant.id, [
    { route: a, minute: 1, count: 10 },
    { route: a, minute: 3, count: 2 },
  ]);
  assert.deepEqual(await totals(tenant.id), { [a]: 16, [b]: 7 });
  await sql().query('delete from request_rollups where tenant_id = $1 and minute < to_timestamp(150)', [tenant.id]);
  assert.deepEqual(await totals(tenant.id), { [a]: 2 }, 'a route without calls leaves no row');
});

test('writers that name the same routes in any order neither lose a call nor wait for each other in a circle', async () => {
  const { tenant } = await workspace();
  const routes = Array.from({ length: 8 }, () => randomUUID());
  const write = (round: number) =>
    add(
      tenant.id,
      routes.map((route, i) => ({ route, minute: 100 + ((round * 7 + i * 3) % 5), count: 1 })),
    );
  await Promise.all(Array.from({ length: 60 }, (_, round) => write(round)));
  assert.deepEqual(await totals(tenant.id), Object.fromEntries(routes.map((route) => [route, 60])));
});

test('a change that is rolled back changes no total', async () => {
  const { tenant } = await workspace();
  const route = randomUUID();
  await add(tenant.id, [{ route, minute: 1, count: 5 }]);
  const client = await sql().connect();
  await client.query('begin');
  await client.query('delete from request_rollups where tenant_id = $1', [tenant.id]);
  await client.query('rollback');
  client.release();
  assert.deepEqual(await totals(tenant.id), { [route]: 5 });
});
