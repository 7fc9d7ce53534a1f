import assert from 'node:assert/strict';
import test from 'node:test';
import { Webhooks as GitHubWebhooks } from '@octokit/webhooks';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { handleInboundWebhook } from '#server/api/inbound-webhooks.ts';
import { signDelivery, webhookMaterial } from '#server/crypto/transit/webhook-formats.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { makeRoute, makeSecret, startGateway, startUpstream } from '../gateway.fixture.ts';
import { withPerson } from '../workflows/callers.fixture.ts';

await testDatabase();
const running = await startGateway();
await running.controlSocket.listen(controlSocketPath());

const BODY = '{"id":"evt_1","type":"payment"}';
const seconds = () => Math.floor(Date.now() / 1_000);

type Posted = { status: number; text: string; type: string | undefined; headers: Headers };

async function post(
  label: string,
  name: string,
  {
    headers = {},
    body = BODY,
    query = '',
    ip = '203.0.113.9',
    method = 'POST',
    fault = undefined as 'payload_too_large' | undefined,
  }: Partial<{
    headers: Record<string, string>;
    body: string | Buffer;
    query: string;
    ip: string;
    method: string;
    fault: 'payload_too_large' | undefined;
  }> = {},
): Promise<Posted> {
  const req = new Request(`http://hooks.test/hooks/in/${label}/${name}${query}`, {
    method,
    headers,
    ...(method === 'GET' ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
  const res = await handleInboundWebhook(req, { label, name }, { space: 'live', ip, request_id: newId(), user_agent: null, fault });
  const text = await res.text();
  const type = res.status >= 400 && text.startsWith('{') ? JSON.parse(text).error?.type : undefined;
  return { status: res.status, text, type, headers: res.headers };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of operations by field name
const receiver = (ctx: Ctx, input: Record<string, unknown>): Promise<any> => made(ctx, 'inbound_webhooks.create', input);
const stripe = (secret: string, body = BODY, timestamp = seconds()) => ({
  'stripe-signature': new Stripe('sk_test_none').webhooks.generateTestHeaderString({ payload: body, secret, timestamp }),
  'content-type': 'application/json',
});
const rowsOf = async (w: Workspace) => {
  await running.flush();
  return db().request_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { id: 'asc' } });
};
const served = (w: Workspace) => running.runtime.snapshots.refresh(w.tenant.id);

test('what each sender signs arrives at the target byte for byte, marked as verified', async () => {
  const w = await workspace();
  const target = await startUpstream((_, res) => void res.writeHead(202, { 'content-type': 'application/json' }).end('{"taken":true}'));
  const at = (signature: Record<string, string>) => ({ ...signature, 'content-type': 'application/json' });
  const named = (family: string, signature: string, now: Date) => ({
    [`${family}-id`]: 'msg_1',
    [`${family}-timestamp`]: String(Math.floor(now.getTime() / 1_000)),
    [`${family}-signature`]: signature,
  });
  const body = '{"text":"ünïcode 😀"}';
  const now = new Date();
  const senders: [string, string, (secret: string) => Promise<Record<string, string>> | Record<string, string>][] = [
    ['stripe', 'stripe', (secret) => stripe(secret, body)],
    ['github', 'github', async (secret) => ({ 'x-hub-signature-256': await new GitHubWebhooks({ secret }).sign(body) })],
    ['svix', 'standard-webhooks', (secret) => named('svix', new SvixWebhook(secret).sign('msg_1', now, body), now)],
    ['standard', 'standard-webhooks', (secret) => named('webhook', new StandardWebhook(secret).sign('msg_1', now, body), now)],
    ...(['legacy', 'slack', 'aws-sns'] as const).map((format): [string, string, (secret: string) => Record<string, string>] => [
      format,
      format,
      (secret) => signDelivery({ format, header: null, id: 'evt_1', current: webhookMaterial(secret) }, Buffer.from(body), seconds()),
    ]),
  ];
  for (const [name, format, sign] of senders) {
    const { secret_key, url } = await receiver(w.live, { name, format, forward_url: `${target.url}/in?source=${name}` });
    assert.ok(url.endsWith(`/in/${w.tenant.slug}/${name}`), url);
    const sent = at(await sign(secret_key));
    const answer = await post(w.tenant.slug, name, { headers: sent, body, query: '?a=1' });
    assert.deepEqual([answer.status, answer.text], [202, '{"taken":true}'], name);
    const got = target.seen.at(-1);
    assert.deepEqual([got?.method, got?.url, got?.body], ['POST', `/in?source=${name}&a=1`, body], name);
    assert.equal(got?.headers['x-svc-verified'], 'true', name);
    assert.equal((await post(w.tenant.slug, name, { headers: sent, body: `${body} ` })).type, 'invalid_signature', name);
    assert.equal(target.seen.length, senders.findIndex(([one]) => one === name) + 1, 'nothing unverified reaches the target');
  }
});

test('every call leaves a row that says whether it was verified, and the receiver counts them', async () => {
  const w = await workspace();
  const { id, secret_key } = await receiver(w.live, { name: 'counted', format: 'stripe' });
  const at = w.tenant.slug;
  assert.deepEqual(await post(at, 'counted', { headers: stripe(secret_key) }).then(({ status, text }) => [status, text]), [200, '']);
  assert.deepEqual(await post(at, 'counted', { headers: stripe('another') }).then(({ status, type }) => [status, type]), [
    401,
    'invalid_signature',
  ]);
  const old = await post(at, 'counted', { headers: stripe(secret_key, BODY, seconds() - 400) });
  assert.deepEqual([old.status, old.type], [401, 'replay_window_exceeded']);
  const rows = await rowsOf(w);
  assert.deepEqual(
    rows.map((row) => [row.path, row.proxy_mode, row.signature_valid, row.status_code, row.error, row.route_id, row.src_ip]),
    [
      ['/in/counted', 'inbound', true, 200, null, null, '203.0.113.9'],
      ['/in/counted', 'inbound', false, 401, 'invalid_signature', null, '203.0.113.9'],
      ['/in/counted', 'inbound', false, 401, 'replay_window_exceeded', null, '203.0.113.9'],
    ],
  );
  const text = JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  for (const secret of [secret_key, 'evt_1', 'v1=']) assert.ok(!text.includes(secret), `${secret} is in the log`);
  const shown = await made(w.live, 'inbound_webhooks.get', { id });
  assert.deepEqual(
    [shown.verified_count, shown.refused_count, shown.undelivered_count, shown.last_error],
    [1, 2, 0, 'replay_window_exceeded'],
  );
});

test('a call to a route goes through everything that holds for it, and its upstream is told that it was verified', async () => {
  const w = await workspace();
  const upstream = await startUpstream();
  await makeSecret(w, 'TOKEN', { production: 'upstream-credential' });
  const route = await makeRoute(w, 'orders', `${upstream.url}/base`, { inject_headers_json: { Authorization: 'Bearer {{secret:TOKEN}}' } });
  const owner = await withPerson(w, 'owner');
  const { id, secret_key } = await receiver(owner, { name: 'routed', format: 'github', forward_route_id: route.id });
  await served(w);
  const body = Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x7d]);
  const signature = signDelivery({ format: 'github', header: null, id: 'evt_1', current: webhookMaterial(secret_key) }, body, seconds());
  const answer = await post(w.tenant.slug, 'routed', {
    headers: { ...signature, 'content-type': 'application/octet-stream', 'x-svc-verified': 'false', 'x-custom': 'kept' },
    body,
    query: '?delivery=7',
  });
  assert.deepEqual([answer.status, answer.text], [200, '{"ok":true}']);
  const [seen] = upstream.seen;
  assert.equal(seen?.headers.authorization, 'Bearer upstream-credential', 'the route injects its secret');
  assert.equal(seen?.headers['x-svc-verified'], 'true');
  assert.equal(seen?.headers['x-custom'], 'kept');
  assert.equal(seen?.url, '/base/?delivery=7');
  assert.equal(Buffer.byteLength(seen?.body ?? ''), Buffer.byteLength(body.toString()), 'bytes that are no text pass');
  const modes = (await rowsOf(w)).map((row) => [row.proxy_mode, row.signature_valid, row.route_id === route.id]);
  assert.deepEqual(modes.sort(), [
    ['inbound', true, false],
    ['route', null, true],
  ]);

  await db().routes.update({ where: { id: route.id }, data: { enabled: false } });
  await running.runtime.snapshots.refresh(w.tenant.id);
  const next = Buffer.from('{"another":true}');
  const again = signDelivery({ format: 'github', header: null, id: 'evt_2', current: webhookMaterial(secret_key) }, next, seconds());
  const off = await post(w.tenant.slug, 'routed', { headers: { ...again }, body: next });
  assert.deepEqual([off.status, off.type], [503, 'dependency_unavailable'], 'the sender tries again');
  assert.equal((await made(w.live, 'inbound_webhooks.get', { id })).last_error, 'target_route_not_found');
});

