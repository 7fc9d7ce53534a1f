import assert from 'node:assert/strict';
import test from 'node:test';
import { eventData } from '#server/domain/events/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { joined, mailsTo } from '#server/testing/mailbox.ts';
import { workspace } from '#server/testing/workspace.ts';
import { notifyUsage } from './usage-notices.ts';

await testDatabase();
const now = new Date('2026-11-21T12:00:00Z');
const used = (tenant_id: string, n: number, at = now) => {
  const key = { tenant_id, kind: 'api_calls', year: at.getUTCFullYear(), month: at.getUTCMonth() + 1 };
  return db().usage_counters.upsert({ where: { tenant_id_kind_year_month: key }, create: { ...key, n }, update: { n } });
};

async function raised(tenant_id: string) {
  const rows = await db().events.findMany({ where: { tenant_id }, orderBy: { created_at: 'asc' } });
  const data = await Promise.all(rows.map(eventData));
  return data.map(({ used: _, ...rest }) => rest);
}

test('the Owners are told at 80, 90 and 100 % of the calls of the month, each once, and a jump is one mail', async () => {
  const w = await workspace({ plan: 'free' });
  const [owner, admin] = [await joined(w.tenant.id, 'owner'), await joined(w.tenant.id, 'admin')];
  const at = { tenant_id: w.tenant.id, sandbox: false };
  const event_types = ['usage.threshold_reached'];
  await db().event_subscriptions.create({ data: { ...at, id: newId(), channel: 'test', destination_id: newId(), event_types } });
  for (const [i, n] of [7_999, 8_000, 8_500, 9_000, 9_999, 10_000, 12_000].entries()) {
    const later = new Date(now.getTime() + i * 1_000); // mails are in the order of their time
    await used(w.tenant.id, n);
    await notifyUsage(db(), later);
    await notifyUsage(db(), later);
  }
  const mails = await mailsTo(owner);
  assert.deepEqual(
    mails.map(({ subject }) => subject.replace(w.tenant.name, 'W')),
    ['W has used 80% of its calls for this month', 'W has used 90% of its calls for this month', 'W has used all its calls for this month'],
  );
  assert.match(mails[2]?.text ?? '', /Live calls are refused with 402 until 2026-12-01 00:00 UTC/);
  assert.match(mails[0]?.text ?? '', /8,000 of 10,000 calls included in the free plan have been used/);
  assert.deepEqual(await mailsTo(admin), []);
  assert.deepEqual(
    await raised(w.tenant.id),
    [80, 90, 100].map((percent) => ({ percent, limit: 10_000, period: '2026-11' })),
  );

  const next = new Date('2026-12-02T00:00:00Z');
  await used(w.tenant.id, 11_000, next);
  assert.equal(await notifyUsage(db(), next), 1);
  assert.equal((await mailsTo(owner)).length, 4, 'the next month begins anew, and a jump past all is one mail');
});

test('an operator’s limit counts in place of the plan’s, a raised one is told of anew, and no limit at all never', async () => {
  const [small, none, pro] = [await workspace({ plan: 'pro' }), await workspace({ plan: 'free' }), await workspace({ plan: 'pro' })];
  const limit = (tenant_id: string, value: number | null) =>
    db().tenant_limit_overrides.upsert({
      where: { tenant_id_kind: { tenant_id, kind: 'api_calls' } },
      create: { tenant_id, kind: 'api_calls', value },
      update: { value },
    });
  const owner = await joined(small.tenant.id, 'owner');
  await limit(small.tenant.id, 100);
  await limit(none.tenant.id, null);
  await used(small.tenant.id, 100);
  await used(none.tenant.id, 50_000);
  await used(pro.tenant.id, 50_000);
  assert.equal(await notifyUsage(db(), now), 1);
  await limit(small.tenant.id, 120);
  assert.equal(await notifyUsage(db(), new Date(now.getTime() + 1_000)), 1, '100 of 120 is 83 %');
  await limit(small.tenant.id, 1_000);
  assert.equal(await notifyUsage(db(), now), 0);
  assert.deepEqual(
    (await mailsTo(owner)).map(({ subject }) => subject.includes('all its calls')),
    [true, false],
  );
});
