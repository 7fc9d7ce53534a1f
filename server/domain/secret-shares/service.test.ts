import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { answeringRow } from '#server/api/reveal.ts';
import { digest } from '#server/crypto/tokens.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { fresh, made, operationById } from '#server/testing/factories.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { addressOf, claimTokenTo, offered, offeredTo, secretIn } from './samples.fixture.ts';

await testDatabase();

/** A call as the dashboard makes it: the ordinary row answers where nothing is disclosed. */
const call = async (ctx: Ctx, id: string, input: Record<string, unknown>) =>
  (await perform(await answeringRow(operationById(id), ctx, input), ctx, input)).output;
const entries = (tenant_id: string, action: string) =>
  db().audit_logs.findMany({
    where: { tenant_id, action },
    orderBy: { seq: 'asc' },
    select: { resource_type: true, resource_id: true, actor_label: true, actor_id: true, details: true },
  });

/** A share that the acting member has claimed, with what its owner's workspace was told of it. */
async function claimed(more: Record<string, unknown> = {}) {
  const recipient = await workspace();
  const me = recipient.member('admin');
  const offer = await offeredTo(me, more);
  const events = await watchEvents(offer.at, 'secret.share.claimed', 'secret.share.revoked');
  const linked = await made(me, 'secret_shares.claim', { token: offer.token });
  return { recipient, me, linked, events, ...offer };
}

test('a claim token is stored as the SHA-256 of its text', async () => {
  assert.equal(
    digest('shc_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8').toString('hex'),
    '950ded7caefe677fde5f8166671e5083924bdafc39c4c270cfca66e3dfec3d47',
  );
  const w = await workspace();
  const { share, token } = await offered(w.member('owner'), 'partner@vector.example');
  const row = await db().secret_shares.findUniqueOrThrow({ where: { id: share.id } });
  assert.deepEqual(Buffer.from(row.token_digest ?? []), digest(token));
  assert.ok(!JSON.stringify(share).includes(token), 'the token is in the mail alone');
});

test('an ordinary share is a change that an Editor makes; one that discloses takes the gate of reveals', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const { id } = await secretIn(owner);
  const editor = w.member('editor');
  const share = { id, email: 'p@partner.example' };
  const made = await call(editor, 'secret_shares.create', { ...share, allowed_hosts: ['API.Partner.example.'] });
  assert.deepEqual([made.status, made.access_level, made.allowed_hosts], ['pending', 'use', ['api.partner.example']]);
  for (const more of [
    { access_level: 'view', allowed_hosts: ['a.example.com'] },
    { access_level: 'manage', allowed_hosts: ['a.example.com'] },
    { unrestricted: true },
  ]) {
    await assert.rejects(call(editor, 'secret_shares.create', { ...share, ...more }), { type: 'reveal_role_denied' });
    await verified(owner, 'mfa.credential');
    await assert.rejects(call(owner, 'secret_shares.create', { ...share, ...more }), { type: 'reveal_step_up_required' });
    await verified(owner, 'plaintext.reveal');
    assert.equal((await call(owner, 'secret_shares.create', { ...share, ...more })).status, 'pending');
  }
  const ref = {
    id,
    shareId: (await call(editor, 'secret_shares.create', { ...share, allowed_hosts: ['a.example.com', 'b.example.com'] })).id,
  };
  assert.deepEqual((await call(editor, 'secret_shares.update', { ...ref, allowed_hosts: ['b.example.com'] })).allowed_hosts, [
    'b.example.com',
  ]);
  const further = { ...ref, allowed_hosts: ['b.example.com', 'c.example.com'] };
  await assert.rejects(call(editor, 'secret_shares.update', further), { type: 'reveal_role_denied' });
  await assert.rejects(call(owner, 'secret_shares.update', further), { type: 'reveal_step_up_required' });
  await verified(owner, 'plaintext.reveal');
  assert.deepEqual((await call(owner, 'secret_shares.update', further)).allowed_hosts, further.allowed_hosts);
  await assert.rejects(call(editor, 'secret_shares.update', { ...ref, access_level: 'view' }), { type: 'reveal_role_denied' });
  await assert.rejects(call(w.member('viewer'), 'secret_shares.create', { ...share, allowed_hosts: ['a.example.com'] }), {
    type: 'role_denied',
  });
});

