// @peculiar/x509 refuses to load without this polyfill.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import * as x509 from '@peculiar/x509';
import { eventData } from '#server/domain/events/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { joined, mailsTo } from '#server/testing/mailbox.ts';
import { workspace } from '#server/testing/workspace.ts';
import { announceEndingLeaves, tellOfEndingRoots } from './notices.ts';
import { roleOfRoot } from './samples.fixture.ts';
import { expireIntermediates, renewCrls, rotateDueIntermediates, signQueuedCrl, signStaleCrls } from './schedules.ts';
import { crlAnswer } from './service.ts';

await ownDatabase();

const DAY = 24 * 3_600_000;
const later = (ctx: Ctx, ms: number): Ctx => ({ ...ctx, now: new Date(ctx.now.getTime() + ms), warnings: [] });
const issue = (ctx: Ctx, place: { name: string; role: string }, CN = 'api.example.com', ttl_seconds?: number) =>
  made(ctx, 'pki.issue', { ...place, subject: { CN }, ...(ttl_seconds ? { ttl_seconds } : {}) });
const active = async (ctx: Ctx, name: string): Promise<string> => (await made(ctx, 'pki.get_root', { name })).intermediate?.id;
/** What a list says, read by an implementation that isn't ours. */
async function listOf(ctx: Ctx, name: string, issuer: string) {
  const { body } = await crlAnswer(ctx, { name, issuer, format: 'der' });
  const crl = new x509.X509Crl(Buffer.from(body as Uint8Array));
  const number = Buffer.from(crl.getExtension('2.5.29.20')?.value ?? new ArrayBuffer(0)).subarray(2);
  return {
    entries: crl.entries.map(({ serialNumber, reason }) => [serialNumber.toLowerCase(), reason]),
    number: Number.parseInt(number.toString('hex'), 16),
    crl,
  };
}

test('a revoked leaf is on the next list with its reason, an expired one is not, and revoking twice keeps the first reason', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const issuer = await active(live, place.name);
  const [first, second, short] = [
    await issue(live, place),
    await issue(live, place, 'b.example.com'),
    await issue(live, place, 'c.example.com', 60),
  ];
  assert.deepEqual((await listOf(live, place.name, issuer)).number, 1);
  const spelled = `0x${first.serial_hex.toUpperCase().match(/../g).join(':')}`;
  const revoke = (ctx: Ctx, serial_hex: string, reason?: string) =>
    made(ctx, 'pki.revoke', { name: place.name, serial_hex, ...(reason ? { reason } : {}) });
  assert.deepEqual(await revoke(live, spelled, 'keyCompromise'), { revoked: true });
  assert.deepEqual(await revoke(live, first.serial_hex, 'superseded'), { revoked: true });
  await revoke(live, second.serial_hex);
  await revoke(later(live, 61_000), short.serial_hex, 'superseded');
  for (const reason of ['certificate_hold', 'removeFromCRL', 'ca_compromise', 'because'])
    await assert.rejects(revoke(live, second.serial_hex, reason), { type: 'validation_error' });
  await assert.rejects(revoke(live, 'ff'.repeat(16)), { type: 'not_found' });
  assert.equal(await signStaleCrls(db(), new Date(live.now.getTime() + 15_000)), 1);
  const list = await listOf(live, place.name, issuer);
  assert.equal(list.number, 2);
  assert.deepEqual(
    new Map(list.entries as [string, unknown][]),
    new Map<string, unknown>([
      [first.serial_hex, x509.X509CrlReason.keyCompromise],
      [second.serial_hex, undefined],
    ]),
  );
  const shown = await made(live, 'pki.get_certificate', { name: place.name, serial_hex: spelled });
  assert.deepEqual([shown.status, shown.revocation_reason], ['revoked', 'key_compromise']);
  const entries = await db().audit_logs.count({ where: { tenant_id: live.tenant_id, action: 'revoke', resource_type: 'pki_leaf' } });
  assert.equal(entries, 3, 'revoking again writes none');
});

test('a certificate that expired leaves the list after one further one', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const issuer = await active(live, place.name);
  const leaf = await issue(live, place, 'api.example.com', 3_600);
  await made(live, 'pki.revoke', { name: place.name, serial_hex: leaf.serial_hex });
  const sign = (ms: number) =>
    signQueuedCrl(db(), new Date(live.now.getTime() + ms), { tenant_id: live.tenant_id, sandbox: false, issuer_id: issuer });
  const sizes: number[] = [];
  for (const ms of [1_000, 2 * 3_600_000, 26 * 3_600_000]) {
    assert.ok(await sign(ms));
    sizes.push((await listOf(live, place.name, issuer)).entries.length);
  }
  assert.deepEqual(sizes, [1, 1, 0]);
});

