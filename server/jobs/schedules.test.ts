import assert from 'node:assert/strict';
import test from 'node:test';
import { parseCrontab } from 'graphile-worker';
import { appendCritical } from '#server/domain/audit-logs/critical.ts';
import { pruneAuditLogs } from '#server/domain/audit-logs/retention.ts';
import { maintainPartitions, pruneRequestLogs } from '#server/domain/request-logs/retention.ts';
import { insert, row } from '#server/domain/request-logs/rows.fixture.ts';
import { held, pruneIdempotency, retentionWindows } from '#server/domain/retention/service.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { workspace } from '#server/testing/workspace.ts';
import { crontab, jobs } from './schedules.ts';

const scheduled = Object.entries(jobs).filter(([, { cron }]) => cron !== undefined);

await ownDatabase();
const DAY = 24 * 3_600_000;
const daysAgo = (n: number) => new Date(Date.now() - n * DAY);
const windowsOf = async (tenantId: string) => (await retentionWindows(new Date())).filter((w) => w.tenant_id === tenantId);

test('the crontab is one the queue understands, with one line per schedule', () => {
  assert.deepEqual(
    parseCrontab(crontab()).map((item) => item.task),
    scheduled.map(([name]) => name),
  );
});

test('every scheduled job runs through, twice, on a database with something in it', async () => {
  const w = await workspace();
  await mutate(w.live, async () => audited(undefined, { action: 'create', resource_type: 'route', resource_id: newId() }));
  await insert([row(w.tenant.id)]);
  for (const [name, job] of scheduled)
    for (let i = 0; i < 2; i++)
      await assert.doesNotReject(job.run({ now: new Date(), payload: {}, signal: new AbortController().signal }), name);
});

test('audit retention removes what the plan no longer keeps, says so once, and leaves the critical chain whole', async () => {
  const w = await workspace({ plan: 'free' });
  for (const days of [1, 6, 8, 400]) {
    const ctx = { ...w.live, now: daysAgo(days) };
    await mutate(ctx, async () => audited(undefined, { action: 'update', resource_type: 'route', resource_id: String(days) }));
    await inTransaction(ctx, (tx) =>
      appendCritical(tx, ctx, { action: 'byok.kms.rotate', resource_type: 'tenant_master_key', resource_id: String(days) }),
    );
  }
  const windows = await windowsOf(w.tenant.id);
  assert.equal(await pruneAuditLogs(windows, new Date()), 2);
  assert.equal(await pruneAuditLogs(windows, new Date()), 0);
  const left = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    left.map((r) => [r.action, r.resource_id]),
    [
      ['update', '1'],
      ['update', '6'],
      ['delete', null],
    ],
  );
  assert.equal((left[2]!.details as { removed: number }).removed, 2);
  assert.equal(await db().audit_log_critical.count({ where: { tenant_id: w.tenant.id } }), 4);
  const counter = await db().row_counts.findFirst({ where: { tenant_id: w.tenant.id, sandbox: false, kind: 'audit_logs' } });
  assert.equal(counter?.n, 3n, 'totals follow');
});

test('log retention removes rows and rollups of the same minutes, by plan in Live and after 7 days in Test', async () => {
  const w = await workspace({ plan: 'starter' });
  const [route, key] = [newId(), newId()];
  const times = [1, 6.5, 7.5, 20].map(daysAgo);
  for (const sandbox of [false, true]) {
    await insert(
      times.flatMap((ts) => [row(w.tenant.id, { ts, sandbox, route_id: route }), row(w.tenant.id, { ts, sandbox, route_id: route })]),
    );
    for (const ts of times) {
      const minute = new Date(Math.floor(ts.getTime() / 60_000) * 60_000);
      const data = { tenant_id: w.tenant.id, sandbox, minute, route_id: route, environment: '', status_class: 2, count: 2 };
      await db().request_rollups.create({ data });
      await db().caller_rollups.create({ data: { ...data, caller_id: key } });
    }
  }
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'log_retention_days', value: 10 } });
  assert.equal(await pruneRequestLogs(await windowsOf(w.tenant.id), new Date()), 2 + 4);
  for (const [sandbox, expected] of [
    [false, 6],
    [true, 4],
  ] as const) {
    const where = { tenant_id: w.tenant.id, sandbox };
    const rows = await db().request_logs.count({ where });
    const counted = await db().request_rollups.aggregate({ where, _sum: { count: true } });
    const ofKey = await db().caller_rollups.aggregate({ where, _sum: { count: true } });
    assert.deepEqual([rows, Number(counted._sum.count), Number(ofKey._sum.count)], [expected, expected, expected]);
  }
});