test('nobody can claim to be verified, and headers of the connection, of ours and of the browser stay here', async () => {
  const w = await workspace();
  const target = await startUpstream();
  const { secret_key } = await receiver(w.live, { name: 'stripped', format: 'stripe', forward_url: target.url });
  await post(w.tenant.slug, 'stripped', {
    headers: {
      ...stripe(secret_key),
      'x-svc-verified': 'no',
      X_Svc_Verified: 'no',
      'X-SVC-Key': 'tk_live_x',
      'x-sallyport-ip': '10.0.0.1',
      'x-forwarded-for': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      cookie: 'session=1',
      'x-github-event': 'push',
    },
  });
  const [seen] = target.seen;
  const names = (seen?.rawHeaders ?? []).filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  assert.deepEqual(names.filter((name) => /^x[-_]|forwarded|cookie/.test(name)).sort(), ['x-github-event', 'x-svc-verified']);
  assert.equal(seen?.headers['x-svc-verified'], 'true');
  assert.ok(seen?.headers['stripe-signature'], 'the signature goes along, for a target that verifies once more');
});

test('unknown, foreign, other-space and disabled receivers are one answer, and Test has its own address', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const live = await receiver(w.live, { name: 'only-live', format: 'stripe' });
  const inTest = await receiver(w.test, { name: 'only-test', format: 'stripe' });
  await receiver(w.live, { name: 'off', format: 'stripe', enabled: false });
  const { slug } = w.tenant;
  assert.ok(inTest.url.endsWith(`/in/sandbox-${slug}/only-test`), inTest.url);
  assert.equal((await post(`sandbox-${slug}`, 'only-test', { headers: stripe(inTest.secret_key) })).status, 200);
  assert.equal((await post(slug.toUpperCase(), 'only-live', { headers: stripe(live.secret_key) })).status, 200);
  const answers = await Promise.all([
    post(slug, 'only-test', { headers: stripe(inTest.secret_key) }),
    post(`sandbox-${slug}`, 'only-live', { headers: stripe(live.secret_key) }),
    post(other.tenant.slug, 'only-live', { headers: stripe(live.secret_key) }),
    post('nobody', 'only-live', { headers: stripe(live.secret_key) }),
    post(slug, 'off'),
    post(slug, 'nothing'),
    post(slug, "' or true --"),
  ]);
  const same = new Set(answers.map(({ status, text }) => `${status} ${text.replace(/"request_id":"[^"]+"/, '')}`));
  assert.equal(same.size, 1, [...same].join('\n'));
  assert.match([...same][0] ?? '', /^404 .*not_found/);
  assert.deepEqual(await rowsOf(other), []);
});