test('a share names its hosts or says that it is unrestricted, and never anything in between', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const { id } = await secretIn(owner);
  const share = { id, email: 'p@partner.example' };
  for (const wrong of [
    {},
    { allowed_hosts: [] },
    { allowed_hosts: ['https://a.example.com'] },
    { allowed_hosts: ['*.com'] },
    { allowed_hosts: ['127.0.0.1'] },
    { allowed_hosts: ['a.example.com'], environment: 'staging' },
  ]) {
    await verified(owner, 'plaintext.reveal'); // what can't be read is judged behind the gate
    await assert.rejects(call(owner, 'secret_shares.create', { ...share, ...wrong }), { type: 'validation_error' });
  }
  assert.deepEqual((await made(owner, 'secret_shares.list', { id })).shares, []);
});

test('an edit refuses what a new share refuses: levels of connections, hosts that are none, an end in the past, a plan without sharing', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const { share, secret } = await offered(owner, 'p@edit.example');
  const ref = { id: secret.id, shareId: share.id };
  for (const wrong of [
    {},
    { allowed_hosts: [] },
    { allowed_hosts: ['*.com'] },
    { allowed_hosts: ['127.0.0.1'] },
    { expires_at: '2020-01-01T00:00:00Z' },
    { unrestricted: true },
    { environment: 'staging' },
  ]) {
    await verified(owner, 'plaintext.reveal'); // what can't be read is judged behind the gate
    await assert.rejects(call(owner, 'secret_shares.update', { ...ref, ...wrong }), { type: 'validation_error' }, JSON.stringify(wrong));
  }
  const raise = async (ctx: Ctx, access_level: string) => {
    await verified(owner, 'plaintext.reveal');
    return call(ctx, 'secret_shares.update', { ...ref, access_level });
  };
  assert.equal((await raise(owner, 'view')).access_level, 'view');
  await assert.rejects(raise({ ...owner, plan: 'free' }, 'manage'), { type: 'plan_feature' });
  assert.equal((await raise({ ...owner, plan: 'free' }, 'use')).access_level, 'use', 'narrowed on any plan');
  await db().secrets.update({ where: { id: secret.id }, data: { secret_type: 'oauth2' } });
  await assert.rejects(raise(owner, 'view'), { type: 'validation_error', message: /must be use for OAuth2/ });
  await db().secrets.update({ where: { id: secret.id }, data: { secret_type: 'certificate' } });
  await assert.rejects(raise(owner, 'view'), { type: 'invalid_type' });
  await db().secrets.update({ where: { id: secret.id }, data: { secret_type: 'string', is_escrow: true } });
  await assert.rejects(raise(owner, 'manage'), { type: 'forbidden' });
  assert.deepEqual((await made(owner, 'secret_shares.list', { id: secret.id })).shares[0].access_level, 'use');
});

test('a claim makes a linked secret without a value, once, and both workspaces have it on record', async () => {
  const { recipient, me, linked, share, secret, token, at, events } = await claimed();
  const detail = await made(me, 'secrets.get', { id: linked.id });
  assert.deepEqual(
    [detail.shared.status, detail.shared.access_level, detail.shared.environment, detail.allowed_hosts, detail.environment_count],
    ['active', 'use', 'production', ['api.partner.example'], 1],
  );
  assert.equal(await db().secret_environments.count({ where: { secret_id: linked.id } }), 0);
  await assert.rejects(made(me, 'secret_shares.claim', { token }), { type: 'share_not_found' });
  const [accepted] = await entries(share.tenant_id, 'accept');
  const label = `${recipient.tenant.name}: ${me.actor.label[0]}•••`;
  assert.ok(accepted?.actor_label?.startsWith(label), accepted?.actor_label ?? 'no entry');
  assert.equal(accepted?.actor_id, null);
  assert.equal((await entries(recipient.tenant.id, 'accept')).length, 1);
  const [shown] = (await made(at, 'secret_shares.list', { id: secret.id })).shares;
  assert.deepEqual([shown.status, shown.recipient_tenant_name], ['active', recipient.tenant.name]);
  assert.deepEqual(
    (await events()).map(({ type, about, data }) => [type, about, data.share_id, data.recipient_tenant_name]),
    [['secret.share.claimed', secret.id, share.id, recipient.tenant.name]],
  );
});

