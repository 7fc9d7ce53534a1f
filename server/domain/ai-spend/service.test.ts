import assert from 'node:assert/strict';
import test from 'node:test';
import { budgetCaps } from '#server/gateway/governance/ledger/caps.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { insertCalls } from './calls.fixture.ts';
import { ListAiRequests } from './requests/schema.ts';
import { listRequests } from './requests/service.ts';

await testDatabase();

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