test('a rotated secret ends the old one at once, and one of the sender takes its place without being shown', async () => {
  const w = await workspace();
  const { id, secret_key: first } = await receiver(w.live, { name: 'rotated', format: 'stripe' });
  const { secret_key: second } = await made(w.live, 'inbound_webhooks.rotate_secret', { id });
  assert.match(second, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const status = async (secret: string) => (await post(w.tenant.slug, 'rotated', { headers: stripe(secret) })).status;
  assert.deepEqual([await status(first), await status(second)], [401, 200]);
  const given = await made(w.live, 'inbound_webhooks.rotate_secret', { id, secret: 'whsec_the_senders_own' });
  assert.equal(given.secret_key, null);
  assert.deepEqual([await status(second), await status('whsec_the_senders_own')], [401, 200]);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'inbound_webhook' } });
  assert.deepEqual(entries.map(({ action }) => action).sort(), ['create', 'rotate', 'rotate']);
  for (const secret of [first, second, 'the_senders_own'])
    assert.ok(!JSON.stringify(entries.map(({ details }) => details)).includes(secret));
  const [row] = await db().inbound_webhooks.findMany({ where: { id } });
  assert.ok(!Buffer.from(row?.value_ct ?? []).includes('the_senders_own'), 'the secret lies sealed');
});

