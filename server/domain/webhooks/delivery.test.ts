import assert from 'node:assert/strict';
import test from 'node:test';
import Stripe from 'stripe';
import { raise } from '#server/domain/events/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { answering, deliveriesOf, delivering, due, hmac, receiver, statesOf, webhookTo } from './receiver.fixture.ts';

await ownDatabase();

const rotated = (ctx: Ctx, data: Record<string, unknown> = { name: 'A' }) =>
  inTransaction(ctx, (tx) => raise(tx, ctx, [{ type: 'secret.rotated', source_id: null, data }]));
const attemptsOf = (id: string) => db().webhook_attempts.findMany({ where: { webhook_id: id }, orderBy: { executed_at: 'asc' } });

test('500, 500, 200 are three attempts of one delivery: same event and time of it, fresh timestamp and signature, and each in the log', async () => {
  const w = await workspace();
  const { seen, url } = await answering(500, 500, 200);
  const { id, secret_key } = await webhookTo(w.live, url, { hmac_format: 'stripe' });
  await rotated(w.live);
  await delivering(() =>
    until(async () => {
      await due(id);
      return (await statesOf(id)) === 'succeeded';
    }, 'it is delivered'),
  );
  assert.equal(seen.length, 3);
  assert.deepEqual(
    seen.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '2', '3'],
  );
  assert.equal(new Set(seen.map(({ envelope: { timestamp: _, ...rest } }) => JSON.stringify(rest))).size, 1, 'only the timestamp differs');
  assert.equal(new Set(seen.map(({ headers }) => headers['x-webhook-delivery'])).size, 1);
  const { webhooks } = new Stripe('sk_test_none');
  for (const { body, headers, envelope } of seen) {
    assert.ok(webhooks.constructEvent(body, headers['stripe-signature'] as string, secret_key), 'a verifier of the format takes it');
    const t = Number(/^t=(\d+)/.exec(headers['stripe-signature'] as string)?.[1]);
    assert.equal(t, Math.floor(Date.parse(envelope.timestamp) / 1_000));
    assert.equal(headers['x-webhook-timestamp'], String(t));
    assert.equal(headers['x-webhook-event'], 'secret.rotated');
    assert.equal(headers['x-webhook-id'], envelope.id);
    assert.equal(headers['user-agent'], 'svc-webhooks/1');
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    assert.match(headers.traceparent as string, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  }
  assert.deepEqual(Object.keys(seen[0]!.envelope), [
    'id',
    'event',
    'timestamp',
    'occurred_at',
    'webhook_id',
    'webhook_name',
    'sandbox',
    'data',
  ]);
  const log = await attemptsOf(id);
  assert.deepEqual(
    log.map(({ attempt, success, response_status, error_code, next_attempt_at }) => [
      attempt,
      success,
      response_status,
      error_code,
      next_attempt_at !== null,
    ]),
    [
      [1, false, 500, 'http_status', true],
      [2, false, 500, 'http_status', true],
      [3, true, 200, null, false],
    ],
  );
  const row = await made(w.live, 'webhooks.get', { id });
  assert.deepEqual([row.trigger_count, row.success_count, row.failure_count, row.consecutive_failures], [1, 1, 0, 0]);
  assert.ok(row.last_success_at && row.last_failure_at);
});

test('every format signs what is sent, and a receiver that computes it by hand agrees', async () => {
  const w = await workspace();
  const { seen, url } = await answering(200);
  const formats = ['legacy', 'github', 'slack', 'aws-sns', 'custom'] as const;
  const keys = new Map<string, string>();
  for (const hmac_format of formats) {
    const input = { hmac_format, ...(hmac_format === 'custom' ? { hmac_header_name: 'X-Acme' } : {}) };
    const { id, secret_key } = await webhookTo(w.live, url, input);
    keys.set(id, secret_key);
    assert.match(secret_key, /^whsec_[A-Za-z0-9_-]{43}$/);
  }
  await rotated(w.live);
  await delivering(() => until(() => seen.length === formats.length, 'all arrive'));
  for (const { body, headers, envelope } of seen) {
    const key = keys.get(envelope.webhook_id) as string;
    const plain = `sha256=${hmac(key, body)}`;
    const t = headers['x-webhook-timestamp'];
    const found = [
      headers['x-webhook-signature'],
      headers['x-hub-signature-256'],
      headers['x-acme'],
      headers['x-amz-sns-signature'],
      headers['x-slack-signature'],
    ];
    const expected = [plain, plain, plain, Buffer.from(hmac(key, body), 'hex').toString('base64'), `v0=${hmac(key, `v0:${t}:${body}`)}`];
    const at = found.findIndex((value) => value !== undefined);
    assert.equal(found[at], expected[at]);
    if (at === 4) assert.equal(headers['x-slack-request-timestamp'], t);
  }
});

