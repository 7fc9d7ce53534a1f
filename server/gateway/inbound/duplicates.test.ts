import assert from 'node:assert/strict';
import test from 'node:test';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { handleInboundWebhook } from '#server/api/inbound-webhooks.ts';
import { signDelivery, webhookMaterial } from '#server/crypto/transit/webhook-formats.ts';
import { pruneDeliveries } from '#server/domain/inbound-webhooks/deliveries.ts';
import { FORMATS, type InboundFormat, REPEATABLE } from '#server/domain/inbound-webhooks/formats.shared.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
await running.controlSocket.listen(controlSocketPath());

const seconds = () => Math.floor(Date.now() / 1_000);
const HEADER = 'X-Acme-Signature';
const DAY = 86_400_000;

type Receiver = { id: string; ctx: Ctx; format: InboundFormat; secret: string; label: string; name: string };

async function receiver(
  w: Workspace,
  format: InboundFormat,
  space: 'live' | 'test',
  more: Record<string, unknown> = {},
): Promise<Receiver> {
  const name = `in-${newId().slice(-12)}`;
  const header = format === 'custom' ? { header_name: HEADER } : {};
  const { id, secret_key } = await made(w[space], 'inbound_webhooks.create', { name, format, ...header, ...more });
  const label = space === 'test' ? `sandbox-${w.tenant.slug}` : w.tenant.slug;
  return { id: id as string, ctx: w[space], format, secret: secret_key as string, label, name };
}

/** As the sender signs it. */
const signed = ({ format, secret }: Receiver, body: string, { id = 'msg_1', at = seconds() } = {}): Record<string, string> =>
  format === 'standard-webhooks'
    ? standard(secret, body, id, at)
    : signDelivery({ format, header: format === 'custom' ? HEADER : null, id, current: webhookMaterial(secret) }, Buffer.from(body), at);

const standard = (secret: string, body: string, id: string, at: number) => ({
  'webhook-id': id,
  'webhook-timestamp': String(at),
  'webhook-signature': new StandardWebhook(secret).sign(id, new Date(at * 1_000), body),
});

async function post({ label, name }: Receiver, headers: Record<string, string>, body: string): Promise<[number, string | undefined]> {
  const req = new Request(`http://hooks.test/hooks/in/${label}/${name}`, { method: 'POST', headers, body });
  const edge = { space: 'live' as const, ip: '203.0.113.9', request_id: newId(), user_agent: null, fault: undefined };
  const res = await handleInboundWebhook(req, { label, name }, edge);
  const text = await res.text();
  return [res.status, text.startsWith('{"error"') ? JSON.parse(text).error.type : text];
}

/** The same signature in other words, with headers that nobody signed. */
const rewritten = (headers: Record<string, string>): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toUpperCase(),
      value.replace(/(?<=[=,]|^)[0-9a-f]{64}$/, (hex) => hex.toUpperCase()),
    ]),
  ),
  'x-github-delivery': newId(),
  'x-attempt': '2',
});

for (const format of FORMATS)
  for (const space of ['live', 'test'] as const)
    test(`${format}: a signed call that was taken is not forwarded again (${space})`, async () => {
      const w = await workspace();
      const target = await startUpstream((_, res) => void res.writeHead(202).end('taken'));
      const at = await receiver(w, format, space, { forward_url: target.url });
      const body = `{"id":"evt_${newId()}"}`;
      const headers = signed(at, body);
      assert.deepEqual(await post(at, headers, body), [202, 'taken']);
      assert.deepEqual(await post(at, headers, body), [200, '']);
      assert.deepEqual(await post(at, rewritten(headers), body), [200, '']);
      assert.equal(target.seen.length, 1);
      const again = await post(at, signed(at, body, { at: seconds() + 5 }), body);
      // Senders of the others sign each try anew and name no delivery outside of the body.
      assert.equal(again[0], REPEATABLE.has(format) ? 200 : 202);
      const other = `{"id":"evt_${newId()}"}`;
      assert.deepEqual(await post(at, signed(at, other, { id: 'msg_2' }), other), [202, 'taken']);
      await running.flush();
      const { verified_count, undelivered_count, last_error } = await made(at.ctx, 'inbound_webhooks.get', { id: at.id });
      assert.deepEqual([verified_count, undelivered_count, last_error], [5, 0, null]);
      const rows = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id, error: 'duplicate_delivery' } });
      assert.deepEqual([rows.length >= 2, rows.every((row) => row.signature_valid && row.status_code === 200)], [true, true]);
      const other_receiver = await receiver(w, format, space, { forward_url: target.url });
      assert.deepEqual(
        await post(other_receiver, signed(other_receiver, body), body),
        [202, 'taken'],
        'each receiver remembers for itself',
      );
    });

test('of calls that come at once one is forwarded; what the target did not take may come again', async () => {
  const w = await workspace();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let status = 500;
  const target = await startUpstream(async (_, res) => {
    await held;
    res.writeHead(status).end();
  });
  const at = await receiver(w, 'github', 'live', { forward_url: target.url });
  const body = '{"id":"evt_1"}';
  const headers = signed(at, body);
  const first = post(at, headers, body);
  await until(() => target.seen.length === 1, 'the first is on its way');
  const others = await Promise.all(Array.from({ length: 5 }, () => post(at, headers, body)));
  assert.deepEqual([...new Set(others.map(String))], ['503,dependency_unavailable']);
  release();
  assert.equal((await first)[0], 500);
  status = 204;
  assert.equal((await post(at, headers, body))[0], 204);
  assert.deepEqual(await post(at, headers, body), [200, '']);
  assert.equal(target.seen.length, 2);
});