test('a target that fails, redirects or hangs is told to the sender as something to try again, in no words of the target', async () => {
  const w = await workspace();
  const target = await startUpstream((req, res) => {
    if (req.url === '/moved') return void res.writeHead(302, { location: 'http://10.0.0.1/' }).end();
    if (req.url === '/page') return void res.writeHead(200, { 'content-type': 'text/html' }).end('<script>1</script>');
    res.writeHead(500, { 'content-type': 'text/plain', 'set-cookie': 'a=b' }).end('broken');
  });
  const to = async (name: string, path: string) => {
    const { id, secret_key } = await receiver(w.live, { name, format: 'stripe', forward_url: path });
    const answer = await post(w.tenant.slug, name, { headers: stripe(secret_key) });
    const { last_error, undelivered_count } = await made(w.live, 'inbound_webhooks.get', { id });
    return { answer, last_error, undelivered_count };
  };
  const broken = await to('broken', `${target.url}/broken`);
  assert.deepEqual(
    [broken.answer.status, broken.answer.text, broken.last_error, broken.undelivered_count],
    [500, 'broken', 'target_status_500', 1],
  );
  assert.equal(broken.answer.headers.get('set-cookie'), null);
  const moved = await to('moved', `${target.url}/moved`);
  assert.deepEqual([moved.answer.status, moved.answer.type, moved.last_error], [503, 'dependency_unavailable', 'target_status_302']);
  const page = await to('page', `${target.url}/page`);
  assert.deepEqual([page.answer.status, page.answer.headers.get('content-type')], [200, 'application/octet-stream']);
  const gone = await to('gone', 'http://127.0.0.1:65001/');
  assert.deepEqual([gone.answer.status, gone.last_error], [503, 'target_unreachable']);
});

test('addresses of this network are refused when a target is set, and again when a name leads there later', async () => {
  const w = await workspace();
  for (const forward_url of ['http://169.254.169.254/latest', 'https://10.0.0.5/x', 'http://[::ffff:10.0.0.1]/', 'ftp://example.com/'])
    await assert.rejects(receiver(w.live, { name: 'inside', format: 'stripe', forward_url }), { type: 'validation_error' }, forward_url);
  const { id, secret_key } = await receiver(w.live, { name: 'later', format: 'stripe', forward_url: 'http://127.0.0.1:65001/' });
  await db().inbound_webhooks.update({ where: { id }, data: { forward_url: 'http://10.0.0.5:8080/' } });
  const answer = await post(w.tenant.slug, 'later', { headers: stripe(secret_key) });
  assert.deepEqual([answer.status, (await made(w.live, 'inbound_webhooks.get', { id })).last_error], [503, 'target_not_allowed']);
  assert.ok(!answer.text.includes('10.0.0.5'));
});

test('bodies have a limit, other methods none, and a guesser is slowed down without filling the log', async (t) => {
  stillClock(t);
  const w = await workspace();
  const { secret_key } = await receiver(w.live, { name: 'limited', format: 'stripe' });
  const large = 'x'.repeat(1024 * 1024 + 1);
  assert.equal((await post(w.tenant.slug, 'limited', { headers: stripe(secret_key, large), body: large })).type, 'payload_too_large');
  assert.equal((await post(w.tenant.slug, 'limited', { fault: 'payload_too_large' })).type, 'payload_too_large');
  const most = 'x'.repeat(1024 * 1024);
  assert.equal((await post(w.tenant.slug, 'limited', { headers: stripe(secret_key, most), body: most })).status, 200);
  assert.equal((await post(w.tenant.slug, 'limited', { method: 'GET' })).type, 'method_not_allowed');
  const before = (await rowsOf(w)).length;
  const statuses: number[] = [];
  for (let i = 0; i < 70; i++) statuses.push((await post(w.tenant.slug, 'limited', { ip: '198.51.100.7' })).status);
  assert.deepEqual([...new Set(statuses.slice(0, 60))], [401]);
  assert.deepEqual([...new Set(statuses.slice(60))], [429]);
  assert.equal((await rowsOf(w)).length - before, statuses.filter((status) => status === 401).length);
  assert.equal(
    (await post(w.tenant.slug, 'limited', { headers: stripe(secret_key), ip: '198.51.100.7' })).status,
    200,
    'the sender itself passes',
  );
});

test('a workspace that is not served receives nothing', async () => {
  const w = await workspace();
  const { secret_key } = await receiver(w.live, { name: 'paused', format: 'stripe' });
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_status: 'paused' } });
  const answer = await post(w.tenant.slug, 'paused', { headers: stripe(secret_key) });
  assert.deepEqual([answer.status, answer.type], [403, 'subscription_inactive']);
});
