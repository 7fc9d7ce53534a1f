import assert from 'node:assert/strict';
import test from 'node:test';
import { sweepLeases } from '#server/domain/leases/service.ts';
import { operatorCtx, setPlan } from '#server/domain/operator/service.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { enrolled, verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { leases } from './leases.ts';

// The manual driver, which is all there is to an installation that takes no payments.

await ownDatabase();

const DAY = 86_400_000;
const later = (days: number) => new Date(Date.now() + days * DAY + 60_000);
const sweep = (now: Date) => sweepLeases(leases, { db: db(), now });

async function team(plan: 'free' | 'pro' | 'enterprise' = 'pro', status?: string) {
  const w = await workspace({ plan, ...(status ? { status } : {}) });
  const [owner, admin] = [await dashboardPerson(), await dashboardPerson()];
  await owner.join(w.tenant.id, 'owner');
  await admin.join(w.tenant.id, 'admin');
  const confirm = () => verified({ user_id: owner.user.id, session_id: owner.session.id }, 'billing.change');
  const row = () => db().tenants.findUniqueOrThrow({ where: { id: w.tenant.id } });
  const standing = async () => {
    const { subscription_plan, subscription_status } = await row();
    return [subscription_plan, subscription_status];
  };
  const mails = async () =>
    (await db().mails.findMany({ where: { recipient: owner.user.email, kind: 'billing' }, orderBy: { created_at: 'asc' } })).map(
      ({ subject }) => subject,
    );
  const entries = () =>
    db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'billing' }, orderBy: { created_at: 'asc' } });
  return { w, owner, admin, confirm, row, standing, mails, entries };
}

test('an Admin sees billing and may set the tax ID, and changes no plan', async () => {
  const { w, admin, standing } = await team('free');
  await enrolled(admin.user.id);
  assert.equal((await admin.call('GET /admin/billing')).body.plan, 'free');
  for (const verb of ['checkout', 'portal', 'cancel', 'resume', 'pause', 'trial'])
    assert.equal(
      (await admin.call(`POST /admin/billing/${verb}`, verb === 'checkout' ? { plan: 'pro' } : {})).body.code,
      'role_denied',
      verb,
    );
  assert.deepEqual(await standing(), ['free', 'active']);
  const saved = await admin.call('PUT /admin/billing/tax-id', { tax_id_type: 'au_abn', tax_id_value: '51 824 753 556' });
  assert.equal(saved.body.company.tax_id_value, '51 824 753 556');
  const editor = await dashboardPerson();
  await editor.join(w.tenant.id, 'editor');
  await enrolled(editor.user.id);
  for (const [http, body] of [['GET /admin/billing'], ['PUT /admin/billing/tax-id', { tax_id_type: null, tax_id_value: null }]] as const)
    assert.equal((await editor.call(http, body)).body.code, 'role_denied');
});

test('a tax ID takes a second factor, is judged after it, and is set on the selected workspace', async () => {
  const { w, owner } = await team();
  const second = await workspace();
  await owner.join(second.tenant.id, 'owner');
  const put = (body: unknown) => owner.call('PUT /admin/billing/tax-id', body, { workspace: second.tenant.id });
  const refused = await put({ tax_id_type: 'nonsense', tax_id_value: 'x' });
  assert.deepEqual([refused.status, refused.body.error, refused.body.code], [403, 'mfa_required', 'mfa_required']);
  assert.match(refused.body.enroll_url, /\/me\/security$/);
  await enrolled(owner.user.id);
  for (const body of [
    { tax_id_type: 'nonsense', tax_id_value: 'xyz' },
    { tax_id_type: 'eu_vat', tax_id_value: null },
    { tax_id_type: null },
    { tax_id_type: 'eu_vat', tax_id_value: 'DE136695977' },
  ]) {
    const wrong = await put(body);
    assert.deepEqual([wrong.status, wrong.body.error, wrong.body.code], [400, 'invalid', 'invalid'], JSON.stringify(body));
  }
  assert.equal((await put({ tax_id_type: 'eu_vat', tax_id_value: 'de136695976' })).status, 200);
  const stored = await db().tenants.findMany({
    where: { id: { in: [w.tenant.id, second.tenant.id] } },
    select: { id: true, tax_id_value: true },
  });
  assert.equal(stored.find(({ id }) => id === second.tenant.id)?.tax_id_value, 'DE136695976');
  assert.equal(stored.find(({ id }) => id === w.tenant.id)?.tax_id_value, null);
  await db().sessions.updateMany({ where: { user_id: owner.user.id }, data: { scope_tenant_id: w.tenant.id } });
  const scoped = await put({ tax_id_type: null, tax_id_value: null });
  assert.deepEqual([scoped.status, scoped.body.code], [403, 'session_scope_mismatch']);
  assert.match(scoped.body.message, /scoped to a different tenant/);
  await db().sessions.updateMany({ where: { user_id: owner.user.id }, data: { scope_tenant_id: null } });
  assert.equal((await put({ tax_id_type: null, tax_id_value: null })).body.company.tax_id_value, null);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: second.tenant.id, resource_type: 'tenant' } });
  assert.ok(entries.length === 2 && !JSON.stringify(entries.map(({ details }) => details)).includes('136695976'));
});

