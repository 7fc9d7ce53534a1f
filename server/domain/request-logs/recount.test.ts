import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import type { PoolClient } from 'pg';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { call } from './call.fixture.ts';

await ownDatabase();

const TABLES = ['request_rollups', 'caller_rollups'];
const migration = fs.readFileSync('prisma/migrations/20261124022000_request_logs_dimensions/migration.sql', 'utf8');

test('calls of the time before are counted by the migration as the writer counts them', async () => {
  const w = await workspace();
  const [route, key, client] = [newId(), newId(), newId()];
  const one = <T>(i: number, ...of: T[]) => of[i % of.length] as T;
  const rows = Array.from({ length: 1_500 }, (_, i) =>
    call(one(i, w.live, w.live, w.test), {
      ts: new Date(Date.now() - (i % 50) * 60_000).toISOString(),
      route_id: one(i, null, route),
      api_key_id: i % 7 === 6 ? null : one(i, null, key, key),
      matched_client_id: i % 7 === 6 ? null : one(i, client, null, client, null, null),
      environment: one(i, 'production', 'staging', null),
      status_code: one(i, 200, 204, 301, 404, 429, 502, null),
      error: one(i, null, null, null, null, 'route_rate_limit_exceeded', 'environment_not_configured', null, 'client_closed'),
      rate_limited: i % 8 === 4,
      method: one(i, 'GET', 'POST', 'get', 'X-WORD', 'QUERY'),
      origin: one(i, 'upstream', 'service', 'upstream'),
      latency_ms: one(i, 0, 1, 2, 3, 5, 34, 1_000, 120_000, 119_999, 4_000_000),
      upstream_ms: one(i, null, 0, 1, 4, 999, 119_000),
      proxy_mode: i % 7 === 6 ? 'test' : one(i, 'route', 'ai', 'route'),
    }),
  );
  await insertRows(sql(), rows);
  const counted = await sql().connect();
  try {
    await counted.query('begin');
    const written = await rowsOf(counted);
    assert.ok((written[0]?.length ?? 0) > 200);
    await counted.query(`truncate ${TABLES.join(', ')}`);
    await counted.query(migration.slice(migration.indexOf('-- The bucket of a duration')));
    assert.deepEqual(await rowsOf(counted), written);
    const { rows: marks } = await counted.query('select from late_quarters');
    assert.ok(marks.length > 0, 'what the job has added up is added up again');
  } finally {
    await counted.query('rollback');
    counted.release();
  }
});

const rowsOf = (client: PoolClient) =>
  Promise.all(
    TABLES.map(async (table) => (await client.query<{ row: string }>(`select to_jsonb(t)::text as row from ${table} t order by 1`)).rows),
  );
