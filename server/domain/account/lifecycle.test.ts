import assert from 'node:assert/strict';
import test from 'node:test';
import { runMigrations } from 'graphile-worker';
import { sweepLeases } from '#server/domain/leases/service.ts';
import { addressOf, offered, offeredTo } from '#server/domain/secret-shares/samples.fixture.ts';
import { createSecret } from '#server/domain/secrets/service.ts';
import { createTenant } from '#server/domain/signup/service.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '#server/gateway/gateway.fixture.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { enrolled, verified } from '#server/testing/step-up.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { deleteErasedRows } from './erasure.ts';
import { leases } from './leases.ts';
import { restoreWorkspace } from './service.ts';

// What happens to a workspace as a whole: another slug, its deletion, its return, its end.

await testDatabase({ SVC_GATEWAYS: '1' });
await runMigrations({ pgPool: sql() });
const DAY = 86_400_000;
const sweep = (days: number) => sweepLeases(leases, { db: db(), now: new Date(Date.now() + days * DAY) });

async function owned() {
  const w = await workspace();
  const owner = await dashboardPerson();
  await owner.join(w.tenant.id, 'owner');
  const who = { user_id: owner.user.id, session_id: owner.session.id };
  const rename = async (slug: string, confirm_slug = w.tenant.slug) => {
    await verified(who, 'tenant.slug');
    return owner.call('POST /admin/settings/slug', { slug, confirm_slug }, { workspace: w.tenant.id });
  };
  const remove = async (confirm_slug = w.tenant.slug) => {
    await verified(who, 'tenant.delete');
    return owner.call('POST /admin/settings/delete', { confirm_slug }, { workspace: w.tenant.id });
  };
  const session = await db().sessions.findUniqueOrThrow({ where: { id: owner.session.id } });
  const ctx = {
    db: db(),
    user: owner.user,
    session,
    request_id: '',
    ip: '127.0.0.1',
    user_agent: null,
    now: new Date(),
    changes: [] as string[],
  };
  // biome-ignore lint/suspicious/noExplicitAny: the verb reads these members only
  const restore = (at = new Date()) => restoreWorkspace({ ...ctx, now: at } as any, { id: w.tenant.id });
  const row = () => db().tenants.findUniqueOrThrow({ where: { id: w.tenant.id } });
  return { w, owner, rename, remove, restore, row };
}

test('a slug changes with its confirmation, the old one is refused to others for 90 days and open to the workspace itself', async () => {
  const { w, rename, row } = await owned();
  const fresh = `${w.tenant.slug}-new`;
  assert.deepEqual([(await rename(fresh, 'another')).status, (await row()).slug], [400, w.tenant.slug]);
  assert.equal((await rename('admin')).status, 400, 'reserved words');
  assert.equal((await rename(fresh)).body.slug, fresh);
  const other = await owned();
  const taken = await other.rename(w.tenant.slug);
  assert.deepEqual([taken.status, taken.body.code], [409, 'conflict']);
  assert.equal((await other.rename(fresh)).status, 409);
  const made = await db().$transaction((tx) =>
    createTenant(tx, { name: 'x', slug: w.tenant.slug, region: 'us', plan: 'free' }, new Date()),
  );
  assert.notEqual(made.slug, w.tenant.slug, 'nor does a sign-up get it');
  assert.equal((await rename(w.tenant.slug, fresh)).body.slug, w.tenant.slug);
});