test('two claims at once make one linked secret', async () => {
  const [a, b] = [await workspace(), await workspace()];
  const me = a.member('admin');
  const { token } = await offeredTo(me);
  const there = { ...me, tenant_id: b.tenant.id };
  await db().memberships.create({
    data: {
      id: newId(),
      tenant_id: b.tenant.id,
      user_id: String(me.actor.id),
      role: 'admin',
      source: 'invite',
      joined_at: new Date(),
    } as never,
  });
  const results = await Promise.allSettled([made(me, 'secret_shares.claim', { token }), made(there, 'secret_shares.claim', { token })]);
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

test("nobody claims what isn't offered to their verified address, in this space, from another workspace", async () => {
  const me = (await workspace()).member('admin');
  const { token, share, owner, at } = await offeredTo(me);
  const other = (await workspace()).member('admin');
  await addressOf(other);
  let n = 0;
  const claim = (ctx: Ctx, text = token) => made({ ...ctx, ip: `192.0.2.${++n}` }, 'secret_shares.claim', { token: text });
  const no = { type: 'share_not_found', status: 404 };
  await assert.rejects(claim(other), no, 'the token of somebody else');
  await assert.rejects(claim({ ...me, tenant_id: owner.tenant.id }), no, 'the workspace that shares');
  await assert.rejects(claim({ ...me, tenant_id: other.tenant_id }), no, "a workspace the person isn't in");
  await assert.rejects(claim({ ...me, sandbox: true }), no, 'the other space');
  for (const text of ['shc_', token.slice(0, -1), `${token}A`, 'nothing', `shc_${'A'.repeat(43)}`])
    await assert.rejects(claim(me, text), no);
  await db().users.update({ where: { id: String(me.actor.id) }, data: { email_verified_at: null } });
  await assert.rejects(claim(me), no, 'an address that was not verified');
  await db().users.update({ where: { id: String(me.actor.id) }, data: { email_verified_at: new Date() } });
  await assert.rejects(made(other, 'secret_shares.decline', { shareId: share.id }), { type: 'not_found' });
  await assert.rejects(made(other, 'secret_shares.leave', { shareId: share.id }), { type: 'not_found' });
  for (const id of ['secret_shares.list', 'secret_shares.revoke', 'secret_shares.resend'])
    await assert.rejects(made(other, id, { id: share.secret_id, shareId: share.id }), { type: 'not_found' }, id);
  assert.deepEqual((await made(other, 'secret_shares.incoming')).shares, []);
  assert.equal((await made(me, 'secret_shares.incoming')).shares[0].id, share.id);
  await made(at, 'secret_shares.revoke', { id: share.secret_id, shareId: share.id });
  await assert.rejects(claim(me), no, 'revoked');
});

test('an offer ends after seven days, and sending it again ends the link before', async () => {
  const me = (await workspace()).member('admin');
  const { token, share, at } = await offeredTo(me);
  await db().secret_shares.update({ where: { id: share.id }, data: { token_expires_at: new Date(Date.now() - 60_000) } });
  await assert.rejects(made(me, 'secret_shares.claim', { token }), { type: 'share_not_found' });
  const ref = { id: share.secret_id, shareId: share.id };
  assert.equal((await made(at, 'secret_shares.list', ref)).shares[0].status, 'expired');
  assert.equal((await made(at, 'secret_shares.resend', ref)).status, 'pending');
  await assert.rejects(made(me, 'secret_shares.claim', { token }), { type: 'share_not_found' });
  await made(me, 'secret_shares.claim', { token: await claimTokenTo(share.recipient_email) });
  await assert.rejects(made(at, 'secret_shares.resend', ref), { type: 'conflict' });
});

test('a declined share is over, and the owner is told', async () => {
  const me = (await workspace()).member('editor');
  const { token, share } = await offeredTo(me);
  assert.equal((await made(me, 'secret_shares.decline', { shareId: share.id })).status, 'declined');
  await assert.rejects(made(me, 'secret_shares.claim', { token }), { type: 'share_not_found' });
  await assert.rejects(made(me, 'secret_shares.decline', { shareId: share.id }), { type: 'not_found' });
  assert.equal((await entries(share.tenant_id, 'dismiss')).length, 1);
});

test('under "Can use" no operation shows or changes the value', async () => {
  const { me, linked } = await claimed();
  await verified(me, 'plaintext.reveal');
  await assert.rejects(made(me, 'secrets.reveal', { id: linked.id }), { type: 'share_use_only', status: 403 });
  for (const [id, input] of Object.entries({
    'secrets.put_value': { value: 'mine' },
    'secrets.restore': {},
    'secrets.remove_value': { env: 'production' },
    'secrets.update_environment': { env: 'production', expires_at_override: null },
    'secrets.update': { allowed_hosts: null },
    'secret_shares.create': { email: 'third@party.example', allowed_hosts: ['evil.example.com'] },
  }))
    await assert.rejects(call(me, id, { id: linked.id, ...input }), { type: 'forbidden', status: 403 }, id);
  for (const field of [{ expires_at: null }, { strict_expiry_enforcement: false }, { tags: [] }])
    await assert.rejects(made(me, 'secrets.update', { id: linked.id, ...field }), { type: 'forbidden' });
  await made(me, 'secrets.update', { id: linked.id, name: 'MY_ALIAS' });
  assert.deepEqual((await made(me, 'secrets.versions', { id: linked.id })).versions, []);
});

test('a linked secret is no wrap credential and is not shared on, whatever its level', async () => {
  const { me, linked, recipient } = await claimed({ access_level: 'manage' });
  for (const secret of [linked.id, linked.name])
    await assert.rejects(made(me, 'wrap.create_token', { secret, host: 'api.partner.example' }), { type: 'not_escrowed' });
  for (const id of ['wrap.get_credential', 'wrap.delete_credential'])
    await assert.rejects(made(me, id, { secret_id: linked.id }), { status: 404 }, id);
  await assert.rejects(
    call(me, 'secret_shares.create', { id: linked.id, email: 'third@party.example', allowed_hosts: ['a.example.com'] }),
    {
      type: 'forbidden',
    },
  );
  assert.equal(await db().wrap_tokens.count({ where: { tenant_id: recipient.tenant.id } }), 0);
  assert.equal(await db().secret_values.count({ where: { tenant_id: recipient.tenant.id } }), 0, 'the value is with its owner alone');
});

test('a reveal under "Can view" is on record in both workspaces or in none, and shows the value of the owner', async () => {
  const { me, linked, share, recipient, at, secret } = await claimed({ access_level: 'view' });
  await verified(me, 'plaintext.reveal');
  assert.equal((await made(me, 'secrets.reveal', { id: linked.id })).value, 'a value of the owner');
  const [there] = await entries(share.tenant_id, 'plaintext.reveal');
  assert.deepEqual(
    [there?.resource_id, there?.actor_id, (there?.details as { shared_to_tenant: string } | undefined)?.shared_to_tenant],
    [secret.id, null, recipient.tenant.id],
  );
  assert.equal((await entries(recipient.tenant.id, 'plaintext.reveal')).length, 1);
  await assert.rejects(made(me, 'secrets.put_value', { id: linked.id, value: 'mine' }), { type: 'forbidden' });
  await made(at, 'secret_shares.update', { id: secret.id, shareId: share.id, access_level: 'use' }).catch(() => undefined);
  await call(at, 'secret_shares.update', { id: secret.id, shareId: share.id, access_level: 'use' });
  await verified(me, 'plaintext.reveal');
  await assert.rejects(made(me, 'secrets.reveal', { id: linked.id }), { type: 'share_use_only' });
});

test('a value set under "Can manage" is the owner’s, audited in both workspaces, and the Owners are mailed', async () => {
  const { me, linked, share, recipient, at, secret } = await claimed({ access_level: 'manage' });
  const person = await addressOf(at);
  const written = await made(me, 'secrets.put_value', { id: linked.id, value: 'set by the partner' });
  assert.deepEqual([written.value_version, written.environment], [2, 'production']);
  await verified(at, 'plaintext.reveal');
  assert.equal((await made(at, 'secrets.reveal', { id: secret.id })).value, 'set by the partner');
  const rotations = [...(await entries(share.tenant_id, 'rotate')), ...(await entries(recipient.tenant.id, 'rotate'))];
  assert.deepEqual(
    rotations.map(({ resource_id }) => resource_id),
    [secret.id, linked.id],
  );
  assert.ok((await mailsTo(person)).some(({ kind }) => kind === 'shared_value_edited'));
  await assert.rejects(made(me, 'secrets.put_value', { id: linked.id, value: 'x', environment: 'staging' }), { type: 'not_found' });
});

test('a revoked share leaves a tombstone that nothing can be done with, and revoking again changes nothing', async () => {
  const { me, linked, share, at, secret, events } = await claimed({ access_level: 'manage' });
  const ref = { id: secret.id, shareId: share.id };
  await made(at, 'secret_shares.revoke', ref);
  assert.equal((await made(at, 'secret_shares.revoke', ref)).status, 'revoked');
  assert.equal((await entries(share.tenant_id, 'revoke')).length, 1);
  assert.deepEqual(
    (await events()).map(({ type, about, data }) => [type, about, data.share_id]),
    ['claimed', 'revoked'].map((what) => [`secret.share.${what}`, secret.id, share.id]),
  );
  assert.equal((await made(me, 'secrets.get', { id: linked.id })).shared.status, 'revoked');
  await assert.rejects(made(me, 'secrets.put_value', { id: linked.id, value: 'mine' }), { type: 'forbidden' });
  await verified(me, 'plaintext.reveal');
  await assert.rejects(made(me, 'secrets.reveal', { id: linked.id }), { type: 'forbidden' });
  await made(me, 'secrets.delete', { id: linked.id });
});

test('a secret with an active share is in use; leaving gives it free', async () => {
  const { me, share, at, secret } = await claimed();
  await assert.rejects(made(at, 'secrets.delete', { id: secret.id }), { type: 'in_use', message: /share/ });
  assert.deepEqual((await made(at, 'secrets.usage', { id: secret.id })).shares, 1);
  await made(me, 'secret_shares.leave', { shareId: share.id });
  assert.equal((await made(at, 'secret_shares.list', { id: secret.id })).shares[0].status, 'left');
  await made(at, 'secrets.delete', { id: secret.id });
});

test('linked secrets count towards the plan, and a name that is taken leaves the offer open', async () => {
  const w = await workspace({ plan: 'free' });
  const me = w.member('admin');
  const { token, secret } = await offeredTo(me);
  await made(me, 'secrets.create', { name: secret.name, value: 'mine' });
  await assert.rejects(made(me, 'secret_shares.claim', { token }), { type: 'conflict' });
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'secrets', value: 1 } });
  await assert.rejects(made(me, 'secret_shares.claim', { token, name: 'ALIAS' }), { type: 'plan_limit' });
  await db().tenant_limit_overrides.deleteMany({ where: { tenant_id: w.tenant.id } });
  assert.equal((await made(me, 'secret_shares.claim', { token, name: 'ALIAS' })).name, 'ALIAS');
});