test('the job that signs a list is queued with the revocation, and not when that is rolled back', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const leaf = await issue(live, place);
  const stale = () => db().pki_crls.count({ where: { tenant_id: live.tenant_id, stale_since: { not: null } } });
  const original = live.actor;
  const broken = { ...live, actor: { ...original, label: 'x\u0000' } };
  await assert.rejects(made(broken, 'pki.revoke', { name: place.name, serial_hex: leaf.serial_hex }));
  assert.equal(await stale(), 0);
  await made(live, 'pki.revoke', { name: place.name, serial_hex: leaf.serial_hex });
  assert.equal(await stale(), 1);
});

test('an intermediate is replaced when less than a third is left, once, and its list goes on until it ends and its key is erased', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const first = await active(live, place.name);
  const mine = async () =>
    (await db().pki_intermediates.findMany({ where: { tenant_id: live.tenant_id }, orderBy: { n: 'asc' } })).map((i) => i.status);
  await rotateDueIntermediates(db(), new Date(live.now.getTime() + 89 * DAY));
  assert.deepEqual(await mine(), ['active']);
  const due = new Date(live.now.getTime() + 91 * DAY);
  await Promise.all([rotateDueIntermediates(db(), due), rotateDueIntermediates(db(), due)]);
  assert.deepEqual(await mine(), ['retired', 'active']);
  const second = await active(live, place.name);
  assert.notEqual(first, second);
  const lists = await crlAnswer(later(live, 91 * DAY), { name: place.name, format: 'pem' });
  assert.equal(String(lists.body).match(/BEGIN X509 CRL/g)?.length, 3);
  const over = new Date(live.now.getTime() + 135 * DAY + 1_000);
  await expireIntermediates(db(), over);
  assert.deepEqual(await mine(), ['expired', 'active']);
  const gone = await db().pki_intermediates.findUniqueOrThrow({ where: { id: first } });
  assert.deepEqual([gone.value_ct, gone.cek_wrapped, gone.tmk_version], [null, null, null]);
  const [entry] = await db().audit_logs.findMany({ where: { tenant_id: live.tenant_id, action: 'rotate' } });
  const { old, new: made_, trigger } = (entry?.details ?? {}) as Record<string, unknown>;
  assert.deepEqual({ old, made_, trigger }, { old: first, made_: second, trigger: 'schedule' });
});

test('intermediates end with their root, and one that does is not replaced by another', async () => {
  const { live } = await workspace();
  const { root } = await made(live, 'pki.create_root', {
    name: fresh('r'),
    subject: { CN: 'x' },
    ttl_seconds: 86_400 * 365,
    intermediate_ttl_seconds: 86_400 * 300,
  });
  const then = later(live, 300 * DAY);
  const { not_after } = await made(then, 'pki.rotate_intermediate', { name: root.name });
  assert.equal(not_after, root.not_after);
  const before = await db().pki_intermediates.count({ where: { tenant_id: live.tenant_id } });
  await rotateDueIntermediates(db(), new Date(live.now.getTime() + 360 * DAY));
  assert.equal(await db().pki_intermediates.count({ where: { tenant_id: live.tenant_id } }), before);
  await assert.rejects(made(later(live, 365 * DAY), 'pki.rotate_intermediate', { name: root.name }), { type: 'root_not_active' });
});

test('a revoked intermediate is on the list of the root, and another signs at once', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const first = await active(live, place.name);
  const { serial_hex } = (await made(live, 'pki.get_root', { name: place.name })).intermediate;
  const revoke = () => made(live, 'pki.revoke_intermediate', { name: place.name, id: first, reason: 'ca_compromise' });
  const answer = await revoke();
  assert.notEqual(answer.intermediate_id, first);
  assert.equal(answer.intermediate_id, await active(live, place.name));
  assert.deepEqual(await revoke(), answer, 'once more changes nothing');
  await signStaleCrls(db(), new Date(live.now.getTime() + 15_000));
  assert.deepEqual((await listOf(live, place.name, 'root')).entries, [[serial_hex, x509.X509CrlReason.cACompromise]]);
  await issue(live, place);
});

test('lists are renewed once a day', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const number = async () => (await listOf(live, place.name, 'root')).number;
  await renewCrls(db(), new Date(live.now.getTime() + 12 * 3_600_000));
  assert.equal(await number(), 1);
  await renewCrls(db(), new Date(live.now.getTime() + DAY));
  assert.equal(await number(), 2);
});

