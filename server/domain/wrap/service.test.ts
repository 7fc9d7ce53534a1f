import assert from 'node:assert/strict';
import test from 'node:test';
import { mintGatewayToken } from '#server/crypto/tokens.ts';
import { deleteSecret, updateSecret } from '#server/domain/secrets/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { confirmedOwner } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { createWrapCredential, deleteWrapCredential } from './credentials.ts';
import { pruneWrapTokens } from './expiry.ts';
import { notifyExposed } from './notices.ts';
import { CreateWrapCredential } from './schema.ts';
import { createWrapToken, listWrapTokens, revokeWrapToken } from './tokens.ts';

await testDatabase();
const now = (ctx: Ctx): Ctx => ({ ...ctx, now: new Date(), warnings: [] });
const store = (ctx: Ctx, more: object = {}) =>
  createWrapCredential(
    now(ctx),
    CreateWrapCredential.parse({ provider: 'Stripe', name: 'KEY', value: 'v', hosts: ['api.stripe.com'], ...more }),
  );

test('a gateway token is base32 of 32 bytes in lower case, and its digest that of the whole text', () => {
  const { token, digest } = mintGatewayToken(Uint8Array.from({ length: 32 }, (_, i) => i));
  assert.equal(token, 'wkt_aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypq');
  assert.equal(digest.toString('hex'), '41b0be97579e0fa2a32b87893170e7743afcfc2aee7c1af5dd258369c5b1c701');
});

test('hosts are exact public names, and keys fit their space', async () => {
  const w = await workspace();
  for (const host of ['*.stripe.com', 'https://api.stripe.com', 'api.stripe.com:443', 'api.stripe.com/v1', '127.0.0.1', 'localhost', 'com'])
    await assert.rejects(store(w.live, { hosts: [host] }), { type: 'validation_error' }, host);
  const { allowed_hosts, provider } = await store(w.live, { hosts: ['API.Stripe.com.', 'api.stripe.com'] });
  assert.deepEqual([allowed_hosts, provider], [['api.stripe.com'], 'stripe']);
  await assert.rejects(store(w.live, { name: 'A', value: 'sk_test_12345678' }), { type: 'validation_error' });
  await assert.rejects(store(w.test, { name: 'A', value: 'rk_live_12345678' }), { type: 'validation_error' });
  for (const ctx of [w.live, w.test])
    await assert.rejects(store(ctx, { name: 'A', value: 'pk_live_12345678' }), { type: 'validation_error' });
  await assert.rejects(store(w.live, { name: 'key' }), { type: 'conflict' });
});

test('the pin of a wrap credential is changed in one place, and the credential goes with its tokens or not at all', async () => {
  const w = await workspace();
  const { secret_id } = await store(w.live);
  await assert.rejects(updateSecret(now(w.live), { id: secret_id, allowed_hosts: null }), { type: 'validation_error' });
  const { id, token } = await createWrapToken(now(w.live), { secret: 'KEY' });
  assert.match(token, /^wkt_[a-z2-7]{52}$/);
  await assert.rejects(deleteSecret(now(w.live), { id: secret_id }), { type: 'in_use' });
  await assert.rejects(deleteWrapCredential(now(w.live), { secret_id, revoke_tokens: false }), { type: 'in_use' });
  assert.deepEqual(await revokeWrapToken(now(w.live), { id }), { deleted: true, id, revoked: true });
  assert.deepEqual(await revokeWrapToken(now(w.live), { id }), { deleted: true, id, revoked: true });
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, resource_type: 'wrap_token', action: 'revoke' } }), 1);
  await createWrapToken(now(w.live), { secret: secret_id });
  assert.deepEqual(await deleteWrapCredential(now(w.live), { secret_id, revoke_tokens: true }), { deleted: true });
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, resource_type: 'wrap_token', action: 'revoke' } }), 2);
});

test('a token names a host of its credential, and ends when it says', async () => {
  const w = await workspace();
  const { secret_id } = await store(w.live, { hosts: ['api.stripe.com', 'files.stripe.com'] });
  await assert.rejects(createWrapToken(now(w.live), { secret: 'KEY' }), { type: 'validation_error' });
  await assert.rejects(createWrapToken(now(w.live), { secret: 'KEY', host: 'evil.example' }), { type: 'validation_error' });
  await assert.rejects(createWrapToken(now(w.live), { secret: 'KEY', host: 'api.stripe.com', style: 'subdomain' }), {
    type: 'validation_error',
  });
  await assert.rejects(createWrapToken(now(w.test), { secret: secret_id, host: 'api.stripe.com' }), { type: 'validation_error' });
  const before = Date.now();
  const { id, expires_at } = await createWrapToken(now(w.live), { secret: 'KEY', host: 'api.stripe.com', ttl_seconds: 60 });
  assert.ok(expires_at && expires_at.getTime() >= before + 60_000 && expires_at.getTime() <= Date.now() + 60_000);
  await pruneWrapTokens(db(), new Date(Date.now() + 120_000));
  const [listed] = (await listWrapTokens(now(w.live))).tokens;
  assert.deepEqual([listed?.id, listed?.revoked_at === null], [id, false]);
});

test('Owners hear of hosts that were added and of tokens that travelled in clear, each once', async () => {
  const w = await workspace();
  const { secret_id } = await store(w.live);
  await made(await confirmedOwner(w, 'credential.move'), 'wrap.update_credential', {
    secret_id,
    hosts: ['api.stripe.com', 'files.stripe.com'],
  });
  const [entry] = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'wrap_credential', action: 'update' } });
  assert.match(JSON.stringify(entry?.details), /files\.stripe\.com/);
  const { id } = await createWrapToken(now(w.live), { secret: 'KEY', host: 'api.stripe.com' });
  await db().wrap_tokens.update({ where: { id }, data: { revoked_at: new Date(), revoked_reason: 'exposed' } });
  await notifyExposed(db(), new Date());
  assert.notEqual((await db().wrap_tokens.findUniqueOrThrow({ where: { id } })).exposure_told_at, null);
});
