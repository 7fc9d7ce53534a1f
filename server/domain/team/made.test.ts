import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { families } from '#server/domain/families.ts';
import type { Actor, Ctx } from '#server/kernel/context.ts';
import type { Family } from '#server/kernel/family.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made, operationById } from '#server/testing/factories.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { verified } from '#server/testing/step-up.ts';
import { tokenActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { asMember, sharedClient } from './members.fixture.ts';

await testDatabase();

type Thing = { kind: string; id: string; name: string; space: string; through: string | null; may_end: boolean; revoked?: boolean };
const run = async (ctx: Ctx, id: string, input: Record<string, unknown>) =>
  (await perform(operationById(id), { ...ctx, warnings: [] }, input)).output as { made: Thing[] };
const owner = async (w: Workspace) => asMember(w.member('owner'));
const kinds = (things: readonly Thing[]) => things.map(({ kind, space }) => `${kind} ${space}`).sort();

/** An Admin who leaves ways back in: an OAuth client that mints keys, a SCIM credential, an invitation and a webhook to a host of theirs. */
async function thief(w: Workspace) {
  const admin = await asMember(w.member('admin'));
  await verified(admin, 'oauth.client');
  const client = await made(admin, 'oauth_clients.create', {
    name: 'Backdoor',
    type: 'confidential',
    allowed_scopes: ['api_keys:write', 'routes:read'],
  });
  await verified(admin, 'scim.credential');
  await made(admin, 'scim_credentials.create', {
    name: 'directory',
    space: 'live',
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  const invitation = await made(admin, 'team.invite', { email: `${fresh('x')}@example.test`, role: 'editor' });
  const webhook = await made(admin, 'webhooks.create', {
    name: fresh('w'),
    url: 'https://collector.example.net/x',
    event_types: ['request.success'],
  });
  const row = await db().oauth_clients.findFirstOrThrow({ where: { client_id: client.client_id } });
  const actor: Actor = { ...tokenActor(), type: 'oauth_token', id: row.id, client_id: row.client_id } as Actor;
  const minted = await made({ ...w.live, actor }, 'api_keys.create', { name: 'minted' });
  const inTest = await made({ ...admin, sandbox: true }, 'webhooks.create', {
    name: fresh('w'),
    url: 'https://collector.example.net/y',
    event_types: ['request.success'],
  });
  return { admin, row, invitation, webhook, minted, inTest };
}

test('whoever removes an Admin is shown every way back in that they left, before, after and by mail', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const { admin, minted } = await thief(w);
  const id = admin.actor.id as string;
  const expected = ['api_key live', 'invitation live', 'oauth_client live', 'scim_credential live', 'webhook live', 'webhook test'];
  const before = await run(boss, 'team.impact', { id });
  assert.deepEqual(kinds(before.made), expected);
  assert.equal(before.made.find(({ kind }) => kind === 'api_key')?.through, 'Backdoor', 'the key that their client minted is theirs too');
  const answer = await run(boss, 'team.delete', { id });
  assert.deepEqual(kinds(answer.made), expected);
  assert.ok(answer.made.every(({ revoked }) => revoked === false));
  assert.equal((await call('GET', '/routes', { key: minted.api_key })).status, 200, 'nothing ends that nobody asked to end');
  const { email } = await db().users.findUniqueOrThrow({ where: { id: boss.actor.id as string } });
  const mail = (await mailsTo(email)).find(({ kind }) => kind === 'member_made');
  for (const word of ['Backdoor', 'directory', 'minted', 'collector.example.net', 'SCIM credential (Live)'])
    assert.match(mail?.text ?? '', new RegExp(word.replace(/[().]/g, '\\$&')));
});

test('a removal that revokes everything leaves the removed Admin no way back, in the same transaction', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const { admin, row, invitation, webhook, minted, inTest } = await thief(w);
  const answer = await run(boss, 'team.delete', { id: admin.actor.id, revoke: true });
  assert.ok(answer.made.length >= 6 && answer.made.every(({ revoked }) => revoked === true));
  assert.equal((await call('GET', '/routes', { key: minted.api_key })).status, 401);
  const client = await db().oauth_clients.findUniqueOrThrow({ where: { id: row.id } });
  assert.deepEqual([client.active, client.epoch], [false, row.epoch + 1]);
  assert.ok((await db().scim_credentials.findFirstOrThrow({ where: { tenant_id: w.tenant.id } })).revoked_at);
  assert.ok((await db().invitations.findUniqueOrThrow({ where: { id: invitation.id } })).revoked_at);
  for (const { id } of [webhook, inTest]) {
    assert.equal((await db().webhooks.findUniqueOrThrow({ where: { id } })).enabled, false);
    assert.equal(await db().event_subscriptions.count({ where: { destination_id: id, enabled: true } }), 0);
  }
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, details: { path: ['via'], equals: 'member_removed' } },
  });
  assert.equal(entries.length, answer.made.length, 'each is audited');
});

test('kinds can be named, unknown ones are refused, and the rest stays', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const { admin } = await thief(w);
  const id = admin.actor.id as string;
  await assert.rejects(run(boss, 'team.delete', { id, revoke: ['scim'] }), {
    type: 'validation_error',
    message: /scim is not one of .*scim_credential/,
  });
  const answer = await run(boss, 'team.delete', { id, revoke: ['scim_credential', 'oauth_client'] });
  assert.deepEqual(kinds(answer.made.filter(({ revoked }) => revoked)), ['oauth_client live', 'scim_credential live']);
  const impact = await db().webhooks.count({ where: { tenant_id: w.tenant.id, enabled: true } });
  assert.equal(impact, 2);
});