test('Test and Live do not cross, and other workspaces get nothing', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const { seen, url } = await answering(200);
  const [live, sandbox] = [await webhookTo(w.live, url), await webhookTo(w.test, url)];
  await webhookTo(other.live, url);
  await rotated(w.live, { in: 'live' });
  await rotated(w.test, { in: 'test' });
  await delivering(() =>
    until(async () => (await statesOf(live.id)) + (await statesOf(sandbox.id)) === 'succeededsucceeded', 'both arrive'),
  );
  const arrived = seen.map(({ envelope }) => [envelope.webhook_id, envelope.sandbox, envelope.data.in]).sort();
  assert.deepEqual(arrived, [[live.id, false, 'live'] as const, [sandbox.id, true, 'test'] as const].sort());
});

test('an audit entry arrives without the name of a webhook, filtered by its patterns; one that was rolled back does not', async () => {
  const w = await workspace();
  const { seen, url } = await answering(200);
  await webhookTo(w.live, url, { event_types: ['audit.event'], filters: { audit: ['route.*'] } });
  const entry = (resource_type: string) => ({ action: 'update', resource_type, resource_id: newId(), name: 'changed' });
  await assert.rejects(
    inTransaction(w.live, async (tx) => {
      await mutate({ ...w.live, tx }, async () => audited(undefined, { ...entry('route'), name: 'rolled back' }));
      throw new Error('changed my mind');
    }),
  );
  await mutate(w.live, async () => audited(undefined, entry('secret')));
  await mutate(w.live, async () => audited(undefined, entry('route')));
  await delivering(async () => {
    await until(() => seen.length === 1, 'it arrives');
    await until(
      async () => (await db().events.count({ where: { tenant_id: w.tenant.id, dispatch_at: { not: null } } })) === 0,
      'nothing waits',
    );
  });
  const { envelope } = seen[0]!;
  assert.deepEqual(Object.keys(envelope), ['id', 'event', 'timestamp', 'occurred_at', 'sandbox', 'data']);
  assert.deepEqual([envelope.event, envelope.data.resource_type, envelope.data.details.name], ['audit.event', 'route', 'changed']);
  assert.equal(seen.length, 1);
});

