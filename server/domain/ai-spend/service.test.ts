import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { budgetCaps } from '#server/gateway/governance/ledger/caps.ts';
import { newId } from '#server/kernel/ids.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { db } from '#server/platform/db.ts';
import { connection, sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { insertCalls } from './calls.fixture.ts';
import { noticeFailingUpstreams, noticeUnpricedModels, raiseWaitingAlerts } from './jobs/alerts.ts';
import { pruneCalls } from './jobs/retention.ts';
import { foldUsage } from './jobs/rollup.ts';
import { ListAiRequests } from './requests/schema.ts';
import { listRequests } from './requests/service.ts';
import { exportUsageCsv, getBreakdown, getUsage } from './usage/service.ts';

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

test('pages of calls follow each other without a gap or an overlap, and a cursor fits its own list only', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const ts = new Date().toISOString();
  const ids = await insertCalls(
    sql(),
    w.live,
    Array.from({ length: 7 }, (_, i) => ({ ts, code: i === 6 ? 'budget_exceeded' : null })),
  );
  const page = (cursor?: string, ctx = w.live, extra = {}) =>
    listRequests(ctx, ListAiRequests.parse({ limit: 3, ...(cursor ? { cursor } : {}), ...extra }));
  const [first] = [await page()];
  const second = await page(String(first.meta.next_cursor));
  const third = await page(String(second.meta.next_cursor));
  const seen = [first, second, third].flatMap(({ rows }) => rows.map((row) => row.request_id));
  assert.deepEqual([seen.length, new Set(seen).size, third.meta.next_cursor], [7, 7, null]);
  assert.deepEqual(new Set(seen), new Set(ids));
  const cursor = String(first.meta.next_cursor);
  for (const attempt of [page(cursor, other.live), page(cursor, w.test), page(cursor, w.live, { status: 'ok' }), page(`${cursor}x`)])
    await assert.rejects(attempt, { type: 'validation_error' });
});

test("a price of one's own holds in its space only, and the list's price counts again after it", async () => {
  const [w, other] = [await workspace(), await workspace()];
  const name = { provider: 'anthropic', model: 'claude-sonnet-5' };
  const priceIn = async (ctx: typeof w.live) =>
    (await made(ctx, 'ai_spend.prices.list', { provider: 'anthropic', q: 'claude-sonnet-5' })).find(
      (row: { model: string }) => row.model === name.model,
    );
  await made(w.live, 'ai_spend.prices.put', { ...name, input_per_mtok: 1.5, output_per_mtok: 7 });
  const [mine, test_, theirs] = [await priceIn(w.live), await priceIn(w.test), await priceIn(other.live)];
  assert.deepEqual([mine.source, mine.input_per_mtok, mine.overrides_system], ['tenant', 1.5, true]);
  assert.deepEqual([test_.source, theirs.source], ['system', 'system']);
  await made(w.live, 'ai_spend.prices.delete', name);
  assert.equal((await priceIn(w.live)).source, 'system');
  await assert.rejects(made(w.live, 'ai_spend.prices.delete', name), { type: 'not_found' });
  await assert.rejects(made(w.live, 'ai_spend.prices.put', { ...name, provider: 'nobody', input_per_mtok: 1 }), { type: 'not_found' });
  // Calls by a route of the workspace's own are listed as unpriced under this name, so it must take a price.
  const own = { provider: 'custom', model: 'house-model' };
  assert.equal((await made(w.live, 'ai_spend.prices.put', { ...own, input_per_mtok: 1 })).input_per_mtok, 1);
});

test("a price of one's own says what images and tiers cost, and the audit log says what changed", async () => {
  const w = await workspace();
  const name = { provider: 'custom', model: 'house-images' };
  const image_prices = [
    { size: '1024x1024', quality: 'hd', usd: 0.08 },
    { size: null, quality: null, usd: 0.04 },
  ];
  const put = await made(w.live, 'ai_spend.prices.put', { ...name, image_prices: [image_prices[0], { usd: 0.04 }], priority_surcharge: 0 });
  assert.deepEqual([put.image_prices, put.priority_surcharge, put.flex_discount], [image_prices, 0, null]);
  const again = await made(w.live, 'ai_spend.prices.put', { ...name, image_prices, per_input_image_usd: 0.01, flex_discount: 0.5 });
  assert.deepEqual([again.per_input_image_usd, again.flex_discount, again.priority_surcharge], [0.01, 0.5, null]);
  const { details } = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: w.tenant.id, resource_type: 'ai_price' },
    orderBy: { seq: 'desc' },
  });
  const { changes } = details as { changes: { field: string; from: unknown; to: unknown }[] };
  assert.deepEqual(
    new Map(changes.map(({ field, from, to }) => [field, [from, to]])),
    new Map([
      ['per_input_image_usd', [null, 0.01]],
      ['flex_discount', [null, 0.5]],
      ['priority_surcharge', [0, null]],
    ]),
  );
  for (const wrong of [[], [{ size: '1K', usd: 1 }], [{ usd: -1 }], [{ usd: 1 }, { usd: 2 }], [{ usd: 0.0000001 }]])
    await assert.rejects(made(w.live, 'ai_spend.prices.put', { ...name, image_prices: wrong }), { type: 'validation_error' });
  const listed = await made(w.live, 'ai_spend.prices.list', { provider: 'openai', q: 'dall-e-3' });
  assert.deepEqual(listed[0].image_prices[0], { size: '1024x1024', quality: 'standard', usd: 0.04 });
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

