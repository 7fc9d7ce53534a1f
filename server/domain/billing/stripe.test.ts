import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test, { beforeEach } from 'node:test';
import { runMigrations } from 'graphile-worker';
import { handleStripeWebhook } from '#server/api/billing-webhook.ts';
import { stripeSignature } from '#server/crypto/stripe-signature.ts';
import { sweepLeases } from '#server/domain/leases/service.ts';
import { suspend } from '#server/domain/operator/service.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { testDatabase } from '#server/testing/database.ts';
import { verified } from '#server/testing/step-up.ts';
import { startStripe, stripeSettings } from '#server/testing/stripe-server.ts';
import { workspace } from '#server/testing/workspace.ts';
import { billing } from './family.ts';
import { leases } from './leases.ts';

// The driver against a server of Stripe's shape that remembers, and its webhooks as Stripe sends them.

const provider = await startStripe();
await testDatabase(stripeSettings(provider.url));
await runMigrations({ pgPool: sql() });
const DAY = 86_400_000;
beforeEach(() => Object.assign(provider.state, { down: false, declines: false }));

/** What the queue holds, run as the worker runs it. */
async function work(): Promise<string[]> {
  const { rows } = await sql().query<{ id: string; task_identifier: string; payload: Record<string, unknown> }>(
    'select j.id, t.identifier as task_identifier, j.payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id order by j.id',
  );
  await sql().query('delete from graphile_worker._private_jobs');
  for (const { task_identifier, payload } of rows) {
    const job = billing.jobs[task_identifier as keyof typeof billing.jobs];
    await job?.run({ now: new Date(), payload, signal: new AbortController().signal });
  }
  return rows.map(({ task_identifier }) => task_identifier);
}

type Sent = {
  type: string;
  object: Record<string, unknown>;
  id?: string;
  created?: number;
  at?: Date;
  secret?: string;
  signature?: string | null;
};
async function send({
  type,
  object,
  id = `evt_${randomUUID().replaceAll('-', '')}`,
  created,
  at = new Date(),
  secret = 'whsec_local',
  signature,
}: Sent) {
  const body = JSON.stringify({ id, object: 'event', type, created: created ?? Math.floor(Date.now() / 1000), data: { object } });
  const header = signature === undefined ? stripeSignature(body, secret, at) : signature;
  const answer = await handleStripeWebhook(
    new Request('http://admin.test/admin/billing/webhook', {
      method: 'POST',
      body,
      headers: header === null ? {} : { 'stripe-signature': header },
    }),
  );
  return { status: answer.status, body: (await answer.json()) as { received?: boolean; duplicate?: boolean; code?: string } };
}

async function team(plan: 'free' | 'pro' = 'free') {
  const w = await workspace({ plan });
  const owner = await dashboardPerson();
  await owner.join(w.tenant.id, 'owner');
  const confirm = () => verified({ user_id: owner.user.id, session_id: owner.session.id }, 'billing.change');
  const account = () => db().billing_accounts.findUniqueOrThrow({ where: { tenant_id: w.tenant.id } });
  const standing = async () => {
    const row = await db().tenants.findUniqueOrThrow({ where: { id: w.tenant.id } });
    return [row.subscription_plan, row.subscription_status];
  };
  const buy = (plan: string, interval = 'month') => owner.call('POST /admin/billing/checkout', { plan, interval });
  const entries = async () =>
    (await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'billing' }, orderBy: { created_at: 'asc' } })).map(
      ({ details }) => details as { reason?: string; requested?: string; from?: unknown; to?: unknown },
    );
  return { w, owner, confirm, account, standing, buy, entries };
}

/** A workspace with a paid subscription, as after a checkout. */
async function subscribed(price = 'price_pro') {
  const t = await team();
  assert.equal((await t.buy('pro')).status, 200);
  const customer = (await t.account()).customer_id as string;
  const sub = provider.pay(customer, price);
  const event = () => send({ type: 'customer.subscription.updated', object: { id: sub.id, object: 'subscription', customer } });
  assert.equal((await event()).status, 200);
  await work();
  return { ...t, customer, sub, event };
}

