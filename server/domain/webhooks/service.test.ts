import assert from 'node:assert/strict';
import test from 'node:test';
import { EVENT_TYPES } from '#server/domain/events/catalogue.shared.ts';
import { addMembership, createUser } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { isOpenPort } from '#server/platform/http-out/open-port.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { checkHealth } from './health.ts';
import { pruneWebhooks } from './pruning.ts';
import { answering, hmac, receiver, webhookTo } from './receiver.fixture.ts';
import { revealOfSecret, revealSecret } from './secrets.ts';
import { checkUrl, maskedUrl } from './target.ts';

await testDatabase();

const entriesOf = async (tenant_id: string, resource_id: string) =>
  (await db().audit_logs.findMany({ where: { tenant_id, resource_id }, orderBy: { seq: 'asc' } })).map(({ action, details }) => ({
    action,
    ...(details as { changes?: { field: string; to?: unknown; changed?: true }[]; field?: string; operation?: string }),
  }));

/** An Owner of the workspace; answers the mails they were sent. */
async function owner(w: Workspace) {
  const email = `${fresh('owner')}@example.test`;
  const now = new Date();
  await db().$transaction(async (tx) => {
    const user = await createUser(tx, { email, full_name: 'Owner', password_hash: null, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role: 'owner', source: 'invite', now });
  });
  return async () => (await db().mails.findMany({ where: { recipient: email }, orderBy: { created_at: 'asc' } })).map(({ kind }) => kind);
}

test('the list of event types is the catalogue, and tests cannot be subscribed to', async () => {
  const w = await workspace();
  const { event_types } = await made(w.live, 'webhooks.event_types');
  assert.deepEqual(
    event_types.map(({ value }: { value: string }) => value),
    Object.keys(EVENT_TYPES),
  );
  // Interface rule 60 §3, but for the optional one and the test.
  const spec =
    `request.received request.success request.redirect request.client_error request.server_error request.timeout request.error request.completed
    audit.event audit_chain.failed workflow.execution.completed workflow.execution.failed webhook.disabled secret.expiring secret.expired secret.rotated secret.expired_used
    secret.rotation_due secret.oauth2.disconnected secret.share.claimed secret.share.revoked wrap.token.created wrap.token.revoked wrap.token.exposed
    opportunity.created opportunity.accepted migration.awaiting_review migration.completed migration.failed migration.item.expiring tenant.sealed tenant.unsealed
    vault.token.expiring pki.certificate.expiring dyn_db.lease.expired dyn_db.lease.errored ai.budget.threshold ai.budget.exceeded ai.firewall.blocked
    ai.canary.leaked ai.token.step_up_required ai.agent.paused ai.model.unpriced ai.upstream.failing ai.mcp.tool_poisoning ai.mcp.tool_changed agent.online agent.offline
    agent.tamper_detected alert.triggered alert.resolved usage.threshold_reached`.split(/\s+/);
  assert.deepEqual(Object.keys(EVENT_TYPES).sort(), spec.sort());
});

test('a secret is shown at its birth alone; headers and credentials never, and an update shows no secret', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  const created = await webhookTo(w.live, url, {
    auth_type: 'bearer',
    auth_config: { token: 'canary-token-771' },
    request_headers: { 'X-Canary': 'canary-header-771' },
  });
  assert.match(created.secret_key, /^whsec_[A-Za-z0-9_-]{43}$/);
  const { id } = created;
  const updated = await made(w.live, 'webhooks.update', { id, name: 'renamed', request_headers: { 'X-Canary': 'canary-other-771' } });
  assert.deepEqual(Object.keys(updated).sort(), [
    'auth_type',
    'created_at',
    'description',
    'enabled',
    'event_types',
    'id',
    'method',
    'name',
    'url',
  ]);
  const detail = await made(w.live, 'webhooks.get', { id });
  assert.equal(detail.has_request_headers, true);
  for (const shown of [updated, detail, await entriesOf(w.tenant.id, id)]) assert.doesNotMatch(JSON.stringify(shown), /canary-|whsec_/);
  const entries = await entriesOf(w.tenant.id, id);
  assert.deepEqual(
    entries[1]?.changes?.map(({ field, changed }) => [field, changed ?? false]),
    [
      ['name', false],
      ['request_headers', true],
    ],
  );
});