test('sharing takes its feature', async () => {
  const w = await workspace({ plan: 'free' });
  const owner = w.member('owner');
  const { id } = await secretIn(owner);
  await assert.rejects(
    call({ ...owner, plan: 'free' }, 'secret_shares.create', { id, email: `${fresh('p')}@example.test`, allowed_hosts: ['a.example.com'] }),
    { type: 'plan_feature' },
  );
});

test('inside row-level security nobody reaches a share, its owner or its mailbox by an ID alone', async () => {
  const { share, token, at } = await offeredTo((await workspace()).member('admin'));
  const stranger = (await workspace()).member('admin');
  await inTransaction(stranger, async (tx) => {
    const none = async (rows: Promise<unknown[]>) => assert.deepEqual(await rows, []);
    await none(tx.secret_shares.findMany({ where: { id: share.id } }));
    await none(tx.$queryRaw`select * from sharing_workspace(${share.id}::uuid)`);
    await none(tx.$queryRaw`select * from share_offers(${stranger.actor.id}::uuid, now())`);
    await none(
      tx.$queryRaw`select * from claim_share(${new Uint8Array(digest(token))}::bytea, ${at.actor.id}::uuid, ${newId()}::uuid, now())`,
    );
    await none(tx.$queryRaw`select * from decline_share(${share.id}::uuid, ${stranger.actor.id}::uuid, now())`);
    await none(tx.$queryRaw`select * from secret_links(array[${share.secret_id}]::uuid[], now())`);
  });
  await assert.rejects(
    inTransaction(
      stranger,
      (tx) => tx.$executeRaw`select mail_share_recipient(${newId()}::uuid, ${share.id}::uuid, 'k', 's', 't', null, null, null, now())`,
    ),
    /not a share of this workspace/,
  );
});