test('a call whose forwarding died with its process is taken over by a later try', async () => {
  const w = await workspace();
  const target = await startUpstream((_, res) => void res.writeHead(204).end());
  const at = await receiver(w, 'legacy', 'live', { forward_url: target.url });
  const body = '{"id":"evt_1"}';
  const headers = signed(at, body);
  await post(at, headers, body);
  const where = { inbound_webhook_id: at.id };
  await db().inbound_deliveries.updateMany({ where, data: { taken: false } });
  assert.deepEqual(await post(at, headers, body), [503, 'dependency_unavailable']);
  await db().inbound_deliveries.updateMany({ where, data: { claimed_at: new Date(Date.now() - 61_000) } });
  assert.equal((await post(at, headers, body))[0], 204);
});

test('a delivery is remembered while its signature may hold, also when the window is made longer, else as long as the log', async () => {
  const w = await workspace();
  const timed = await receiver(w, 'stripe', 'live');
  const body = '{"id":"evt_1"}';
  const old = signed(timed, body, { at: seconds() - 200 });
  assert.deepEqual(await post(timed, old, body), [200, '']);
  await pruneDeliveries([], new Date(Date.now() + 3_600_000));
  await made(timed.ctx, 'inbound_webhooks.update', { id: timed.id, replay_window_seconds: 86_400 });
  await post(timed, old, body);
  const stays = (id: string) => db().inbound_deliveries.count({ where: { inbound_webhook_id: id } });
  assert.equal(await stays(timed.id), 1);
  await running.flush();
  assert.equal(await db().request_logs.count({ where: { tenant_id: w.tenant.id, error: 'duplicate_delivery' } }), 1);
  await db().inbound_deliveries.updateMany({
    where: { inbound_webhook_id: timed.id },
    data: { signed_until: new Date(Date.now() - 1_000) },
  });
  await pruneDeliveries([], new Date());
  assert.equal(await stays(timed.id), 0);

  for (const [space, days] of [
    ['live', 30],
    ['test', 7],
  ] as const) {
    const untimed = await receiver(w, 'github', space);
    const windows = [{ tenant_id: w.tenant.id, log_days: 30, audit_days: null }];
    await post(untimed, signed(untimed, body), body);
    const aged = (age: number) =>
      db().inbound_deliveries.updateMany({ where: { inbound_webhook_id: untimed.id }, data: { claimed_at: new Date(Date.now() - age) } });
    await aged(days * DAY - 60_000);
    await pruneDeliveries(windows, new Date());
    assert.equal(await stays(untimed.id), 1, space);
    await aged(days * DAY + 60_000);
    await pruneDeliveries(windows, new Date());
    assert.equal(await stays(untimed.id), 0, space);
  }
});

const shown = (at: Receiver) => made(at.ctx, 'inbound_webhooks.get', { id: at.id });
const change = (at: Receiver, input: Record<string, unknown>) => made(at.ctx, 'inbound_webhooks.update', { id: at.id, ...input });

test('a delivery that is signed again is remembered until the later signature ends', async () => {
  const w = await workspace();
  const at = await receiver(w, 'standard-webhooks', 'live');
  const body = '{"id":"evt_1"}';
  const now = seconds();
  const endsAt = async () =>
    (await db().inbound_deliveries.findFirstOrThrow({ where: { inbound_webhook_id: at.id } })).signed_until?.getTime();
  for (const [time, latest] of [
    [now - 200, now - 200],
    [now + 100, now + 100],
    [now - 100, now + 100],
  ] as const) {
    assert.deepEqual(await post(at, signed(at, body, { at: time }), body), [200, '']);
    assert.equal(await endsAt(), latest * 1_000 + DAY);
  }
  await pruneDeliveries([], new Date((now - 150) * 1_000 + DAY));
  assert.deepEqual(await post(at, signed(at, body, { at: now + 100 }), body), [200, '']);
  await running.flush();
  assert.equal(await db().request_logs.count({ where: { tenant_id: w.tenant.id, error: 'duplicate_delivery' } }), 3);
});

test('a receiver whose sender repeats an ID or a body may allow duplicates, and no other', async () => {
  const w = await workspace();
  for (const format of FORMATS) {
    const target = await startUpstream((_, res) => void res.writeHead(202).end('taken'));
    const made = receiver(w, format, 'live', { forward_url: target.url, allow_duplicates: true });
    if (!REPEATABLE.has(format)) {
      await assert.rejects(made, { type: 'validation_error', message: /signs? each try anew/ }, format);
      continue;
    }
    const at = await made;
    const body = '{"deploy":true}';
    for (let i = 0; i < 3; i++) assert.deepEqual(await post(at, signed(at, body, { at: seconds() + i }), body), [202, 'taken'], format);
    assert.equal(target.seen.length, 3);
    assert.equal((await shown(at)).allow_duplicates, true, format);
    await change(at, { description: 'another' });
    assert.deepEqual(await post(at, signed(at, body), body), [202, 'taken'], format);
    await change(at, { allow_duplicates: false });
    await post(at, signed(at, body), body);
    assert.deepEqual(await post(at, signed(at, body, { at: seconds() + 5 }), body), [200, ''], format);
  }
});