test('of several workspaces that want one slug at once exactly one gets it, and two never swap into a deadlock', async () => {
  const teams = await Promise.all(Array.from({ length: 4 }, owned));
  const wanted = `race-${teams[0]?.w.tenant.slug}`;
  const answers = await Promise.all(teams.map(({ rename }) => rename(wanted)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  const [a, b] = [await owned(), await owned()];
  const swapped = await Promise.all([a.rename(b.w.tenant.slug), b.rename(a.w.tenant.slug)]);
  assert.deepEqual(
    swapped.map(({ status }) => status),
    [409, 409],
  );
});

test('an Admin neither moves nor deletes a workspace, and an Owner only with a fresh confirmation', async () => {
  const { w, owner, row } = await owned();
  const admin = await dashboardPerson();
  await admin.join(w.tenant.id, 'admin');
  await enrolled(admin.user.id);
  const bodies = { slug: { slug: 'elsewhere-x', confirm_slug: w.tenant.slug }, delete: { confirm_slug: w.tenant.slug } };
  for (const [verb, body] of Object.entries(bodies)) {
    assert.equal((await admin.call(`POST /admin/settings/${verb}`, body)).body.code, 'role_denied');
    assert.equal((await owner.call(`POST /admin/settings/${verb}`, body)).body.code, 'mfa_required');
  }
  await verified({ user_id: owner.user.id, session_id: owner.session.id }, 'tenant.slug');
  assert.equal((await owner.call('POST /admin/settings/delete', bodies.delete)).body.code, 'step_up_required');
  assert.equal((await row()).deleted_at, null);
});

test('a deleted workspace is gone on every plane at once, and back with its keys when an Owner restores it', async () => {
  const gateway = await startGateway();
  const upstream = await startUpstream();
  const { w, owner, remove, restore } = await owned();
  const second = await dashboardPerson();
  await second.join(w.tenant.id, 'owner');
  await makeRoute(w, 'r', upstream.url);
  const { text: key } = await w.key('live');
  const proxied = async () => (await ask(gateway.port, w.tenant.slug, '/r/x', { key })).status;
  await served(gateway, w);
  assert.equal(await proxied(), 200);
  assert.equal((await remove('not-the-slug')).status, 400);
  const removed = await remove();
  assert.equal(removed.body.deleted, true);
  await until(async () => (await proxied()) !== 200);
  assert.equal((await call('GET', '/routes', { key })).status, 403);
  for (const person of [owner, second]) {
    const refused = await person.call('GET /admin/billing', undefined, { workspace: w.tenant.id });
    assert.deepEqual([refused.status, refused.body.code], [403, 'not_a_member']);
    const mails = await db().mails.findMany({ where: { recipient: person.user.email, kind: 'workspace_deleted' } });
    assert.equal(mails.length, 1);
  }
  assert.deepEqual(await sweep(13.9), {});
  assert.equal((await restore()).workspace.id, w.tenant.id);
  assert.equal((await call('GET', '/routes', { key })).status, 200);
  await until(async () => (await proxied()) === 200);
  assert.deepEqual(await sweep(15), {}, 'a restored workspace is not erased by its old lease');
});

test('after 14 days the keys are destroyed, every row goes but the critical chain, and nobody restores it any more', async () => {
  const { w, remove, restore, row, owner } = await owned();
  const bystander = await owned();
  await createSecret(w.live, { name: 'KEY', value: 'v' });
  await w.key('test');
  await remove();
  await assert.rejects(restore(new Date(Date.now() + 14 * DAY + 1)), { type: 'not_found' });
  assert.deepEqual(await sweep(14.01), { tenant_deletion: 1 });
  await assert.rejects(restore(), { type: 'not_found' });
  const keys = await db().tenant_master_keys.findMany({ where: { tenant_id: w.tenant.id } });
  assert.ok(keys.length > 0 && keys.every(({ wrapped_key, status }) => wrapped_key === null && status === 'revoked'));
  await assert.rejects(keyring().activeTmk(w.tenant.id));
  await deleteErasedRows(db(), w.tenant.id);
  assert.equal(await deleteErasedRows(db(), w.tenant.id), 0);
  const { rows } = await sql().query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  );
  const left: string[] = [];
  for (const { name } of rows)
    if ((await sql().query(`select 1 from "${name}" where tenant_id = $1 limit 1`, [w.tenant.id])).rows.length > 0) left.push(name);
  assert.deepEqual(left.sort(), ['audit_chain_heads', 'audit_log_critical', 'reserved_slugs']);
  const tomb = await row();
  assert.deepEqual([tomb.name, tomb.slug, tomb.settings], ['Erased workspace', `erased-${w.tenant.id}`, {}]);
  assert.ok(await db().users.findUnique({ where: { id: owner.user.id } }), 'people keep their accounts');
  assert.ok((await db().environments.count({ where: { tenant_id: bystander.w.tenant.id } })) > 0);
});

test('with its keys a workspace’s shares end: what it gave is revoked, offers too, and what it was given is left', async () => {
  const { w, remove } = await owned();
  const partner = (await workspace()).member('admin');
  const address = await addressOf(partner);
  const given = await offered(w.member('owner'), address, { access_level: 'view' });
  const linked = await made(partner, 'secret_shares.claim', { token: given.token });
  const waiting = await offered(w.member('owner'), 'later@partner.example');
  const me = w.member('admin');
  const taken = await offeredTo(me);
  await made(me, 'secret_shares.claim', { token: taken.token });
  await remove();
  assert.deepEqual(await sweep(14.01), { tenant_deletion: 1 });
  const rows = await Promise.all(
    [given, waiting, taken].map(({ share }) => db().secret_shares.findUniqueOrThrow({ where: { id: share.id } })),
  );
  assert.deepEqual(
    rows.map(({ status, token_digest }) => [status, token_digest]),
    [
      ['revoked', null],
      ['revoked', null],
      ['left', null],
    ],
  );
  assert.equal((await made(partner, 'secrets.get', { id: linked.id })).shared.status, 'revoked');
  assert.deepEqual(
    (await mailsTo(address)).map(({ kind }) => kind),
    ['share_offered', 'share_revoked'],
  );
  await assert.rejects(
    keyring().openValue(
      { tenant_id: w.tenant.id, space: 'live', purpose: 'secret_value', row_id: given.secret.id },
      { value_ct: new Uint8Array(60), cek_wrapped: new Uint8Array(60), tmk_version: 1 },
    ),
    { name: 'TenantKeyUnavailable', reason: 'revoked' },
  );
  await deleteErasedRows(db(), w.tenant.id);
  assert.equal((await made(partner, 'secrets.get', { id: linked.id })).shared.status, 'revoked', 'the linked secret stays as a tombstone');
});

test('when the restore and the erasure meet, one of them wins and the other knows', async () => {
  for (let round = 0; round < 3; round++) {
    const { w, remove, restore, row } = await owned();
    await remove();
    await db().tenants.update({ where: { id: w.tenant.id }, data: { deleted_at: new Date(Date.now() - 13.9 * DAY) } });
    const [restored] = await Promise.allSettled([restore(), sweep(0.2)]);
    const { deleted_at, erased_at } = await row();
    assert.equal(restored?.status === 'fulfilled', erased_at === null);
    assert.equal(deleted_at === null, erased_at === null);
  }
});