test('each auth type authenticates with the secrets it names, put in per attempt; a rotated secret is used at once and none is logged', async () => {
  const w = await workspace();
  const secret = await made(w.live, 'secrets.create', { name: fresh('HOOK_TOKEN'), value: 'the-first-value-9f2' });
  const { seen, url } = await answering(503, 200);
  const placeholder = `{{secret:${secret.name}}}`;
  const { id } = await webhookTo(w.live, url, {
    auth_type: 'bearer',
    auth_config: { token: placeholder },
    request_headers: { 'X-Team': `team ${`{{secret_id:${secret.id}}}`}` },
  });
  await rotated(w.live);
  await delivering(async () => {
    await until(async () => (await attemptsOf(id)).length === 1, 'the first attempt');
    await made(w.live, 'secrets.put_value', { id: secret.id, environment: 'production', value: 'the-second-value-9f2' });
    await until(async () => {
      await due(id);
      return seen.length >= 3;
    }, 'all');
  });
  assert.equal(seen[0]?.headers.authorization, 'Bearer the-first-value-9f2');
  assert.equal(seen[0]?.headers['x-team'], 'team the-first-value-9f2');
  assert.ok(seen.slice(1).every(({ headers }) => headers.authorization === 'Bearer the-second-value-9f2'));
  const log = JSON.stringify(await attemptsOf(id), (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : typeof value === 'bigint' ? String(value) : value,
  );
  assert.doesNotMatch(log, /-value-9f2/);
  const usage = await made(w.live, 'secrets.usage', { id: secret.id });
  assert.deepEqual(usage.references.map(({ kind, id: of, field, by }: Record<string, string>) => [kind, of, field, by]).sort(), [
    ['webhook', id, 'auth_config.token', 'name'],
    ['webhook', id, 'request_headers.X-Team', 'id'],
  ]);
  await made(w.live, 'secrets.delete', { id: secret.id }).catch(() => db().secrets.delete({ where: { id: secret.id } }));
  await rotated(w.live);
  await delivering(() => until(async () => (await attemptsOf(id)).at(-1)?.error_code === 'secret_unresolved', 'it fails'));
});

test('basic, header and a secret of the customer work; what a type does not take is refused', async () => {
  const w = await workspace();
  const { seen, url } = await answering(200);
  await webhookTo(w.live, url, { name: 'basic', auth_type: 'basic', auth_config: { username: 'u', password: 'p:w' } });
  await webhookTo(w.live, url, { name: 'header', auth_type: 'header', auth_config: { name: 'X-Key', value: 'k' } });
  const own = 'a secret of the customer 0123456789';
  const made = await webhookTo(w.live, url, { name: 'hmac', auth_type: 'hmac', auth_config: { secret: own } });
  assert.equal(made.secret_key, own);
  await rotated(w.live);
  await delivering(() => until(() => seen.length === 3, 'all arrive'));
  const by = (name: string) => seen.find(({ envelope }) => envelope.webhook_name === name)!;
  assert.equal(by('basic').headers.authorization, `Basic ${Buffer.from('u:p:w').toString('base64')}`);
  assert.equal(by('header').headers['x-key'], 'k');
  assert.equal(by('hmac').headers['x-webhook-signature'], `sha256=${hmac(own, by('hmac').body)}`);
  for (const [auth_type, auth_config, message] of [
    ['basic', { username: 'u' }, /auth_config.password: is required/],
    ['none', { token: 't' }, /isn't a member/],
    ['bearer', { token: '{{var:x}}' }, /placeholders of secrets/],
    ['bearer', { token: '{{secret:NOBODY}}' }, /doesn't exist/],
  ] as const)
    await assert.rejects(webhookTo(w.live, url, { auth_type, auth_config }), message);
});

test('a GET has the envelope in its query; one that would be too long loses its bodies and says so', async () => {
  const w = await workspace();
  const { seen, url } = await answering(200);
  await webhookTo(w.live, `${url}?team=1`, { method: 'get', event_types: ['request.completed'] });
  const call = (body: unknown) => ({
    route_id: newId(),
    request: { method: 'POST', path: '/', ip: null, body },
    response: { status: 200, latency_ms: 1 },
  });
  for (const body of ['small', 'x'.repeat(9_000)])
    await inTransaction(w.live, (tx) => raise(tx, w.live, [{ type: 'request.completed', source_id: null, data: call(body) }]));
  await delivering(() => until(() => seen.length === 2, 'both arrive'));
  for (const { method, url: target, envelope, headers, body } of seen) {
    assert.equal(method, 'GET');
    const query = new URL(target, 'http://x').searchParams;
    assert.deepEqual([query.get('team'), query.get('event'), query.get('id')], ['1', 'request.completed', envelope.id]);
    assert.ok(target.length < 8_192);
    assert.match(headers['x-webhook-signature'] as string, /^sha256=[0-9a-f]{64}$/);
    assert.ok(body.length > 0);
  }
  const flags = seen.map(({ envelope }) => [envelope.data.request.body ?? null, envelope.data.request_body_truncated ?? false]);
  assert.deepEqual(flags.sort(), [
    [null, true],
    ['small', false],
  ]);
});

test('410 ends the delivery, turns the webhook off, drops what waits and tells people and other webhooks', async () => {
  const w = await workspace();
  const { url } = await answering(410);
  const told = await answering(200);
  const { id } = await webhookTo(w.live, url);
  await webhookTo(w.live, told.url, { event_types: ['webhook.disabled'] });
  await rotated(w.live);
  await delivering(async () => {
    await until(async () => !(await made(w.live, 'webhooks.get', { id })).enabled, 'it is off');
    await until(() => told.seen.length === 1, 'it is told');
    await until(async () => (await statesOf(id)) === 'exhausted', 'it ended');
  });
  const row = await made(w.live, 'webhooks.get', { id });
  assert.deepEqual([row.disabled_reason, row.enabled], ['gone', false]);
  assert.deepEqual(told.seen[0]?.envelope.data, { webhook_id: id, webhook_name: row.name, host: new URL(url).host, reason: 'gone' });
  const audit = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, resource_id: id, action: 'disable' } });
  assert.equal((audit.details as { reason: string }).reason, 'gone');
  await made(w.live, 'webhooks.update', { id, enabled: true });
  assert.deepEqual([(await made(w.live, 'webhooks.get', { id })).disabled_reason], [null]);
});

