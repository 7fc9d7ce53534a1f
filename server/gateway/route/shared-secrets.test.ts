import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, putValue, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { linkTo, shareSecret } from '../shared-secrets.fixture.ts';

// What a gateway makes of the rows of a share; the operations that write them are tested in server/domain/secret-shares.

await testDatabase();
const running = await startGateway();
const upstream = await startUpstream();

/** A value of one workspace, linked into another, and a route there that injects it. */
async function shared(more: Record<string, unknown> = {}, linkMore: Record<string, unknown> = {}) {
  const made = await shareSecret({ production: 'owned-value-1', staging: 'of-staging' }, more, linkMore);
  const { recipient } = made;
  await makeRoute(recipient, 'r', upstream.url, { inject_headers_json: { 'x-credential': '{{secret:ALIAS}}' } });
  const { text: key } = await recipient.key();
  await served(running, recipient);
  const call = async () => {
    const before = upstream.seen.length;
    const answer = await ask(running.port, recipient.tenant.slug, '/r', { key });
    return {
      code: answer.headers['x-svc-error'],
      status: answer.status,
      sent: upstream.seen.slice(before).map((s) => s.headers['x-credential']),
    };
  };
  return { ...made, call, key };
}
const environmentOf = (secret_id: string) =>
  db().secret_environments.findFirstOrThrow({ where: { secret_id, environment_name: 'production' } });

test('a linked secret is injected with the value of its owner, under the key of its owner', async () => {
  const { call, share } = await shared();
  assert.deepEqual(await call(), { code: undefined, status: 200, sent: ['owned-value-1'] });
  await call();
  await running.flush();
  const [day] = await db().secret_share_days.findMany({ where: { share_id: share.id } });
  assert.deepEqual([day?.host, day?.calls, day?.tenant_id], ['127.0.0.1', 2n, share.tenant_id]);
});

test('the environment of the share decides, whatever the call runs in', async () => {
  const { call } = await shared({ environment_name: 'staging' });
  assert.deepEqual((await call()).sent, ['of-staging']);
});

test('a new value of the owner, and the end of the share, reach the recipient by announcement', async () => {
  const { owner, secret, share, call } = await shared();
  await call();
  await putValue(owner, (await environmentOf(secret.id)).id, 'owned-value-2', 2);
  await until(async () => (await call()).sent[0] === 'owned-value-2');
  await db().secret_shares.update({ where: { id: share.id }, data: { status: 'revoked' } });
  await until(async () => (await call()).code === 'share_revoked');
  const { sent, status } = await call();
  assert.deepEqual([sent, status], [[], 424]);
});

test('a share that was revoked without an announcement is refused once 5 s have passed since it was confirmed', async () => {
  const { share, call } = await shared();
  // The triggers that announce are what is lost here.
  await db().$transaction(async (tx) => {
    await tx.$executeRaw`set local session_replication_role = replica`;
    await tx.$executeRaw`update secret_shares set status = 'revoked' where id = ${share.id}::uuid`;
  });
  assert.deepEqual(await call(), { code: 'share_revoked', status: 424, sent: [] });
});

test('a share that ended, an owner that is gone, and a deleted canonical are all revoked', async () => {
  const ended = await shared({ expires_at: new Date(Date.now() - 1_000) });
  assert.equal((await ended.call()).code, 'share_revoked');
  const gone = await shared();
  assert.equal((await gone.call()).status, 200);
  await db().tenants.update({ where: { id: gone.owner.tenant.id }, data: { deleted_at: new Date() } });
  await until(async () => (await gone.call()).code === 'share_revoked');
  const deleted = await shared();
  await db().secrets.delete({ where: { id: deleted.secret.id } });
  await until(async () => (await deleted.call()).code === 'share_revoked');
  assert.equal((await db().secret_shares.findUniqueOrThrow({ where: { id: deleted.share.id } })).status, 'revoked');
});

test('a link counts only if both sides say so', async () => {
  const { share, owner, secret } = await shared();
  const thief = await workspace();
  await linkTo(thief, share.id);
  await makeRoute(thief, 'r', upstream.url, { inject_headers_json: { 'x-credential': '{{secret:ALIAS}}' } });
  const { text: key } = await thief.key();
  await served(running, thief);
  const before = upstream.seen.length;
  assert.equal((await ask(running.port, thief.tenant.slug, '/r', { key })).headers['x-svc-error'], 'share_revoked');
  await makeRoute(thief, 's', upstream.url, { inject_headers_json: { 'x-credential': `{{secret_id:${secret.id}}}` } });
  await served(running, thief);
  assert.equal((await ask(running.port, thief.tenant.slug, '/s', { key })).headers['x-svc-error'], 'secret_not_found');
  assert.equal(upstream.seen.length, before);
  assert.notEqual(owner.tenant.id, thief.tenant.id);
});

test("the pins of the share and those of the owner's secret both hold", async () => {
  const byShare = await shared({ unrestricted: false, allowed_hosts: ['api.partner.example'] });
  assert.deepEqual(await byShare.call(), { code: 'secret_host_not_allowed', status: 403, sent: [] });
  const byOwner = await shared();
  await db().secrets.update({ where: { id: byOwner.secret.id }, data: { allowed_hosts: ['api.partner.example'] } });
  await until(async () => (await byOwner.call()).code === 'secret_host_not_allowed');
});

test("the owner's expiry and strictness apply", async () => {
  const { secret, call } = await shared();
  await db().secrets.update({
    where: { id: secret.id },
    data: { expires_at: new Date(Date.now() - 1_000), strict_expiry_enforcement: true },
  });
  await until(async () => (await call()).code === 'secret_expired');
});