test('turning off and on is an entry of its own, and on again forgets the failures', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  const { id } = await webhookTo(w.live, url);
  await db().webhooks.update({ where: { id }, data: { consecutive_failures: 7, failing_since: new Date() } });
  await made(w.live, 'webhooks.update', { id, enabled: false });
  assert.equal((await made(w.live, 'webhooks.get', { id })).disabled_reason, 'manual');
  await made(w.live, 'webhooks.update', { id, enabled: true });
  const { disabled_reason, failing_since, consecutive_failures } = await made(w.live, 'webhooks.get', { id });
  assert.deepEqual([disabled_reason, failing_since, consecutive_failures], [null, null, 0]);
  assert.deepEqual(
    (await entriesOf(w.tenant.id, id)).map(({ action }) => action),
    ['create', 'disable', 'enable'],
  );
});

test('what names nothing of this space is refused, and so is a header the request needs', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  const foreign = await made(w.test, 'crypto_keys.create', { name: fresh('mac'), key_type: 'hmac-sha256' });
  const wrong = await made(w.live, 'crypto_keys.create', { name: fresh('aes'), key_type: 'aes256-gcm' });
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ route_filter: [newId()] }, /route_filter: names a route/],
    [{ hmac_key_id: newId() }, /hmac_key_id: names a crypto key/],
    [{ hmac_key_id: foreign.id }, /hmac_key_id: names a crypto key/],
    [{ hmac_key_id: wrong.id }, /must be a crypto key of type hmac-sha256/],
    [{ hmac_format: 'custom' }, /hmac_header_name: is required/],
    [{ hmac_header_name: 'X-Mine' }, /only for hmac_format custom/],
    [{ auth_type: 'bearer' }, /auth_config.token: is required/],
  ];
  for (const [input, message] of cases) await assert.rejects(webhookTo(w.live, url, input), message);
  const { CreateWebhook } = await import('./schema.ts');
  const base = { name: 'n', url, event_types: ['audit.event'] };
  for (const name of ['Host', 'content-length', 'X-Webhook-Signature', 'x-svc-verified', 'Stripe-Signature', 'bad name'])
    assert.equal(CreateWebhook.safeParse({ ...base, request_headers: { [name]: 'x' } }).success, false, name);
  assert.equal(CreateWebhook.safeParse({ ...base, event_types: [] }).success, false);
  const unknown = CreateWebhook.safeParse({ ...base, event_types: ['request.nonsense'] });
  assert.match(unknown.error?.message ?? '', /request\.nonsense/);
  assert.deepEqual(CreateWebhook.parse({ ...base, event_types: ['audit.event', 'audit.event'], method: 'put' }).event_types, [
    'audit.event',
  ]);
  assert.equal(CreateWebhook.safeParse({ ...base, request_headers: { 'X-A': 'split\r\nX-B: c' } }).success, false);
});

test('a key that signs cannot be destroyed, and its secret is not the one to rotate', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  const key = await made(w.live, 'crypto_keys.create', { name: fresh('mac'), key_type: 'hmac-sha256' });
  const { id, hmac_key_id } = await webhookTo(w.live, url, { hmac_key_id: key.id });
  assert.equal(hmac_key_id, key.id);
  await made(w.live, 'crypto_keys.update', { name: key.name, deletion_allowed: true });
  await assert.rejects(made(w.live, 'crypto_keys.delete', { name: key.name }), /webhook/);
  await assert.rejects(made(w.live, 'webhooks.rotate_secret', { id, overlap_hours: 24 }), /crypto key signs/);
});