test('a trial starts once, also when two tabs start it, warns at 3 days and 1 day, and ends on Free', async () => {
  const { owner, standing, mails, entries } = await team('free');
  const both = await Promise.all([owner.call('POST /admin/billing/trial', {}), owner.call('POST /admin/billing/trial', {})]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  assert.deepEqual(await standing(), ['pro', 'trialing']);
  for (const days of [5, 11, 11, 12, 13]) await sweep(later(days));
  assert.deepEqual(
    (await mails()).map((subject) => /ends in (\d+ days?)/.exec(subject)?.[1]),
    ['3 days', '1 day'],
  );
  await sweep(later(14));
  assert.deepEqual(await standing(), ['free', 'active']);
  assert.equal((await owner.call('POST /admin/billing/trial', {})).status, 409);
  assert.deepEqual(
    (await entries()).map(({ actor_type, details }) => [actor_type, (details as { reason: string }).reason]),
    [
      ['user', 'owner'],
      ['system', 'trial_ended'],
    ],
  );
});

test('a cancellation is confirmed, takes effect at the end of the period, and can be undone until then', async () => {
  const { w, owner, confirm, standing, row, mails } = await team();
  const end = later(10);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_current_period_end: end } });
  assert.equal((await owner.call('POST /admin/billing/cancel', {})).body.code, 'mfa_required');
  await enrolled(owner.user.id);
  assert.equal((await owner.call('POST /admin/billing/cancel', {})).body.code, 'step_up_required');
  await confirm();
  assert.equal((await owner.call('POST /admin/billing/cancel', {})).body.cancel_at, end.toISOString());
  assert.equal((await owner.call('POST /admin/billing/resume', {})).body.cancel_at, null);
  await confirm();
  await owner.call('POST /admin/billing/cancel', {});
  await sweep(later(9));
  assert.deepEqual(await standing(), ['pro', 'active']);
  await sweep(later(10.1));
  assert.deepEqual(await standing(), ['pro', 'cancelled']);
  assert.equal((await row()).subscription_cancel_at?.getTime(), end.getTime());
  assert.equal((await mails()).length, 3);
  await confirm();
  assert.equal((await owner.call('POST /admin/billing/checkout', { plan: 'free' })).body.billing.plan, 'free');
  assert.deepEqual(await standing(), ['free', 'active']);
});

test('a missing payment is dunned for 14 days, then refuses calls for 30, then ends the subscription, each told once', async () => {
  const { w, standing, mails } = await team();
  const { text: key } = await w.key('live');
  await setPlan({ slug: w.tenant.slug, status: 'dunning' });
  for (const days of [0, 0, 3, 5, 7, 8, 10, 13]) await sweep(later(days));
  assert.deepEqual([await standing(), (await mails()).length], [['pro', 'dunning'], 4]);
  assert.equal((await call('GET', '/routes', { key })).status, 200);
  await sweep(later(14));
  assert.deepEqual(await standing(), ['pro', 'past_due']);
  const refused = await call('GET', '/routes', { key });
  assert.deepEqual([refused.status, refused.body.error.type], [403, 'subscription_inactive']);
  await sweep(later(44.1));
  assert.deepEqual(await standing(), ['pro', 'cancelled']);
  assert.equal((await mails()).length, 6);
});

test('a worker that was away for two months catches up, and mails each end once', async () => {
  const { w, standing, mails } = await team();
  await setPlan({ slug: w.tenant.slug, status: 'dunning' });
  await sweep(later(60));
  assert.deepEqual([await standing(), (await mails()).length], [['pro', 'cancelled'], 2]);
});

test('an Owner pauses for at most 90 days and resumes; the operator’s suspension is not theirs to end', async () => {
  const { w, owner, confirm, standing } = await team();
  for (const days of [0, 91, 1.5]) assert.equal((await owner.call('POST /admin/billing/pause', { days })).status, 400);
  await confirm();
  const paused = await owner.call('POST /admin/billing/pause', {});
  assert.deepEqual([paused.body.status, paused.body.paused_by], ['paused', 'owner']);
  assert.equal((await owner.call('PATCH /admin/settings', { name: 'No' })).body.code, 'subscription_inactive');
  assert.equal((await owner.call('POST /admin/billing/resume', {})).body.status, 'active');
  await confirm();
  await owner.call('POST /admin/billing/pause', { days: 30 });
  await sweep(later(30.1));
  assert.deepEqual(await standing(), ['pro', 'active']);
  await setPlan({ slug: w.tenant.slug, status: 'paused' });
  const refused = await owner.call('POST /admin/billing/resume', {});
  assert.deepEqual([refused.status, /operator/.test(refused.body.message)], [409, true]);
  await sweep(later(400));
  assert.deepEqual(await standing(), ['pro', 'paused']);
});

test('without a payment provider a plan is not sold, and nothing pretends that it was', async () => {
  const { owner, standing, w } = await team('free');
  for (const [verb, body] of [
    ['checkout', { plan: 'pro' }],
    ['portal', {}],
  ] as const)
    assert.deepEqual(
      [(await owner.call(`POST /admin/billing/${verb}`, body)).body.code, await standing()],
      ['conflict', ['free', 'active']],
    );
  assert.deepEqual((await owner.call('GET /admin/billing')).body.offers, []);
  await setPlan({ slug: w.tenant.slug, plan: 'pro' });
  assert.equal((await owner.call('GET /admin/billing')).body.plan, 'pro');
  assert.equal(operatorCtx(w.tenant.id, 'live').actor.type, 'operator');
});