test('a checkout leads to the provider’s page, and only a paid one changes the plan', async () => {
  const { w, owner, buy, account, standing, entries } = await team();
  const started = await buy('pro', 'year');
  assert.match(started.body.url, /^https:\/\/checkout\.stripe\.test\//);
  assert.deepEqual(await standing(), ['free', 'active']);
  const asked = provider.calls.findLast(({ path }) => path === '/v1/checkout/sessions');
  assert.deepEqual(
    [asked?.form['line_items[0][price]'], asked?.form.client_reference_id, asked?.form.mode, asked?.version],
    ['price_pro_year', w.tenant.id, 'subscription', '2026-10-28.endive'],
  );
  assert.match(String(asked?.form.success_url), new RegExp(`/${w.tenant.slug}/settings/billing`));
  const customer = (await account()).customer_id as string;
  const { id } = provider.pay(customer, 'price_pro_year');
  await send({ type: 'checkout.session.completed', object: { id: 'cs_x', object: 'checkout.session', customer, subscription: id } });
  assert.deepEqual(await work(), ['sync_billing']);
  const view = (await owner.call('GET /admin/billing')).body;
  assert.deepEqual(
    [view.plan, view.status, view.interval, view.payment_method],
    ['pro', 'active', 'year', { brand: 'visa', last4: '4242', exp_month: 4, exp_year: 2031 }],
  );
  assert.ok(view.period.end > view.period.start);
  const [requested, done] = await entries();
  assert.equal(requested?.requested, 'checkout');
  assert.deepEqual(
    [done?.reason, done?.from, done?.to],
    ['provider: checkout_completed', { plan: 'free', status: 'active' }, { plan: 'pro', status: 'active' }],
  );
});

test('parallel checkouts of one plan are one page and one customer; of two plans only the later page can be paid', async () => {
  const { buy, w } = await team();
  const before = provider.customers.size;
  const answers = await Promise.all(Array.from({ length: 5 }, () => buy('pro')));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ body }) => body.url)).size, 1);
  assert.equal(provider.customers.size, before + 1);
  const other = await buy('starter');
  assert.notEqual(other.body.url, answers[0]?.body.url);
  const mine = [...provider.sessions.values()].filter((session) => session.client_reference_id === w.tenant.id);
  assert.deepEqual(
    mine.map(({ status }) => status),
    ['expired', 'open'],
  );
});

test('should two checkouts be paid all the same, the later plan counts and the earlier subscription is ended', async () => {
  const { customer, sub, event, standing } = await subscribed();
  const later = provider.pay(customer, 'price_starter', { created: sub.created + 60 });
  await event();
  await work();
  assert.deepEqual([await standing(), sub.status, later.status], [['starter', 'active'], 'canceled', 'active']);
});

test('an event is processed once by its ID, however often and however parallel it is sent', async () => {
  const { customer, sub } = await subscribed();
  const object = { id: sub.id, object: 'subscription', customer };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => send({ id: 'evt_same', type: 'customer.subscription.updated', object })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(8).fill(200),
  );
  assert.equal(answers.filter(({ body }) => !body.duplicate).length, 1);
  assert.deepEqual(await work(), ['sync_billing']);
  assert.equal((await send({ id: 'evt_same', type: 'customer.subscription.deleted', object })).body.duplicate, true);
  assert.deepEqual(await work(), []);
});

test('a wrong signature, none, an old one, and one of the future are refused, and nothing is done', async () => {
  const { customer, standing } = await subscribed();
  const event = { type: 'customer.subscription.deleted', object: { object: 'subscription', customer } };
  const body = JSON.stringify(event);
  const wrong: Partial<Sent>[] = [
    { secret: 'whsec_other' },
    { signature: null },
    { signature: '' },
    { signature: 't=1' },
    { signature: `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` },
    { signature: stripeSignature(`${body} `, 'whsec_local', new Date()) },
    { at: new Date(Date.now() - 301_000) },
    { at: new Date(Date.now() + 400_000) },
  ];
  for (const one of wrong) {
    const answer = await send({ ...event, ...one });
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid'], JSON.stringify(one));
  }
  assert.deepEqual([await work(), await standing()], [[], ['pro', 'active']]);
});

test('an event about a customer we did not make, or that claims another workspace, touches nobody', async () => {
  const [mine, theirs] = [await subscribed(), await subscribed('price_starter')];
  theirs.sub.status = 'canceled';
  await send({
    type: 'customer.subscription.deleted',
    object: { object: 'subscription', customer: 'cus_unknown', metadata: { tenant_id: mine.w.tenant.id } },
  });
  await send({
    type: 'checkout.session.completed',
    object: {
      object: 'checkout.session',
      customer: theirs.customer,
      client_reference_id: mine.w.tenant.id,
      metadata: { tenant_id: mine.w.tenant.id },
    },
  });
  await send({
    type: 'invoice.paid',
    object: {
      id: 'in_forged',
      object: 'invoice',
      customer: theirs.customer,
      status: 'paid',
      total: 1,
      currency: 'usd',
      created: 1,
      metadata: { tenant_id: mine.w.tenant.id },
    },
  });
  await work();
  assert.deepEqual(
    [await mine.standing(), await theirs.standing()],
    [
      ['pro', 'active'],
      ['starter', 'cancelled'],
    ],
  );
  assert.deepEqual((await mine.owner.call('GET /admin/billing')).body.invoices, []);
  assert.equal((await theirs.owner.call('GET /admin/billing')).body.invoices.length, 1);
});