test('only who may read secrets, or sign with keys, can have a webhook use them', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  const secret = await made(w.live, 'secrets.create', { name: fresh('S'), value: 'v' });
  const key = await made(w.live, 'crypto_keys.create', { name: fresh('mac'), key_type: 'hmac-sha256' });
  const without = (...gone: string[]) => ({
    ...w.live,
    actor: { ...w.live.actor, capabilities: new Set([...w.live.actor.capabilities].filter((one) => !gone.includes(one))) },
  });
  const auth = { auth_type: 'bearer', auth_config: { token: `{{secret:${secret.name}}}` } };
  await assert.rejects(webhookTo(without('secret:read'), url, auth), /secret:read/);
  await assert.rejects(webhookTo(without('transit:sign'), url, { hmac_key_id: key.id }), /transit:sign/);
  const { id } = await webhookTo(w.live, url, auth);
  // Sending the secret to another place takes the same right as naming it.
  await assert.rejects(made(without('secret:read'), 'webhooks.update', { id, url: `${url}/elsewhere` }), /secret:read/);
  await made(without('secret:read'), 'webhooks.update', { id, name: 'renamed' });
});

test('what a webhook writes out follows to no other host; what it refers to has a pin of its own, and the path is free', async () => {
  const w = await workspace();
  const secret = await made(w.live, 'secrets.create', { name: 'HOOK_TOKEN', value: 'a value', allowed_hosts: ['hooks.example.com'] });
  const at = (port: number, path = '') => `http://127.0.0.1:${port}/hooks${path}`;
  const of = async (more: Record<string, unknown>) =>
    (await made(w.live, 'webhooks.create', { name: fresh('hook'), url: at(65001), event_types: ['audit.event'], ...more })).id;
  const move = (id: string, more: Record<string, unknown> = {}) => made(w.live, 'webhooks.update', { id, url: at(65002), ...more });
  const refused = { type: 'validation_error', message: /^url: can't be changed here while/ };
  const basic = { auth_type: 'basic', auth_config: { username: 'u', password: 'p' } };

  for (const literal of [
    basic,
    { auth_type: 'header', auth_config: { name: 'X-Key', value: 'k' } },
    { request_headers: { 'X-Key': 'k' } },
    { auth_type: 'bearer', auth_config: { token: 't' }, request_headers: { 'X-Ref': '{{secret:HOOK_TOKEN}}' } },
  ])
    await assert.rejects(move(await of(literal)), refused, JSON.stringify(literal));
  await move(await of({ auth_type: 'bearer', auth_config: { token: `{{secret_id:${secret.id}}}` } }));
  await move(await of({ ...basic, auth_config: { username: 'u', password: '{{secret:HOOK_TOKEN}}' } }));
  await move(await of({ auth_type: 'hmac', auth_config: { secret: 'a signing secret that is never sent' } }));

  const id = await of({ ...basic, request_headers: { 'X-Key': 'k' } });
  await made(w.live, 'webhooks.update', { id, url: at(65001, '/elsewhere') });
  await assert.rejects(move(id, { auth_config: { username: 'u', password: 'another' } }), refused, 'the headers would follow');
  await assert.rejects(move(id, { request_headers: null }), refused, 'the password would follow');
  await move(id, { auth_type: 'none', request_headers: null });
});

test('a reveal shows the secret that signs, under both of its names, and none where a key signs', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  const { id, secret_key } = await webhookTo(w.live, url);
  const plain = { secret_key, secret: secret_key, previous_secret_expires_at: null };
  assert.deepEqual(await revealSecret(w.live, { id }), plain);
  const next = await made(w.live, 'webhooks.rotate_secret', { id, overlap_hours: 2 });
  const shown = await revealSecret({ ...w.live, now: new Date() }, { id });
  assert.deepEqual([shown.secret_key, shown.secret], [next.secret_key, next.secret_key]);
  assert.equal(shown.previous_secret_expires_at?.toISOString(), next.previous_secret_expires_at);
  const key = await made(w.live, 'crypto_keys.create', { name: fresh('mac'), key_type: 'hmac-sha256' });
  const keyed = await webhookTo(w.live, url, { hmac_key_id: key.id });
  // Before anything of the person is asked for or spent (interface rule 60 §4).
  await assert.rejects(async () => revealOfSecret.state?.(w.live, { id: keyed.id }), { type: 'conflict', status: 409 });
});

