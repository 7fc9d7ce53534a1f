import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import type { Tenant } from '../snapshot/model.ts';
import { monthlyCounters } from './monthly.ts';

await ownDatabase();

const LAST_OF_MAY = Date.parse('2026-05-31T23:59:59.999Z');
const FIRST_OF_JUNE = Date.parse('2026-06-01T00:00:00.000Z');

async function counting(limit: number | null) {
  const w = await workspace();
  const counters = monthlyCounters(sql());
  const tenant = { id: w.tenant.id, monthlyCalls: limit } as Tenant;
  const stored = async () => {
    const { rows } = await sql().query<{ month: number; n: string }>(
      "select month, n from usage_counters where tenant_id = $1 and kind = 'api_calls' order by year, month",
      [w.tenant.id],
    );
    return rows.map((row) => [row.month, Number(row.n)]);
  };
  return { counters, tenant, stored };
}

test('calls made before the month turned are counted in the month they were made in, however late they are written', async () => {
  const { counters, tenant, stored } = await counting(null);
  for (let i = 0; i < 3; i++) counters.reserve(tenant, LAST_OF_MAY);
  for (let i = 0; i < 2; i++) counters.reserve(tenant, FIRST_OF_JUNE);
  await counters.flush();
  assert.deepEqual(await stored(), [
    [5, 3],
    [6, 2],
  ]);
  await counters.close();
});

test('a ceiling starts anew with the UTC month, and a call that began in the old one opens neither', async () => {
  const { counters, tenant, stored } = await counting(2);
  assert.deepEqual(counters.reserve(tenant, LAST_OF_MAY), { admitted: true, monthly: { limit: 2, remaining: 1 } });
  assert.equal(counters.reserve(tenant, LAST_OF_MAY).admitted, true);
  assert.deepEqual(counters.reserve(tenant, LAST_OF_MAY), { admitted: false, monthly: { limit: 2, remaining: 0 } });
  assert.deepEqual(counters.reserve(tenant, FIRST_OF_JUNE).monthly, { limit: 2, remaining: 1 });
  assert.equal(counters.reserve(tenant, LAST_OF_MAY).admitted, false, 'the old month is still used up');
  assert.deepEqual(
    counters.reserve(tenant, FIRST_OF_JUNE).monthly,
    { limit: 2, remaining: 0 },
    'and the new one has not forgotten its first',
  );
  counters.release(tenant.id, FIRST_OF_JUNE);
  await counters.flush();
  assert.deepEqual(await stored(), [
    [5, 2],
    [6, 1],
  ]);
  await counters.close();
});

test('what cannot be written when the month turns is written later, under its own month', async () => {
  const { counters, tenant, stored } = await counting(null);
  await sql().query('alter table usage_counters rename to usage_counters_away');
  try {
    counters.reserve(tenant, LAST_OF_MAY);
    await counters.flush();
    counters.reserve(tenant, FIRST_OF_JUNE);
    await counters.flush();
  } finally {
    await sql().query('alter table usage_counters_away rename to usage_counters');
  }
  await counters.flush();
  assert.deepEqual(await stored(), [
    [5, 1],
    [6, 1],
  ]);
  await counters.close();
});