test('Owners are told 90, 30 and 7 days before a root ends, once each', async () => {
  const w = await workspace();
  const owner = await joined(w.tenant.id, 'owner');
  await made(w.live, 'pki.create_root', { name: 'ending', subject: { CN: 'x' }, ttl_seconds: 86_400 * 365 });
  for (const day of [200, 276, 276.5, 300, 336, 337, 359, 360, 366])
    await tellOfEndingRoots(db(), new Date(w.live.now.getTime() + day * DAY));
  const subjects = (await mailsTo(owner)).map(({ subject }) => subject);
  assert.deepEqual(
    subjects,
    [90, 30, 7].map((days) => `The root certificate ending ends in ${days} days or less`),
  );
});

test('a leaf without a successor is announced 30, 7 and 1 days before it ends, and a short one not at once', async () => {
  const w = await workspace();
  const { name } = await roleOfRoot(w.live);
  await made(w.live, 'pki.update_root', { name, intermediate_ttl_seconds: 86_400 * 300 });
  await made(w.live, 'pki.rotate_intermediate', { name });
  await made(w.live, 'pki.create_role', { name, role_name: 'long', allowed_domains: ['example.com'], max_ttl_seconds: 86_400 * 90 });
  const space = { tenant_id: w.tenant.id, sandbox: false };
  const event_types = ['pki.certificate.expiring'];
  await db().event_subscriptions.create({ data: { ...space, id: newId(), channel: 'test', destination_id: newId(), event_types } });
  const long = await issue(w.live, { name, role: 'long' }, 'long.example.com', 86_400 * 60);
  await issue(w.live, { name, role: 'long' }, 'short.example.com', 86_400);
  const renewed = await issue(w.live, { name, role: 'long' }, 'renewed.example.com', 86_400 * 40);
  await issue(later(w.live, DAY), { name, role: 'long' }, 'renewed.example.com', 86_400 * 60);
  const told = async () =>
    Object.fromEntries(
      (await db().pki_certificates.findMany({ where: { tenant_id: w.tenant.id, told_days: { not: null } } })).map((c) => [
        c.serial_hex,
        c.told_days,
      ]),
    );
  await announceEndingLeaves(db(), new Date(w.live.now.getTime() + 0.9 * DAY));
  assert.deepEqual(await told(), {});
  const seen: unknown[] = [];
  for (const day of [31, 35, 54, 59.5]) {
    await announceEndingLeaves(db(), new Date(w.live.now.getTime() + day * DAY));
    seen.push((await told())[long.serial_hex]);
  }
  assert.deepEqual(seen, [30, 30, 7, 1]);
  assert.equal((await told())[renewed.serial_hex], undefined);
  const raised = await Promise.all((await db().events.findMany({ where: space, orderBy: { occurred_at: 'asc' } })).map(eventData));
  assert.deepEqual(
    (raised as { serial_hex: string; days_left: number }[]).filter((one) => one.serial_hex === long.serial_hex).map((one) => one.days_left),
    [30, 7, 1],
  );
});

test('openssl finds the leaf good before and revoked after, by the lists as they are answered', async (t: TestContext) => {
  if (spawnSync('openssl', ['version']).status !== 0) return t.skip('openssl is not installed');
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const leaf = await issue(live, place);
  const folder = mkdtempSync(join(tmpdir(), 'pki-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const [intermediate = '', root = ''] = leaf.ca_chain_pem.split(/(?<=-----END CERTIFICATE-----\n)/);
  const verify = async () => {
    const lists = await crlAnswer(live, { name: place.name, format: 'pem' });
    const { stdout, stderr } = spawnSync('openssl', [
      'verify',
      '-x509_strict',
      '-crl_check_all',
      ...['-CAfile', file('root.pem', root), '-untrusted', file('int.pem', intermediate)],
      ...['-CRLfile', file('all.crl', String(lists.body)), file('leaf.pem', leaf.cert_pem)],
    ]);
    return `${stdout}${stderr}`;
  };
  assert.match(await verify(), /leaf\.pem: OK/);
  await made(live, 'pki.revoke', { name: place.name, serial_hex: leaf.serial_hex });
  await signStaleCrls(db(), new Date(live.now.getTime() + 15_000));
  assert.match(await verify(), /certificate revoked/);
});

test('lists that are signed at the same time have numbers of their own', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const issuer_id = await active(live, place.name);
  const sign = () => signQueuedCrl(db(), live.now, { tenant_id: live.tenant_id, sandbox: false, issuer_id });
  await Promise.all(Array.from({ length: 6 }, sign));
  assert.equal((await listOf(live, place.name, issuer_id)).number, 7);
});