test('rotation keeps the secret before for the overlap, and zero ends it at once', async () => {
  const w = await workspace();
  const mails = await owner(w);
  const { seen, url } = await answering(200);
  const { id, secret_key } = await webhookTo(w.live, url, { hmac_format: 'stripe' });
  const next = await made(w.live, 'webhooks.rotate_secret', { id, overlap_hours: 1 });
  await made(w.live, 'webhooks.test', { id });
  const [, t, one, two] = /^t=(\d+),v1=([0-9a-f]+),v1=([0-9a-f]+)$/.exec(seen[0]?.headers['stripe-signature'] as string) ?? [];
  assert.deepEqual([one, two], [hmac(next.secret_key, `${t}.${seen[0]?.body}`), hmac(secret_key, `${t}.${seen[0]?.body}`)]);
  const last = await made(w.live, 'webhooks.rotate_secret', { id, overlap_hours: 0 });
  assert.equal(last.previous_secret_expires_at, null);
  await made(w.live, 'webhooks.test', { id });
  assert.match(seen[1]?.headers['stripe-signature'] as string, /^t=\d+,v1=[0-9a-f]+$/);
  assert.deepEqual(await mails(), ['webhook_secret_rotated', 'webhook_secret_rotated'], 'Owners are told when a program rotates it');
  const [, entry] = await entriesOf(w.tenant.id, id);
  assert.equal(entry?.field, 'secret_key');
});

test('a replaced secret whose overlap is over is removed', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  const { id } = await webhookTo(w.live, url);
  await made(w.live, 'webhooks.rotate_secret', { id, overlap_hours: 1 });
  assert.equal(await db().webhook_secrets.count({ where: { webhook_id: id } }), 2);
  await pruneWebhooks(new Date(Date.now() + 2 * 3_600_000));
  assert.equal(await db().webhook_secrets.count({ where: { webhook_id: id } }), 1);
});

test('a test answers with what the receiver said, works for a disabled webhook, is in the log, and counts nothing', async () => {
  const w = await workspace();
  const { seen, url } = await receiver((res, nth) => (nth === 0 ? void res.writeHead(204).end() : void res.writeHead(500).end('no')));
  const { id } = await webhookTo(w.live, url, { enabled: false });
  const ok = await made(w.live, 'webhooks.test', { id });
  assert.deepEqual([ok.success, ok.status, 'error' in ok], [true, 204, false]);
  assert.deepEqual(seen[0]?.envelope.data, { message: 'test delivery', triggered_by: 'api' });
  const bad = await made(w.live, 'webhooks.test', { id, event_type: 'request.server_error' });
  assert.deepEqual([bad.success, bad.status, typeof bad.error], [false, 500, 'string']);
  assert.equal(seen[1]?.envelope.data.sample, true);
  const { rows } = await import('./attempts.ts').then(({ listAttempts }) => listAttempts(w.live, { id, page: 1, per_page: 20 }));
  assert.deepEqual(
    rows.map(({ trigger, success, response_status }) => [trigger, success, response_status]),
    [
      ['test', false, 500],
      ['test', true, 204],
    ],
  );
  const row = await made(w.live, 'webhooks.get', { id });
  assert.deepEqual([row.trigger_count, row.success_count, row.failure_count], [0, 0, 0]);
});

test('a webhook is tested ten times a minute at most', async () => {
  const w = await workspace();
  const { url } = await answering(200);
  const { id } = await webhookTo(w.live, url);
  const results = await Promise.allSettled(Array.from({ length: 12 }, () => made(w.live, 'webhooks.test', { id })));
  const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason.type] : []));
  assert.deepEqual(refused, ['rate_limit_exceeded', 'rate_limit_exceeded']);
});