test('a large backlog goes in whole minutes, and the rollups always add up to the rows', async () => {
  const w = await workspace({ plan: 'free' });
  await sql().query(
    `insert into request_logs (request_id, tenant_id, sandbox, ts) select gen_random_uuid(), $1, false, date_trunc('minute', now()) - interval '10 days' + (i / 7000) * interval '1 minute' + interval '1 second' from generate_series(0, 20999) i`,
    [w.tenant.id],
  );
  await sql().query(
    `insert into request_rollups (tenant_id, sandbox, minute, route_id, environment, status_class, count) select $1, false, date_trunc('minute', ts), '00000000-0000-0000-0000-000000000000', '', 2, count(*) from request_logs where tenant_id = $1 group by 3`,
    [w.tenant.id],
  );
  assert.equal(await pruneRequestLogs(await windowsOf(w.tenant.id), new Date()), 21_000);
  assert.equal(await db().request_rollups.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('a smaller plan keeps the old window for seven more days, a larger one counts at once', async () => {
  const w = await workspace({ plan: 'pro' });
  const days = async (now: Date) => (await retentionWindows(now)).find((r) => r.tenant_id === w.tenant.id)?.audit_days;
  const start = new Date();
  assert.equal(await days(start), 90);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_plan: 'free' } });
  assert.equal(await days(start), 90);
  assert.equal(await days(new Date(start.getTime() + 6.9 * DAY)), 90);
  assert.equal(await days(new Date(start.getTime() + 7.1 * DAY)), 7);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_plan: 'enterprise' } });
  assert.equal(await days(start), 365);
  assert.deepEqual(
    held({ days: 90, shrinking_since: start.toISOString() }, 90, start),
    { days: 90 },
    'a plan that came back ends the grace',
  );
  assert.deepEqual(held({ days: null }, 30, start), { days: null, shrinking_since: start.toISOString() });
});

test('daily partitions exist before their day, take its rows, and go as a whole when nobody keeps the day', async () => {
  const now = new Date(Date.now() + 40 * DAY); // no row of these days is in the default partition
  const windows = [{ tenant_id: newId(), log_days: 30, audit_days: 30 }];
  const { made } = await maintainPartitions(windows, now);
  assert.equal(made.length, 4);
  assert.deepEqual((await maintainPartitions(windows, now)).made, []);
  const w = await workspace();
  const target = row(w.tenant.id, { ts: new Date(now.getTime() + DAY) });
  await insert([target]);
  const { rows } = await sql().query<{ at: string }>('select tableoid::regclass::text as at from request_logs where request_id = $1', [
    target.request_id,
  ]);
  assert.equal(rows[0]?.at, made[1]);
  await assert.rejects(sql().query('update request_logs set status_code = 1 where request_id = $1', [target.request_id]), /never changed/);
  const seen = await inTransaction({ ...w.test }, (tx) => tx.request_logs.findMany());
  assert.deepEqual(seen, [], 'row-level security holds in a new partition');
  const late = await maintainPartitions(windows, new Date(now.getTime() + 33 * DAY));
  assert.deepEqual(late.dropped.sort(), made.slice(0, 3), 'the days that ended thirty days before');
  assert.deepEqual(
    (await maintainPartitions([{ ...windows[0]!, log_days: null }], new Date(now.getTime() + 400 * DAY))).dropped,
    [],
    'somebody keeps logs for ever',
  );
});

test('the first day of an installation stays in the default partition and does not stop the days to come', async () => {
  const now = new Date(Date.now() + 200 * DAY);
  const w = await workspace();
  await insert([row(w.tenant.id, { ts: now })]);
  assert.equal((await maintainPartitions([], now)).made.length, 3);
});

test('an ended key becomes inactive with one audit entry, and counts no more against the plan', async () => {
  const w = await workspace();
  const past = new Date(Date.now() - 1000);
  const [expired, replaced, alive] = [
    await w.key('live', 'Key - Invoke', { expires_at: past }),
    await w.key('test', 'Key - Invoke', { revoke_at: past }),
    await w.key(),
  ];
  assert.equal(await sweepKind('api_key', new Date()), 2);
  assert.equal(await sweepKind('api_key', new Date()), 0);
  const keys = await db().api_keys.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    keys.filter((k) => k.active).map((k) => k.id),
    [alive.row.id],
  );
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    new Set(entries.map((e) => [e.action, e.resource_id, e.sandbox].join())),
    new Set([`disable,${expired.row.id},false`, `disable,${replaced.row.id},true`]),
  );
  assert.equal((await db().row_counts.findFirst({ where: { tenant_id: w.tenant.id, sandbox: false, kind: 'api_keys' } }))?.n, 1n);
});

test('idempotency records end after 24 hours, those still in use stay', async () => {
  const w = await workspace();
  const make = (state: string, completed_at: Date | null, lease_until: Date) =>
    db().idempotency_keys.create({
      data: {
        id: newId(),
        tenant_id: w.tenant.id,
        sandbox: false,
        principal: 'p',
        key_hmac: new TextEncoder().encode(newId()),
        fingerprint: new Uint8Array(1),
        tmk_version: 1,
        state,
        completed_at,
        lease_until,
      },
    });
  await make('completed', daysAgo(1.1), daysAgo(1.1));
  await make('in_progress', null, daysAgo(1.1));
  await make('completed', daysAgo(0.9), daysAgo(0.9));
  await make('in_progress', null, new Date());
  assert.equal(await pruneIdempotency(new Date(), 1), 2);
  assert.equal(await db().idempotency_keys.count({ where: { tenant_id: w.tenant.id } }), 2);
});
