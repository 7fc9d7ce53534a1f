import assert from 'node:assert/strict';
import test from 'node:test';
import { handle } from '#server/api/handle.ts';
import { classifyCredential, digest } from '#server/crypto/tokens.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { Lease } from '#server/kernel/lease.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { verified } from '#server/testing/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { handleDashboard } from '#server/trpc/dashboard.ts';
import { leases } from './leases.ts';
import * as scim from './service.ts';

await testDatabase();

const DAY = 24 * 3_600_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString();

/** An Owner who may confirm as often as they like. */
function ownerOf(w: Workspace): Ctx {
  return w.member('owner');
}
const create = async (ctx: Ctx, input: Partial<Parameters<typeof scim.createCredential>[1]> = {}) =>
  scim.createCredential(ctx, { name: 'Okta', expires_at: inDays(30), space: 'live', ...input });

test('a credential is stored as its digest alone, and says who made it', async () => {
  const w = await workspace();
  const owner = ownerOf(w);
  await verified(owner, 'scim.credential');
  const { credential, token } = await create(owner);
  assert.match(token, /^scim_[0-9A-Za-z]{49}$/);
  assert.equal(classifyCredential(token).kind, 'scim');
  const row = await db().scim_credentials.findUniqueOrThrow({ where: { id: credential.id } });
  assert.deepEqual(Buffer.from(row.digest), digest(token));
  assert.doesNotMatch(JSON.stringify(row), new RegExp(token.slice(11)));
  assert.deepEqual([credential.prefix, credential.created_by.label], [`${token.slice(0, 11)}...`, owner.actor.label]);
  const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, resource_id: credential.id } });
  assert.deepEqual([entry.action, entry.resource_type], ['create', 'scim_credential']);
  assert.ok(!JSON.stringify(entry.details).includes(token));
});

test('the end must be chosen, between an hour and 366 days, and a space has at most five active ones', async () => {
  const w = await workspace();
  const owner = ownerOf(w);
  for (const expires_at of [inDays(0.02), inDays(367), inDays(-1)])
    await assert.rejects(create(owner, { expires_at }), { type: 'validation_error', message: /one hour and 366 days/ });
  const made = [];
  for (let i = 0; i < 5; i++) made.push(await create(owner));
  await assert.rejects(create(owner), { type: 'conflict' });
  await create(owner, { space: 'test' });
  await scim.revokeCredential(owner, { id: made[0]?.credential.id ?? '' });
  const again = await Promise.allSettled([create(owner), create(owner), create(owner)]);
  assert.equal(again.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal((await scim.listCredentials(owner)).length, 7);
});

test('making one takes a current Enterprise plan; listing and revoking never depend on it', async () => {
  const w = await workspace();
  const owner = ownerOf(w);
  const { credential } = await create(owner);
  const states = [
    ['lapsed', { subscription_plan: 'enterprise', subscription_status: 'cancelled' }],
    ['lapsed', { subscription_plan: 'enterprise', subscription_status: 'past_due' }],
    ['ended', { subscription_plan: 'enterprise', subscription_status: 'cancelled', enterprise_ended_by: 'owner' }],
    ['required', { subscription_plan: 'pro', subscription_status: 'active', enterprise_ended_by: null }],
  ] as const;
  for (const [plan, data] of states) {
    await db().tenants.update({ where: { id: w.tenant.id }, data });
    assert.equal((await scim.scimStatus(owner)).plan, plan);
    await assert.rejects(create(owner), { type: 'scim_plan_required', status: 403 });
    assert.equal((await scim.listCredentials(owner)).length, 1);
  }
  assert.deepEqual(await scim.revokeCredential(owner, { id: credential.id }), { deleted: true });
  assert.deepEqual(await scim.revokeCredential(owner, { id: credential.id }), { deleted: true });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: credential.id }, orderBy: { id: 'asc' } });
  assert.deepEqual(entries.map(({ action }) => action).sort(), ['create', 'revoke'], 'revoking twice leaves one entry');
});

test('a platform operator gets at no credential of a workspace', async () => {
  const w = await workspace();
  const operator = w.ctx('live', { type: 'operator', id: null, label: 'operator', capabilities: new Set() });
  const refused = { type: 'operator_custody_blocked', status: 403 };
  await assert.rejects(create(operator), refused);
  await assert.rejects(scim.listCredentials(operator), refused);
  await assert.rejects(scim.revokeCredential(operator, { id: newId() }), refused);
});

test('the token works nowhere but in SCIM', async () => {
  const w = await workspace();
  const { token } = await create(ownerOf(w));
  const headers = { authorization: `Bearer ${token}`, 'x-api-key': token, 'x-tenant-id': w.tenant.slug };
  const edge = { space: 'live' as const, ip: '192.0.2.1', request_id: newId(), user_agent: null };
  const v1 = await handle(new Request('http://api.test/v1/environments', { headers }), edge);
  assert.equal(v1.status, 401);
  const { 'x-api-key': _, ...bearer } = headers;
  const admin = await handleDashboard(new Request('http://admin.test/admin/scim/credentials', { headers: bearer }));
  assert.equal(admin.status, 401);
});

test('Owners are mailed when one is made, and 30, 7 and 1 days before it ends and once it has, each once', async () => {
  const w = await workspace();
  const owner = ownerOf(w);
  await verified(owner, 'scim.credential');
  const { email } = await db().users.findUniqueOrThrow({ where: { id: owner.actor.id ?? '' } });
  await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: owner.actor.id ?? '', role: 'owner' } });
  const { credential } = await create(owner, { expires_at: inDays(60) });
  const lease: Lease = { resource_id: credential.id, tenant_id: w.tenant.id, sandbox: false, attempts: 0, version: 1 };
  const sweep = (days: number) =>
    db().$transaction((tx) =>
      (leases.scim_credential as NonNullable<(typeof leases)['scim_credential']>).handle(tx, [lease], new Date(Date.now() + days * DAY)),
    );
  const acted = [];
  for (const day of [1, 31, 32, 54, 59.5, 59.6, 61, 62]) acted.push((await sweep(day)).acted);
  assert.deepEqual(acted, [0, 1, 0, 1, 1, 0, 1, 0]);
  const kinds = (await mailsTo(email)).map(({ kind, subject }) => `${kind} ${/expires soon|has expired|New/.exec(subject)?.[0]}`);
  assert.deepEqual(kinds.sort(), [
    'scim_credential_created New',
    'scim_credential_ending expires soon',
    'scim_credential_ending expires soon',
    'scim_credential_ending expires soon',
    'scim_credential_ending has expired',
  ]);
  const short = await create(owner, { expires_at: inDays(2) });
  const first = await db().$transaction((tx) =>
    (leases.scim_credential as NonNullable<(typeof leases)['scim_credential']>).handle(
      tx,
      [{ ...lease, resource_id: short.credential.id }],
      new Date(),
    ),
  );
  assert.equal(first.acted, 0, 'a credential for two days is not announced 30 days ahead');
  assert.ok(first.next.get(short.credential.id));
});