test('private, odd and foreign-looking addresses are refused when saved, whatever they are spelled like', async () => {
  for (const url of [
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::ffff:10.0.0.1]/',
    'https://169.254.169.254/latest',
    'https://metadata.google.internal/',
    'https://user:pw@example.com/',
    'https://example.com/#x',
    'ftp://example.com/',
    'https://example.com:6379/',
    'https://example.com:22/',
    'https://example.com/a b',
  ])
    assert.notEqual((await checkUrl(url.replace('127.0.0.1', '10.0.0.5'), { sandbox: false })).problem, null, url);
  for (const port of [443, 8443, 1024, 65_535]) assert.ok(isOpenPort('https', port));
  for (const port of [22, 25, 80, 2375, 3306, 5432, 6379, 9200, 11211, 27017]) assert.ok(!isOpenPort('https', port), String(port));
  assert.ok(isOpenPort('http', 80));
});

test('the log shows no credential of a URL', () => {
  assert.equal(
    maskedUrl('https://hooks.example.com/services/T024BE7LD/B0/x7FaKq0Zl1mN2oP3qR4s'),
    'https://hooks.example.com/services/T024BE7LD/B0/[redacted]',
  );
  assert.equal(maskedUrl('https://example.com/in?token=abc&team=1'), 'https://example.com/in?token=[redacted]&team=[redacted]');
  assert.equal(maskedUrl('https://example.com:8443/orders/created'), 'https://example.com:8443/orders/created');
});

test('after five days and twenty failures without a success a webhook is disabled; after one day people are warned once', async () => {
  const w = await workspace();
  const mails = await owner(w);
  const { url } = await answering(200);
  const day = 86_400_000;
  const failing = async (days: number, consecutive_failures: number) => {
    const { id } = await webhookTo(w.live, url);
    await db().webhooks.update({ where: { id }, data: { failing_since: new Date(Date.now() - days * day), consecutive_failures } });
    return id as string;
  };
  const [long, few, young] = [await failing(5.1, 20), await failing(5.1, 19), await failing(1.1, 400)];
  await checkHealth(db(), new Date());
  const rows = await db().webhooks.findMany({ where: { id: { in: [long, few, young] } } });
  const by = (id: string) => rows.find((row) => row.id === id);
  assert.deepEqual(
    [long, few, young].map((id) => [by(id)?.enabled, by(id)?.disabled_reason, by(id)?.warned_at !== null]),
    [
      [false, 'failing', false],
      [true, null, true],
      [true, null, true],
    ],
  );
  const told = ['webhook_disabled', 'webhook_failing', 'webhook_failing'];
  assert.deepEqual((await mails()).sort(), told);
  await checkHealth(db(), new Date());
  assert.deepEqual((await mails()).sort(), told, 'nobody is told twice');
  assert.equal((await entriesOf(w.tenant.id, long)).at(-1)?.action, 'disable');
});

test('the figures of a webhook are its own attempts by day of UTC, with days on which nothing happened', async () => {
  const w = await workspace();
  const { url } = await answering(200, 200, 500);
  const { id } = await webhookTo(w.test, url);
  const other = await webhookTo(w.test, url);
  await made(w.test, 'webhooks.test', { id: other.id });
  for (const _ of [1, 2]) await made(w.test, 'webhooks.test', { id });
  const { days } = await made(w.test, 'webhooks.stats', { id });
  assert.equal(days.length, 14);
  const today = days.at(-1);
  assert.deepEqual([today.delivered, today.failed], [1, 1]);
  assert.ok(today.p95_ms !== null && today.p50_ms <= today.p95_ms);
  assert.deepEqual(days[0], { day: days[0].day, delivered: 0, failed: 0, p50_ms: null, p95_ms: null });
  assert.deepEqual(
    [...days].map(({ day }: { day: string }) => day).sort(),
    days.map(({ day }: { day: string }) => day),
  );
});
