import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { call } from '../call.fixture.ts';
import { reportClientHealth } from './report.ts';
import { ClientHealth, ClientHealthQuery } from './schema.ts';

await testDatabase();

const report = async (ctx: Ctx, query: object = {}) =>
  ClientHealth.parse(await reportClientHealth({ ...ctx, now: new Date() }, ClientHealthQuery.parse(query)));

test('clients stand with the worst first: calls, failures, latency, when they were seen and when their credentials end', async () => {
  const w = await workspace();
  const ip = (n: number) => `192.0.2.${n}`;
  const [well, ill, down] = await Promise.all(
    ['well', 'ill', 'down', 'idle'].map((name, i) => made(w.live, 'clients.create', { name, ip_address: ip(i + 1) })),
  );
  const calls = (client: { id: string } | undefined, ok: number, failed: number) =>
    Array.from({ length: ok + failed }, (_, i) =>
      call(w.live, {
        matched_client_id: client?.id ?? null,
        status_code: i < ok ? 200 : 502,
        latency_ms: 10 * (i + 1),
        ts: new Date(Date.now() - (i + 1) * 60_000).toISOString(),
      }),
    );
  const rows = [...calls(well, 20, 1), ...calls(ill, 3, 1), ...calls(down, 2, 1)];
  const earlier = new Date(Date.now() - 3_600_000).toISOString();
  const trial = call(w.live, { matched_client_id: well?.id ?? null, proxy_mode: 'test', status_code: 500, ts: earlier });
  const old = call(w.live, { matched_client_id: down?.id ?? null, ts: new Date(Date.now() - 25 * 3_600_000).toISOString() });
  await insertRows(sql(), [...rows, trial, old, call(w.test, { matched_client_id: well?.id ?? null, status_code: 500 })]);
  const ends = new Date(Date.now() + 5 * 86_400_000);
  await sql().query('update client_credentials set expires_at = $1 where client_id = $2', [ends, ill?.id]);

  const { counts, clients } = await report(w.live);
  assert.deepEqual(counts, { down: 1, degraded: 1, healthy: 1, idle: 1 });
  assert.deepEqual(
    clients.map(({ name, state, calls_24h, errors_24h, latency_avg }) => [name, state, calls_24h, errors_24h, latency_avg]),
    [
      ['down', 'down', 3, 1, 20],
      ['ill', 'degraded', 4, 1, 25],
      ['well', 'healthy', 21, 1, 110],
      ['idle', 'idle', 0, 0, null],
    ],
  );
  assert.equal(clients[2]?.last_seen_at, rows[0]?.ts);
  assert.ok((clients[2]?.latency_p95 ?? 0) >= 200 * 0.65 && (clients[2]?.latency_p95 ?? 0) <= 210);
  assert.deepEqual(
    clients.map((one) => one.credential_expires_at),
    [null, ends.toISOString(), null, null],
  );
  assert.deepEqual(
    (await report(w.live, { state: 'degraded' })).clients.map(({ name }) => name),
    ['ill'],
  );
  assert.deepEqual((await report(w.test)).clients, [], 'a client of Live is none of Test');
  assert.deepEqual((await report((await workspace()).live)).clients, []);
});
