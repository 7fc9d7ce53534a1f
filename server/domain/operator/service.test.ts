import assert from 'node:assert/strict';
import test from 'node:test';
import { families } from '#server/domain/families.ts';
import { createTenant } from '#server/domain/signup/service.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import * as operator from './service.ts';

const setMember = (input: Parameters<typeof operator.setMember>[0]) => operator.setMember(input, families);

await ownDatabase();

test('create-tenant is idempotent by slug and brings plan and status along', async () => {
  const first = await operator.provisionTenant({
    slug: 'acme',
    plan: 'free',
    owner_email: 'Dana@Example.com',
    owner_password: 'correct horse battery staple',
  });
  const again = await operator.provisionTenant({ slug: 'acme', plan: 'pro' });
  assert.deepEqual([first.created, again.created, again.id], [true, false, first.id]);
  const tenant = await db().tenants.findUniqueOrThrow({ where: { slug: 'acme' } });
  assert.equal(tenant.subscription_plan, 'pro');
  assert.equal(await db().memberships.count({ where: { tenant_id: tenant.id, role: 'owner' } }), 1);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: tenant.id } });
  assert.ok(entries.every((e) => e.actor_type === 'operator'));
  const inTest = entries.filter((e) => e.sandbox).map((e) => `${e.action} ${e.resource_type}`);
  assert.deepEqual(inTest.toSorted(), ['create route', 'create secret'], 'what a new workspace begins with has a beginning in its trail');
});

test('set-member gives, changes and takes away a role, each time in the audit log, and never leaves a workspace without an Owner', async () => {
  const { id } = await operator.provisionTenant({ slug: 'team', owner_email: 'first@example.com' });
  const set = (email: string, role: string) => setMember({ slug: 'team', email, role });
  assert.equal((await setMember({ slug: 'team', email: 'Vi@Example.com', role: 'viewer', name: 'Vi' })).from, null);
  const { id: vi } = await db().users.findUniqueOrThrow({ where: { email: 'vi@example.com' } });
  const members = () => db().memberships.findMany({ where: { tenant_id: id, removed_at: null, user_id: vi } });
  assert.deepEqual((await set('vi@example.com', 'editor')).from, 'viewer');
  assert.deepEqual(
    (await members()).map(({ role }) => role),
    ['editor'],
  );

  for (const role of ['member', 'none'])
    await assert.rejects(set('first@example.com', role), { type: 'validation_error', message: /only Owner of team/ });
  await assert.rejects(set('stranger@example.com', 'none'), { message: /is not a member of team/ });
  await assert.rejects(set('vi@example.com', 'god'), { message: /--role must be one of/ });

  await set('vi@example.com', 'owner');
  // Both at once: whichever comes second is the last Owner and stays.
  const both = await Promise.allSettled([set('first@example.com', 'none'), set('vi@example.com', 'none')]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: id, resource_type: 'member' }, orderBy: { id: 'asc' } });
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['create', 'create', 'update', 'update', 'delete'],
  );
});

test('a password that the operator gives somebody is in the trail of every workspace of theirs, and so is a new account', async () => {
  const password = 'correct horse battery staple';
  const [a, b] = [await operator.provisionTenant({ slug: 'pw-a' }), await operator.provisionTenant({ slug: 'pw-b' })];
  for (const slug of ['pw-a', 'pw-b']) await setMember({ slug, email: 'pat@example.com', role: 'viewer' });
  const trail = async (tenant_id: string) =>
    (await db().audit_logs.findMany({ where: { tenant_id, resource_type: 'user' }, orderBy: { seq: 'asc' } })).map((e) => [
      e.action,
      e.actor_type,
      (e.details as { name: string }).name,
      (e.details as { field?: string }).field,
    ]);
  assert.deepEqual(await trail(a.id), [['create', 'operator', 'pat@example.com', undefined]]);
  // The role stays as it is; the password is a change all the same.
  await setMember({ slug: 'pw-b', email: 'pat@example.com', role: 'viewer', password });
  const changed = ['update', 'operator', 'pat@example.com', 'password'];
  assert.deepEqual((await trail(a.id)).slice(1), [changed]);
  assert.deepEqual(await trail(b.id), [changed]);
  assert.doesNotMatch(
    JSON.stringify(await db().audit_logs.findMany({ where: { tenant_id: b.id }, select: { details: true } })),
    /correct horse/,
  );
});

test('create-tenant without a plan or status leaves those of an existing workspace alone', async () => {
  await operator.provisionTenant({ slug: 'lapsed', plan: 'starter', status: 'past_due' });
  const again = await operator.provisionTenant({ slug: 'lapsed', owner_email: 'lee@example.com' });
  assert.deepEqual([again.plan, again.status], ['starter', 'past_due']);
  const tenant = await db().tenants.findUniqueOrThrow({ where: { slug: 'lapsed' } });
  assert.deepEqual([tenant.subscription_plan, tenant.subscription_status], ['starter', 'past_due']);
});

test('a key of the operator works at once, and each subscription status answers as the rule says', async () => {
  await operator.provisionTenant({ slug: 'status-co' });
  const { api_key } = await operator.createKey({ slug: 'status-co', space: 'live', role: 'key - editor' });
  for (const [status, expected] of [
    ['active', 200],
    ['trialing', 200],
    ['dunning', 200],
    ['past_due', 403],
    ['paused', 403],
    ['cancelled', 403],
  ] as const) {
    await operator.setPlan({ slug: 'status-co', status });
    const answer = await call('GET', '/account', { key: api_key });
    assert.equal(answer.status, expected, status);
    if (expected === 403) assert.equal(answer.body.error.type, 'subscription_inactive');
  }
});