test('events in any order lead to where the subscription stands, and invoices to their last word', async () => {
  const { customer, sub, standing, owner } = await subscribed();
  const invoice = (status: string, created: number) =>
    send({
      type: `invoice.${status}`,
      created,
      object: {
        id: `in_${sub.id}`,
        object: 'invoice',
        customer,
        status,
        total: 4900,
        currency: 'eur',
        number: 'A-1',
        created: 1_000,
        invoice_pdf: 'https://pay.stripe.test/x.pdf',
      },
    });
  await invoice('paid', 3_000);
  await invoice('open', 2_000);
  sub.status = 'active';
  await send({
    type: 'customer.subscription.deleted',
    created: 5,
    object: { id: sub.id, object: 'subscription', customer, status: 'canceled' },
  });
  await work();
  assert.deepEqual(await standing(), ['pro', 'active'], 'an event only says that something happened');
  const [shown] = (await owner.call('GET /admin/billing')).body.invoices;
  assert.deepEqual([shown.status, shown.amount, shown.currency, shown.pdf_url], ['paid', 4900, 'eur', 'https://pay.stripe.test/x.pdf']);
});

test('a failed renewal is dunned and retried on its days, a payment ends that, and a subscription that ended cancels', async () => {
  const { sub, event, standing, w } = await subscribed();
  sub.status = 'past_due';
  await event();
  await work();
  assert.deepEqual(await standing(), ['pro', 'dunning']);
  provider.state.declines = true;
  const sweep = (days: number) => sweepLeases(leases, { db: db(), now: new Date(Date.now() + days * DAY + 60_000) });
  await sweep(0);
  await sweep(1);
  assert.deepEqual(await work(), ['retry_payment']);
  assert.deepEqual(await standing(), ['pro', 'dunning'], 'declined again');
  provider.state.declines = false;
  await sweep(3);
  assert.deepEqual(await work(), ['retry_payment']);
  assert.deepEqual(await standing(), ['pro', 'active']);
  sub.status = 'canceled';
  await event();
  await work();
  assert.deepEqual(await standing(), ['pro', 'cancelled']);
  assert.equal((await db().billing_accounts.findUniqueOrThrow({ where: { tenant_id: w.tenant.id } })).subscription_id, null);
});

test('what nobody pays for is ended at the provider too', async () => {
  const { sub, event, standing } = await subscribed();
  sub.status = 'past_due';
  await event();
  await work();
  await sweepLeases(leases, { db: db(), now: new Date(Date.now() + 50 * DAY) });
  await work();
  assert.deepEqual([await standing(), sub.status], [['pro', 'cancelled'], 'canceled']);
});

test('an Owner cancels, resumes, pauses and changes the plan at the provider, each confirmed, and sees what it answered', async () => {
  const { owner, confirm, sub, standing, buy } = await subscribed();
  const post = (verb: string, body = {}) => owner.call(`POST /admin/billing/${verb}`, body);
  assert.equal((await buy('starter')).body.code, 'mfa_required', 'a change of what is paid for takes a factor');
  await confirm();
  assert.ok((await post('cancel')).body.cancel_at);
  assert.equal(sub.cancel_at_period_end, true);
  assert.equal((await post('resume')).body.cancel_at, null);
  assert.equal(sub.cancel_at_period_end, false);
  await confirm();
  const paused = await post('pause', { days: 10 });
  assert.deepEqual([paused.body.status, paused.body.paused_by, sub.pause_collection?.behavior], ['paused', 'owner', 'void']);
  assert.equal((await post('resume')).body.status, 'active');
  assert.equal((await buy('starter')).body.code, 'step_up_required');
  await confirm();
  const changed = await buy('starter');
  assert.deepEqual([changed.body.url, changed.body.billing.plan, sub.items.data[0]?.price.id], [null, 'starter', 'price_starter']);
  assert.match((await post('portal')).body.url, /^https:\/\/portal\.stripe\.test\//);
  await confirm();
  provider.state.down = true;
  const refused = await post('cancel');
  assert.deepEqual([refused.status, refused.body.code], [503, 'dependency_unavailable']);
  assert.deepEqual(await standing(), ['starter', 'active'], 'nothing is shown that the provider does not know');
});

test('a suspension by the operator outlives payments, and stops checkouts', async () => {
  const { w, event, standing, buy, confirm } = await subscribed();
  await suspend({ slug: w.tenant.slug });
  await event();
  await work();
  assert.deepEqual(await standing(), ['pro', 'paused']);
  await confirm();
  assert.equal((await buy('starter')).body.code, 'conflict');
});
