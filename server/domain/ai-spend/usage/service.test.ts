import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { newId } from '#server/kernel/ids.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { connection, sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { insertCalls } from '../calls.fixture.ts';
import { pruneCalls } from '../jobs/retention.ts';
import { foldUsage } from '../jobs/rollup.ts';
import { ListAiRequests } from '../requests/schema.ts';
import { listRequests } from '../requests/service.ts';
import { exportUsageCsv, getBreakdown, getUsage } from './service.ts';

await ownDatabase();

const usageOf = (ctx: Parameters<typeof getUsage>[0], extra: object = {}) =>
  getUsage({ ...ctx, now: new Date() }, { period: '7d', ...extra });

test('usage counts calls once, before, while and after they are folded', async () => {
  const w = await workspace();
  const agent = newId();
  await insertCalls(sql(), w.live, [
    { agent_id: agent, cost_nano: 6_060_000 },
    { agent_id: agent, model: 'gpt-5', provider: 'openai' },
  ]);
  const before = await usageOf(w.live);
  assert.deepEqual([before.totals.requests, before.totals.cost_usd], [2, 0.00706]);
  assert.equal(await foldUsage(), 2);
  assert.equal(await foldUsage(), 0, 'a second run finds nothing');
  assert.deepEqual(await usageOf(w.live), before);
  await insertCalls(sql(), w.live, [{ agent_id: agent }]);
  assert.equal((await usageOf(w.live)).totals.requests, 3, 'the tail counts at once');
  const pools = [new pg.Pool(connection()), new pg.Pool(connection())];
  const folded = await Promise.all(pools.map((pool) => foldUsage(pool)));
  await Promise.all(pools.map((pool) => pool.end()));
  assert.equal(
    folded.reduce((a, b) => a + b, 0),
    1,
    'two jobs at once fold it once',
  );
  assert.equal((await usageOf(w.live)).totals.requests, 3);
  assert.deepEqual(
    (await usageOf(w.live)).by_model.map(({ provider, model, requests }) => [provider, model, requests]),
    [
      ['anthropic', 'claude-sonnet-5', 2],
      ['openai', 'gpt-5', 1],
    ],
  );
});

test('folding waits for calls that are being written, so none is passed over', async () => {
  const w = await workspace();
  const pool = new pg.Pool(connection());
  const client = await pool.connect();
  await client.query('begin');
  await insertCalls(client as unknown as pg.Pool, w.live, [{}]);
  // It has taken its number and isn't committed; another is.
  await insertCalls(sql(), (await workspace()).live, [{}]);
  const folding = foldUsage();
  await client.query('commit');
  client.release();
  await folding;
  await foldUsage();
  await pool.end();
  const { rows } = await sql().query('select sum(requests)::int as n from ai_usage_daily where tenant_id = $1', [w.tenant.id]);
  assert.equal(rows[0].n, 1);
});

test("an agent of another workspace or space is one that doesn't exist", async () => {
  const [w, other] = [await workspace(), await workspace()];
  const agent = newId();
  await insertCalls(sql(), other.live, [{ agent_id: agent }]);
  const answers = await Promise.all([usageOf(w.live, { agent_id: agent }), usageOf(w.live, { agent_id: newId() })]);
  assert.deepEqual(answers[0], answers[1]);
  assert.equal(answers[0].totals.requests, 0);
  const { rows } = await listRequests(w.live, ListAiRequests.parse({ agent_id: agent }));
  assert.deepEqual(rows, []);
  assert.equal((await usageOf(other.test)).totals.requests, 0);
});

test('an export is CSV that no spreadsheet runs, and says nothing of calls without a group', async () => {
  const w = await workspace();
  await insertCalls(sql(), w.live, [
    { user: '=HYPERLINK("https://evil.example","x")', cost_nano: 3_000_000 },
    { user: '@SUM(A1)', cost_nano: 2_000_000, unpriced_requests: 1 },
    { user: null, tags: { project: '-2+3' } },
  ]);
  const query = { group_by: 'user' as const, period: '7d' as const, format: 'csv' as const };
  const raw = await exportUsageCsv({ ...w.live, now: new Date() }, query);
  assert.match(raw.headers['content-disposition'] ?? '', /ai-usage-user-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv/);
  const lines = (await textOf(raw)).split('\r\n');
  assert.equal(lines[0], 'group,requests,input_tokens,output_tokens,cost_usd,unpriced_requests,group_label');
  assert.ok(lines[1]?.startsWith('"\'=HYPERLINK(""https'), lines[1]);
  assert.equal(lines[2], "'@SUM(A1),1,100,50,0.002000,1,");
  assert.equal(lines[3], ',1,100,50,0.001000,0,');
  const byTag = await getBreakdown({ ...w.live, now: new Date() }, { group_by: 'tag:project', period: '7d' });
  assert.deepEqual(
    byTag.rows.map(({ group }) => group),
    [null, '-2+3'],
  );
});

test('calls beyond the window go when their usage was folded, and usage stays', async () => {
  const w = await workspace();
  const ts = new Date(Date.now() - 10 * 86_400_000).toISOString();
  await insertCalls(sql(), w.live, [{ ts }]);
  const windows = [{ tenant_id: w.tenant.id, log_days: 7, audit_days: 7 }];
  const left = async () =>
    (
      await sql().query(
        'select (select count(*)::int from ai_request_logs where tenant_id = $1) as logs, (select count(*)::int from ai_usage_events where tenant_id = $1) as events',
        [w.tenant.id],
      )
    ).rows[0];
  await pruneCalls(windows, new Date());
  assert.deepEqual(await left(), { logs: 0, events: 1 });
  await foldUsage();
  await pruneCalls(windows, new Date());
  assert.deepEqual(await left(), { logs: 0, events: 0 });
  assert.equal((await usageOf(w.live, { period: '30d' })).totals.requests, 1);
});