test('a limit override replaces the plan number and can be taken back', async () => {
  await operator.provisionTenant({ slug: 'limited', plan: 'enterprise' });
  const { api_key: key } = await operator.createKey({ slug: 'limited', space: 'live' });
  await operator.setLimit({ slug: 'limited', kind: 'environments', value: 1 });
  assert.equal((await call('POST', '/environments', { key, body: { name: 'two' } })).status, 403);
  await operator.setLimit({ slug: 'limited', kind: 'environments', value: null, remove: true });
  assert.equal((await call('POST', '/environments', { key, body: { name: 'two' } })).status, 201);
});

test('only the operator ends a suspension', async () => {
  await operator.provisionTenant({ slug: 'abuse' });
  await operator.suspend({ slug: 'abuse' });
  assert.deepEqual(await operator.resume({ slug: 'abuse' }), { slug: 'abuse', status: 'active' });
  await assert.rejects(operator.resume({ slug: 'abuse' }), { type: 'conflict' });
});

test('unusable slugs, plans, roles and spaces are refused with what would do', async () => {
  for (const slug of ['admin', 'sandbox-x', 'UPPER', '-a', 'a'.repeat(56)])
    await assert.rejects(operator.provisionTenant({ slug }), { type: 'validation_error' });
  await assert.rejects(operator.provisionTenant({ slug: 'fine', plan: 'gold' }), /free, starter, pro, enterprise/);
  await operator.provisionTenant({ slug: 'fine' });
  assert.throws(() => operator.createKey({ slug: 'fine', space: 'live', role: 'root' }), /Key - Infrastructure/);
  assert.throws(() => operator.createKey({ slug: 'fine', space: 'both' }), /live, test/);
});

test('what cannot be stored as asked is refused by its flag, and nothing is made', async () => {
  await operator.provisionTenant({ slug: 'here' });
  const before = await db().audit_logs.count();
  const asked: [RegExp, () => unknown][] = [
    [/^--owner-email must be an email address/, () => operator.provisionTenant({ slug: 'not-here', owner_email: 'nobody' })],
    [
      /^--owner-password requires --owner-email/,
      () => operator.provisionTenant({ slug: 'not-here', owner_password: 'correct horse battery' }),
    ],
    [/^--region can't be changed: here is in us/, () => operator.provisionTenant({ slug: 'here', region: 'eu' })],
    [/^--name /, () => operator.provisionTenant({ slug: 'not-here', name: 'x'.repeat(121) })],
    [/^--name /, () => operator.createKey({ slug: 'here', space: 'test', name: 'x'.repeat(101) })],
    [/^set-plan requires --plan or --status/, () => operator.setPlan({ slug: 'here' })],
    [/^--value must be at most 2147483647/, () => operator.setLimit({ slug: 'here', kind: 'routes', value: 2 ** 31 })],
  ];
  for (const [message, act] of asked) await assert.rejects(async () => act(), { type: 'validation_error', message });
  assert.equal(await db().audit_logs.count(), before);
  assert.equal(await db().tenants.findUnique({ where: { slug: 'not-here' } }), null);
});

test('in a workspace whose subscription ended, members read and revoke keys but build nothing', async () => {
  const { perform } = await import('#server/api/perform.ts');
  const { made, operationById } = await import('#server/testing/factories.ts');
  const { workspace } = await import('#server/testing/workspace.ts');
  const w = await workspace();
  const key = await w.key('live');
  const ended = { ...w.member('owner'), subscription_status: 'past_due' };
  assert.equal((await made(ended, 'environments.list')).length, 1);
  await assert.rejects(perform(operationById('environments.create'), ended, { name: 'x' }), { type: 'subscription_inactive' });
  assert.deepEqual(await made(ended, 'api_keys.revoke', { id: key.row.id }), { deleted: true, revoked: true });
});

test('of several commands at once for one slug one makes the workspace and the others find it; one new owner of several becomes one person', async () => {
  const owner_email = 'both@example.com';
  const answers = await Promise.all(Array.from({ length: 6 }, () => operator.provisionTenant({ slug: 'at-once', owner_email })));
  assert.deepEqual(answers.map((one) => one.created).sort(), [false, false, false, false, false, true]);
  assert.equal(new Set(answers.map((one) => one.id)).size, 1);
  assert.equal(await db().tenants.count({ where: { slug: { startsWith: 'at-once' } } }), 1);
  assert.equal(await db().memberships.count({ where: { tenant_id: answers[0]?.id, removed_at: null } }), 1);

  const email = 'everywhere@example.com';
  await Promise.all(['east', 'west', 'north'].map((slug) => operator.provisionTenant({ slug, owner_email: email })));
  await Promise.all(['east', 'west', 'north'].map((slug) => setMember({ slug, email: 'guest@example.com', role: 'viewer' })));
  assert.equal(await db().memberships.count({ where: { user: { email: { in: [email, 'guest@example.com'] } } } }), 6);
});

test('workspaces made at once get different slugs, also where the second choice of one is the first of another', async () => {
  const made = (slug: string) =>
    db().$transaction((tx) => createTenant(tx, { name: slug, slug, region: 'us', plan: 'free' }, new Date()), {
      maxWait: 120_000,
      timeout: 120_000,
    });
  const slugs = (await Promise.all(['chain', 'chain-2', 'chain', 'chain-2', 'chain-3'].map(made))).map((one) => one.slug);
  assert.equal(new Set(slugs).size, 5, slugs.join(' '));
});