test('a secret that an Admin rotated is theirs to know, whoever made its client', async () => {
  const w = await workspace();
  const boss = await owner(w);
  await verified(boss, 'oauth.client');
  const { client_id } = await made(boss, 'oauth_clients.create', { name: 'Shared', type: 'confidential', allowed_scopes: ['routes:read'] });
  const row = await db().oauth_clients.findFirstOrThrow({ where: { client_id } });
  const admin = await asMember(w.member('admin'));
  await verified(admin, 'oauth.client');
  await made(admin, 'oauth_clients.rotate_secret', { id: row.id });
  const answer = await run(boss, 'team.delete', { id: admin.actor.id, revoke: true });
  assert.deepEqual(
    answer.made.map(({ kind, name }) => [kind, name]),
    [['oauth_client_secret', 'Shared']],
  );
  assert.equal(await db().oauth_client_secrets.count({ where: { client_row_id: row.id, revoked_at: null } }), 0);
  assert.equal((await db().oauth_clients.findUniqueOrThrow({ where: { id: row.id } })).active, true);
});

test('every statement of the register is valid, for finding and for ending', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const admin = await asMember(w.member('admin'));
  const answer = await run(boss, 'team.delete', { id: admin.actor.id, revoke: true });
  assert.deepEqual(answer.made, []);
  assert.ok((families as readonly Family[]).flatMap(({ made = [] }) => made).length >= 18);
});

/** A connection to an identity provider, as its table keeps it. */
async function connection(w: Workspace, made_by: string): Promise<string> {
  const id = newId();
  const at = { tenant_id: w.tenant.id, kind: 'oidc', name: 'okta', issuer: 'https://id.example.test', client_id: 'x' };
  await db().sso_connections.create({ data: { id, ...at, made_by } });
  return id;
}

test('what was minted through a client belongs to whoever held a secret or trust binding of it, though the secret has ended', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const client = await sharedClient(boss);
  const [rotated, bound] = [await asMember(w.member('admin')), await asMember(w.member('admin'))];
  await verified(rotated, 'oauth.client');
  await made(rotated, 'oauth_clients.rotate_secret', { id: client.id });
  await verified(bound, 'oauth.client');
  await made(bound, 'trust_bindings.create', {
    ...{ id: client.id, name: 'ci', provider: 'github_actions', subject: 'repo:acme/app:ref:refs/heads/main', scopes: ['routes:read'] },
  });
  const { id } = await made({ ...w.live, actor: client.actor }, 'api_keys.create', { name: 'minted' });
  await verified(boss, 'oauth.client');
  await made(boss, 'oauth_clients.rotate_secret', { id: client.id });
  for (const admin of [rotated, bound]) {
    const { made: things } = await run(boss, 'team.impact', { id: admin.actor.id });
    assert.deepEqual(
      things.filter((one) => one.kind === 'api_key').map((one) => [one.id, one.through]),
      [[id, 'Shared']],
    );
  }
});

test('an edit of a client by somebody else leaves it with its first maker', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const admin = await asMember(w.member('admin'));
  const client = await sharedClient(admin);
  await db().oauth_clients.update({ where: { id: client.id }, data: { grant_types: ['authorization_code', 'refresh_token'] } });
  await verified(boss, 'oauth.client');
  await made(boss, 'oauth_clients.update', { id: client.id, redirect_uris: ['https://app.example.com/back'] });
  const { made: things } = await run(boss, 'team.impact', { id: admin.actor.id });
  assert.deepEqual(kinds(things), ['oauth_client live']);
});

test('somebody who leaves ends only what their role may end', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const { admin, row } = await thief(w);
  const id = admin.actor.id as string;
  await db().memberships.updateMany({ where: { tenant_id: w.tenant.id, user_id: id }, data: { role: 'viewer' } });
  const viewer: Ctx = {
    ...admin,
    actor: { ...w.member('viewer').actor, id, session_id: (admin.actor as { session_id: string }).session_id } as Actor,
  };
  const listed = async (by: Ctx) => (await run(by, 'team.impact', { id })).made;
  assert.deepEqual([...new Set((await listed(viewer)).map(({ may_end }) => may_end))], [false], 'the dialog offers none of it');
  assert.ok(
    (await listed(boss)).every(({ may_end }) => may_end),
    'whoever removes them may end it',
  );
  assert.ok(
    (await listed(admin)).every(({ may_end }) => may_end),
    'so might they with the role they had',
  );
  for (const revoke of [true, ['oauth_client'], ['webhook']])
    await assert.rejects(run(viewer, 'team.delete', { id, revoke }), { type: 'role_denied', message: /ask an Owner to remove you/ });
  assert.equal((await db().oauth_clients.findUniqueOrThrow({ where: { id: row.id } })).active, true);
  assert.ok((await run(viewer, 'team.delete', { id })).made.every(({ revoked }) => revoked === false));
  assert.ok(boss);
});

test('a single sign-on connection is listed with whoever set it up, and stays', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const admin = await asMember(w.member('admin'));
  const id = await connection(w, admin.actor.id as string);
  const answer = await run(boss, 'team.delete', { id: admin.actor.id, revoke: true });
  assert.deepEqual(
    answer.made.map((one) => [one.kind, one.id, one.revoked]),
    [['sso_connection', id, false]],
  );
  assert.equal((await db().sso_connections.findUniqueOrThrow({ where: { id } })).active, true);
  await assert.rejects(run(boss, 'team.delete', { id: boss.actor.id, revoke: ['sso_connection'] }), { type: 'validation_error' });
});