test('a boost raises the budgets of a gateway until it ends', async () => {
  const w = await workspace();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const gateway = await made(w.live, 'ai_gateways.create', { name: 'Boosted', slug: 'boosted', budget_daily_usd: '10.00' });
  assert.deepEqual([gateway.budget_boost, gateway.alert_thresholds], [null, [50, 80, 100]]);
  const boosted = await made(w.live, 'ai_gateways.update', {
    id: gateway.id,
    budget_boost: { amount: '5.00', until, reason: 'launch' },
    alert_thresholds: [90],
  });
  assert.deepEqual([boosted.budget_boost, boosted.alert_thresholds], [{ amount: '5.00', until, reason: 'launch' }, [90]]);
  const budget = (at: number) =>
    budgetCaps(
      {
        budget: { dailyNano: 10e9, monthlyNano: null },
        budget_overage_action: 'block',
        budget_boost: boosted.budget_boost,
        alert_thresholds: [90],
      },
      at,
    );
  assert.deepEqual(
    [budget(Date.now()).dailyNano, budget(Date.parse(until)).dailyNano, budget(0).monthlyNano],
    [15_000_000_000n, 10_000_000_000n, null],
  );
  const [daily] = await made(w.live, 'ai_spend.budgets', { gateway_id: gateway.id });
  assert.deepEqual([daily.cap_usd, daily.boost_usd], ['10.00', '5.00']);
  assert.equal((await made(w.live, 'ai_gateways.update', { id: gateway.id, budget_boost: null })).budget_boost, null);
});

test('a model or a tier without a price that passed a budget is told of, once a day for each agent and model', async () => {
  const w = await workspace();
  const events = await watchEvents(w.live, 'ai.model.unpriced');
  const [passed, priced] = [newId(), newId()];
  const now = new Date();
  const ts = new Date(now.getTime() - 60_000).toISOString();
  await insertCalls(sql(), w.live, [...Array.from({ length: 3 }, () => ({ agent_id: passed, ts })), { agent_id: priced, ts }]);
  const data = { warnings: ['unpriced_model'], provider: 'openai', final_model: 'new-model' };
  await db().ai_request_logs.updateMany({ where: { agent_id: passed }, data });
  const fast = newId();
  await insertCalls(sql(), w.live, [{ agent_id: fast, ts, provider: 'xai', model: 'grok' }]);
  await db().ai_request_logs.updateMany({ where: { agent_id: fast }, data: { warnings: ['unpriced_tier'] } });
  assert.equal(await noticeUnpricedModels(now), 2);
  assert.equal(await noticeUnpricedModels(now), 0, 'the same day');
  assert.equal(await raiseWaitingAlerts(db(), new Date(now.getTime() + 6_000)), 2);
  assert.deepEqual(
    new Set((await events()).map(({ data: { agent_id, provider, model } }) => `${agent_id} ${provider} ${model}`)),
    new Set([`${passed} openai new-model`, `${fast} xai grok`]),
  );
});

test('an agent whose provider fails more than half of at least twenty calls in five minutes is told of, once an hour', async () => {
  const w = await workspace();
  const events = await watchEvents(w.live, 'ai.upstream.failing');
  const [failing, half, rare, refused, unsent] = [newId(), newId(), newId(), newId(), newId()];
  const now = new Date();
  const calls = (agent_id: string, statuses: Record<string, number>, ago = 60_000, attempts = 1) =>
    insertCalls(
      sql(),
      w.live,
      Object.entries(statuses).flatMap(([status, n]) =>
        Array.from({ length: n }, () => ({ agent_id, status, attempts, ts: new Date(now.getTime() - ago).toISOString() })),
      ),
    );
  await calls(failing, { upstream_error: 8, stream_failed: 3, ok: 9 });
  await calls(half, { upstream_error: 10, ok: 10 });
  await calls(rare, { upstream_error: 19 });
  await calls(rare, { upstream_error: 5 }, 6 * 60_000);
  await calls(refused, { refused: 30, upstream_error: 5 });
  // Of our own making, such as a missing secret: nothing was sent.
  await calls(unsent, { upstream_error: 30 }, 60_000, 0);
  await calls(unsent, { ok: 19 });
  assert.equal(await noticeFailingUpstreams(now), 1);
  assert.equal(await noticeFailingUpstreams(now), 0, 'the same hour');
  assert.equal(await raiseWaitingAlerts(db(), new Date(now.getTime() + 1_000)), 0, 'a gateway may still raise what it gave');
  const later = new Date(now.getTime() + 6_000);
  const raised = await Promise.all([raiseWaitingAlerts(db(), later), raiseWaitingAlerts(db(), later)]);
  assert.equal(raised[0] + raised[1], 1);
  assert.deepEqual(
    (await events()).map(({ about, data }) => [about, data.calls, data.failed, data.error_rate]),
    [[failing, 20, 11, 0.55]],
  );
});
