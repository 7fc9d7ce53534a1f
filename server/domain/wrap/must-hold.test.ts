import assert from 'node:assert/strict';
import test from 'node:test';
import { removeValue, updateSecretEnvironment } from '#server/domain/secrets/environment-values.ts';
import { revealOfValue } from '#server/domain/secrets/reveal.ts';
import { putValue } from '#server/domain/secrets/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { confirmedOwner } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { createWrapCredential, updateWrapCredential } from './credentials.ts';
import { CreateWrapCredential } from './schema.ts';
import { createWrapToken, revokeWrapToken } from './tokens.ts';

// What interface rule 33 promises of escrowed keys and their tokens beyond the calls themselves (§7, §8, §10, §12).

await testDatabase();
const now = (ctx: Ctx): Ctx => ({ ...ctx, now: new Date(), warnings: [] });
const store = (ctx: Ctx, more: object = {}) =>
  createWrapCredential(
    now(ctx),
    CreateWrapCredential.parse({ provider: 'Stripe', name: 'KEY', value: 'v', hosts: ['api.stripe.com'], ...more }),
  );

test('nobody reveals an escrowed value, the Owner included, until the workspace turns that off', async () => {
  const w = await workspace();
  const { secret_id } = await store(w.live);
  const asked = async () => revealOfValue.state?.(now(w.member('owner')), { id: secret_id });
  await assert.rejects(asked(), { type: 'reveal_policy_denied' });
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { escrow_never_reveal: false } } });
  assert.deepEqual(await asked(), { environment: 'production', value_version: 1 });
});

test('an escrowed key counts as a secret of the plan, and live tokens have a limit of their own', async () => {
  const w = await workspace({ plan: 'pro' });
  const limit = (kind: string, value: number) =>
    db().tenant_limit_overrides.upsert({
      where: { tenant_id_kind: { tenant_id: w.tenant.id, kind } },
      create: { tenant_id: w.tenant.id, kind, value },
      update: { value },
    });
  await limit('secrets', 1);
  await store(w.live);
  await assert.rejects(store(w.live, { name: 'SECOND' }), { type: 'plan_limit', status: 402 });
  await limit('wrap_tokens', 2);
  const token = () => createWrapToken(now(w.live), { secret: 'KEY' });
  const { id } = await token();
  await token();
  await assert.rejects(token(), { type: 'plan_limit', status: 402 });
  await revokeWrapToken(now(w.live), { id });
  await token();
  const raced = await Promise.allSettled([token(), token()]);
  assert.deepEqual(
    raced.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});

test('every change of an escrowed key is audited as a wrap credential, whichever endpoint made it', async () => {
  const w = await workspace();
  const { secret_id } = await store(w.live);
  await made(w.live, 'environments.create', { name: 'staging' });
  await putValue(now(w.live), { id: secret_id, value: 'the next value' });
  await putValue(now(w.live), { id: secret_id, value: 'elsewhere', environment: 'staging' });
  await updateSecretEnvironment(now(w.live), { id: secret_id, env: 'staging', expires_at_override: new Date(Date.now() + 86_400_000) });
  await removeValue(now(w.live), { id: secret_id, env: 'staging' });
  await made(await confirmedOwner(w, 'credential.move'), 'wrap.update_credential', {
    secret_id,
    hosts: ['api.stripe.com', 'files.stripe.com'],
  });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: secret_id }, orderBy: { id: 'asc' } });
  assert.deepEqual(
    entries.map((entry) => `${entry.resource_type} ${entry.action}`).sort(),
    ['create', 'rotate', 'rotate', 'update', 'update', 'update'].map((action) => `wrap_credential ${action}`),
  );
  const { details } = entries.find((entry) => JSON.stringify(entry.details).includes('files.stripe.com')) ?? {};
  assert.deepEqual((details as { changes: unknown }).changes, [
    { field: 'allowed_hosts', from: ['api.stripe.com'], to: ['api.stripe.com', 'files.stripe.com'] },
  ]);
  assert.ok(!JSON.stringify(entries, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes('the next value'));
});

test('a token that is made and one that ends are events, once each, and neither holds the token', async () => {
  const w = await workspace();
  const { secret_id } = await store(w.live, { hosts: ['api.stripe.com', 'files.stripe.com'] });
  await db().event_subscriptions.create({
    data: {
      ...{ id: newId(), tenant_id: w.tenant.id, sandbox: false, channel: 'test', destination_id: newId(), enabled: true },
      event_types: ['wrap.token.created', 'wrap.token.revoked'],
    },
  });
  const one = await createWrapToken(now(w.live), { secret: 'KEY', host: 'api.stripe.com' });
  const two = await createWrapToken(now(w.live), { secret: 'KEY', host: 'files.stripe.com' });
  await revokeWrapToken(now(w.live), { id: one.id });
  await revokeWrapToken(now(w.live), { id: one.id });
  await updateWrapCredential(now(w.live), { secret_id, hosts: ['api.stripe.com'] });
  const events = await db().events.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { id: 'asc' } });
  assert.deepEqual(
    events.map(({ type, source_id }) => `${type} ${source_id}`).sort(),
    [`wrap.token.created ${one.id}`, `wrap.token.created ${two.id}`, `wrap.token.revoked ${one.id}`, `wrap.token.revoked ${two.id}`].sort(),
  );
  const text = JSON.stringify(events, (_, v) => (typeof v === 'bigint' ? String(v) : v));
  assert.ok(![one, two].some(({ token }) => text.includes(token.slice(4))));
});

test('no spelling of an address, of a name inside or of this service is a host of a key or of its token', async () => {
  const w = await workspace();
  await store(w.live);
  for (const host of [
    ...['2130706433', '0x7f.1', '0x7f000001', '0177.0.0.1', '127.1', '127.0.0.1', '127.0.0.1.', '①②⑦.⓪.⓪.①', '[::1]', '[::ffff:7f00:1]'],
    ...['::1', 'fe80::1%eth0', 'localhost', 'localhost.', 'com', 'co.uk', '*.stripe.com', 'аpi.stripe.com', 'api。stripe.com'],
    ...['user@api.stripe.com', 'api.stripe.com@evil.example', 'api.stripe.com:22', 'api.stripe.com:443', 'https://api.stripe.com'],
    ...[
      'api.stripe.com/v1',
      'api.stripe.com?x',
      'api.stripe.com#x',
      'api.stri\tpe.com',
      'api.stripe.com\n',
      'api%2estripe.com',
      'api..stripe.com',
    ],
    ...['-api.stripe.com', `${'a'.repeat(64)}.example.com`, 'api.stripe.com%00.evil.example', 'api.stripe.com\\.evil.example'],
  ]) {
    await assert.rejects(store(w.live, { name: 'OTHER', hosts: [host] }), { type: 'validation_error' }, host);
    await assert.rejects(createWrapToken(now(w.live), { secret: 'KEY', host }), { type: 'validation_error' }, host);
  }
});
