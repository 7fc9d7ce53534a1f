import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { joined, mailsTo } from '#server/testing/mailbox.ts';
import { workspace } from '#server/testing/workspace.ts';
import { tellOfEndingCredentials } from './ending-notices.ts';

// The job looks at the credentials of all workspaces.
await ownDatabase();
const DAY = 86_400_000;
const later = (days: number) => new Date(Date.now() + days * DAY);

async function credential(ctx: Ctx, client: string, data: object, more: object = {}) {
  const { id } = (await made(ctx, 'clients.create', { name: client, ip_address: '203.0.113.9' })) as { id: string };
  const row = (await made(ctx, 'clients.create_credential', { id, ...data, ...more })) as { id: string };
  return { client: id, id: row.id };
}

test('a certificate is told of 30, 7 and 1 days before it ends, each once, and again when its end moves', async () => {
  const w = await workspace();
  const issue = { kind: 'mtls_thumbprint', data: { mode: 'issue', ttl_days: 60 } };
  const one = await credential(w.live, 'billing', issue, { label: 'web-1' });
  assert.equal(await tellOfEndingCredentials(db(), later(29)), 0);
  assert.deepEqual([await tellOfEndingCredentials(db(), later(31)), await tellOfEndingCredentials(db(), later(32))], [1, 0]);
  assert.deepEqual([await tellOfEndingCredentials(db(), later(54)), await tellOfEndingCredentials(db(), later(59.5))], [1, 1]);
  assert.equal(await tellOfEndingCredentials(db(), later(61)), 0, 'what has ended is no news');
  const told = await db().client_credentials.findUniqueOrThrow({ where: { id: one.id } });
  assert.equal(told.told_days, 1);
  await made(w.live, 'clients.update_credential', { id: one.client, credentialId: one.id, expires_at: later(40).toISOString() });
  assert.equal(await tellOfEndingCredentials(db(), later(15)), 1);
});

test('one mail names all of a space and a threshold; what is off, or lives shorter than the threshold, is left out', async () => {
  const w = await workspace();
  const owner = await joined(w.tenant.id, 'owner');
  const day40 = { expires_at: later(40).toISOString() };
  const key = { kind: 'signature_hmac', data: { mode: 'generate' } };
  await credential(w.live, 'orders', key, day40);
  await credential(w.live, 'billing', { kind: 'ip', data: { value: '192.0.2.0/24' } }, day40);
  await credential(w.live, 'off', key, { ...day40, enabled: false });
  await credential(w.live, 'short', key, { expires_at: later(25).toISOString() });
  assert.equal(await tellOfEndingCredentials(db(), later(15)), 2);
  const [mail] = await mailsTo(owner);
  assert.equal(mail?.subject, '2 credentials of clients end in 30 days or less');
  const text = mail?.text ?? '';
  assert.ok(
    text.includes('orders: HMAC key') && text.includes('billing: address') && !text.includes('off:') && !text.includes('short:'),
    text,
  );
});