test('what waits is dropped when its webhook is turned off or deleted', async () => {
  const w = await workspace();
  const { url } = await answering(500);
  const [off, gone] = [await webhookTo(w.live, url), await webhookTo(w.live, url)];
  await rotated(w.live);
  await delivering(() => until(async () => (await attemptsOf(off.id)).length + (await attemptsOf(gone.id)).length === 2, 'both wait'));
  await made(w.live, 'webhooks.update', { id: off.id, enabled: false });
  await made(w.live, 'webhooks.delete', { id: gone.id });
  assert.deepEqual([await statesOf(off.id), await statesOf(gone.id)], ['dropped', 'dropped']);
  assert.deepEqual(await attemptsOf(gone.id), []);
  assert.equal(await db().event_subscriptions.count({ where: { destination_id: gone.id } }), 0);
});

test('at most 50,000 wait for a webhook; what it misses then is counted', async () => {
  const w = await workspace();
  const { url } = await receiver();
  const { id } = await webhookTo(w.live, url);
  const event_id = newId();
  const at = { tenant_id: w.tenant.id, sandbox: false };
  await db().events.create({
    data: {
      ...at,
      id: event_id,
      type: 'secret.rotated',
      occurred_at: new Date(),
      expires_at: new Date(Date.now() + 3_600_000),
      dispatch_at: null,
    },
  });
  await db()
    .$executeRaw`insert into deliveries (id, tenant_id, sandbox, event_id, channel, destination_id, max_attempts, next_attempt_at, trigger)
    select gen_random_uuid(), ${w.tenant.id}::uuid, false, ${event_id}::uuid, 'webhook', ${id}::uuid, 1, now() + interval '1 day', 'recover' from generate_series(1, 49999)`;
  for (let n = 0; n < 3; n++) await rotated(w.live, { n });
  await delivering(() => until(async () => (await made(w.live, 'webhooks.get', { id })).dropped === 2, 'two are missed'));
  assert.equal(await db().deliveries.count({ where: { destination_id: id, trigger: 'event' } }), 1);
});

test('a delivery goes again on request with the same event, and what failed for good is recovered once, the oldest first', async () => {
  const w = await workspace();
  let broken = true;
  const { seen, url } = await receiver((res) => void res.writeHead(broken ? 500 : 200).end());
  const { id } = await webhookTo(w.live, url, { retry_on_failure: false });
  for (let n = 0; n < 3; n++) await rotated(w.live, { n });
  await delivering(() => until(async () => (await statesOf(id)) === 'exhausted,exhausted,exhausted', 'all failed'));
  broken = false;
  const [first] = await attemptsOf(id);
  const again = await made(w.live, 'webhooks.redeliver', { id, log_id: first!.id });
  assert.deepEqual([again.event_id, again.status], [first!.event_id, 'pending']);
  await assert.rejects(made(w.test, 'webhooks.redeliver', { id, log_id: first!.id }), /doesn't exist/);
  const since = new Date(Date.now() - 60_000).toISOString();
  assert.deepEqual(await made({ ...w.live, now: new Date() }, 'webhooks.recover', { id, since }), { queued: 2 });
  assert.deepEqual(await made({ ...w.live, now: new Date() }, 'webhooks.recover', { id, since }), { queued: 0 });
  await delivering(() =>
    until(async () => (await deliveriesOf(id)).filter(({ state }) => state === 'succeeded').length === 3, 'all arrive'),
  );
  assert.equal(new Set(seen.map(({ envelope }) => envelope.id)).size, 3);
  const row = await made(w.live, 'webhooks.get', { id });
  assert.deepEqual([row.trigger_count, row.success_count, row.failure_count, row.failing_since], [6, 3, 3, null]);
  await assert.rejects(made(w.live, 'webhooks.recover', { id, since: new Date(Date.now() - 15 * 86_400_000).toISOString() }), /14 days/);
  await made(w.live, 'webhooks.update', { id, enabled: false });
  await assert.rejects(made(w.live, 'webhooks.redeliver', { id, log_id: first!.id }), /disabled/);
});
