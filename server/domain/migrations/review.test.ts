import assert from 'node:assert/strict';
import test from 'node:test';
import { createClientCa } from '#server/crypto/client-certificate.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { made } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { refuseAuditEntries } from '#server/testing/suites/audit.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { obfuscated } from './review.ts';
import { confirmed, reviewed } from './samples.fixture.ts';
import { announceExpiring, expireItems } from './sweep.ts';

await testDatabase();

const owner = async () => {
  const w = await workspace();
  return { w, ctx: w.member('owner') };
};
const LEAF = (await createClientCa('1de1a7f0-0000-7000-8000-000000000001', new Date())).certificate_pem;
const rowOf = (id: string) => db().secret_migration_items.findUniqueOrThrow({ where: { id } });
const chainOf = async (w: Workspace) =>
  (await db().audit_log_critical.findMany({ where: { chain_id: w.tenant.id }, orderBy: { sequence_number: 'asc' } })).map((one) => ({
    action: one.action,
    details: one.details as Record<string, unknown>,
  }));
const countsOf = async (id: string) => {
  const { discovered_count, pending_count, approved_count, rejected_count, committed_count, expired_count, denylisted_count } =
    await db().secret_migrations.findUniqueOrThrow({ where: { id } });
  const kept = {
    pending_review: pending_count,
    approved: approved_count,
    rejected: rejected_count,
    committed: committed_count,
    expired: expired_count,
    denylisted: denylisted_count,
  };
  const groups = await db().secret_migration_items.groupBy({ by: ['status'], where: { migration_id: id }, _count: true });
  const real = Object.fromEntries(Object.keys(kept).map((status) => [status, groups.find((g) => g.status === status)?._count ?? 0]));
  assert.deepEqual(kept, real, 'the counts drifted');
  assert.equal(
    discovered_count,
    Object.values(real).reduce((a, b) => a + b, 0),
  );
  return real;
};

test('a value is shown by its two ends, and in full only when asked for; both are in the critical chain before', async () => {
  const { w, ctx } = await owner();
  const value = 'sk_live_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGhIjKlXz4q';
  const { id, items } = await reviewed(ctx, [`KEY=${value}`]);
  const itemId = items[0]?.id as string;
  const masked = await confirmed(ctx, 'migrations.reveal_item', { id, itemId });
  assert.deepEqual(masked, {
    id: itemId,
    value: 'sk_l••••Xz4q',
    value_length: 50,
    value_sha256_prefix: '07ff76429225db84',
    mode: 'obfuscated',
  });
  assert.equal((await confirmed(ctx, 'migrations.reveal_item', { id, itemId, full: 'true' })).value, value);
  assert.deepEqual(
    (await chainOf(w)).filter(({ action }) => action === 'migration.item.reveal').map(({ details }) => details.mode),
    ['obfuscated', 'full'],
  );
  assert.ok(!JSON.stringify(await chainOf(w)).includes(value));
  assert.equal(obfuscated('eleven chars'.slice(0, 11), 'string'), '••••');
  assert.equal(obfuscated('a'.repeat(400), 'binary'), '••••');
});

test('with the critical chain refusing entries nothing is decrypted and nothing is spent', async () => {
  const { w, ctx } = await owner();
  const { id, items } = await reviewed(ctx);
  const itemId = items[0]?.id as string;
  await verified(ctx, 'secret.migration');
  const release = await refuseAuditEntries(w);
  try {
    await assert.rejects(made(ctx, 'migrations.reveal_item', { id, itemId, full: 'true' }), {
      type: 'reveal_audit_unavailable',
      status: 503,
    });
  } finally {
    await release();
  }
  assert.equal(await db().step_up_verifications.count({ where: { user_id: ctx.actor.id as string, consumed_at: null } }), 1);
  assert.equal(await db().secret_migration_notices.count({ where: { migration_id: id } }), 0, 'nothing was shown');
});

test('a commit that the critical chain cannot record makes no secret and keeps every item', async () => {
  const { w, ctx } = await owner();
  const { id, items } = await reviewed(ctx, ['A=1', 'B=2']);
  for (const item of items) await confirmed(ctx, 'migrations.approve_item', { id, itemId: item.id });
  const before = await Promise.all(items.map((item) => rowOf(item.id as string)));
  const release = await refuseAuditEntries(w);
  try {
    await assert.rejects(confirmed(ctx, 'migrations.commit', { id }), { type: 'reveal_audit_unavailable', status: 503 });
  } finally {
    await release();
  }
  assert.deepEqual(await Promise.all(items.map((item) => rowOf(item.id as string))), before);
  assert.equal(await db().secrets.count({ where: { tenant_id: w.tenant.id } }), 0);
  assert.equal((await confirmed(ctx, 'migrations.commit', { id })).committed, 2);
});

test('an Admin without migration_reviewer decides nothing, and spends nothing', async () => {
  const { w, ctx } = await owner();
  const { id, items } = await reviewed(ctx);
  const admin = w.ctx('live', { ...memberActor('admin'), migration_reviewer: false } as Ctx['actor']);
  const itemId = items[0]?.id as string;
  for (const [op, input] of [
    ['reveal_item', { id, itemId }],
    ['approve_item', { id, itemId }],
    ['reject_item', { id, itemId, reason: 'no' }],
    ['commit', { id }],
    ['verification.confirm', { id }],
  ] as const)
    await assert.rejects(confirmed(admin, `migrations.${op}`, input), { type: 'reveal_role_denied', status: 403 }, op);
  const reviewer = w.member('admin');
  assert.equal((await confirmed(reviewer, 'migrations.approve_item', { id, itemId })).status, 'approved');
});

test('one verification cannot approve twice, and a bulk approval costs one', async () => {
  const { ctx } = await owner();
  const { id, items } = await reviewed(ctx, ['A=1', 'B=2', 'C=3']);
  const [a, b, c] = items.map((item) => item.id);
  await verified(ctx, 'secret.migration');
  await made(ctx, 'migrations.approve_item', { id, itemId: a });
  await assert.rejects(made({ ...ctx, request_id: newId() }, 'migrations.approve_item', { id, itemId: b }), {
    type: 'reveal_step_up_required',
  });
  await confirmed(ctx, 'migrations.approve_items', { id, items: [{ id: b }, { id: c, target_name: 'OTHER' }] });
  assert.deepEqual(await countsOf(id), { pending_review: 0, approved: 3, rejected: 0, committed: 0, expired: 0, denylisted: 0 });
});

test('an expired item is told of within its last day, once, and can not be approved, before the sweep and after it', async () => {
  const { ctx } = await owner();
  const events = await watchEvents(ctx, 'migration.item.expiring', 'migration.completed');
  const { id, items } = await reviewed(ctx, ['LATE=a value']);
  const itemId = items[0]?.id as string;
  const ends = (ms: number) =>
    db().secret_migration_items.update({ where: { id: itemId }, data: { expires_at: new Date(Date.now() + ms) } });
  await ends(25 * 3_600_000);
  await announceExpiring(db(), new Date());
  assert.deepEqual(await events(), [], 'more than a day is left');
  await ends(23 * 3_600_000);
  for (let nth = 0; nth < 2; nth++) await announceExpiring(db(), new Date());
  const told = await events();
  assert.deepEqual(
    told.map(({ type, about, data }) => [type, about, data.source_name]),
    [['migration.item.expiring', itemId, 'LATE']],
  );
  assert.ok(!JSON.stringify(told).includes('a value'));
  await db().secret_migration_items.update({ where: { id: itemId }, data: { expires_at: new Date(Date.now() - 1_000) } });
  const approve = () => confirmed(ctx, 'migrations.approve_item', { id, itemId });
  await assert.rejects(approve(), { type: 'item_not_pending', status: 409 });
  await expireItems(db(), new Date());
  await assert.rejects(approve(), { type: 'item_not_pending', status: 409 });
  assert.deepEqual((({ status, value_ct }) => [status, value_ct])(await rowOf(itemId)), ['expired', null]);
  assert.deepEqual(
    (await events()).map(({ type, about }) => [type, about]),
    [
      ['migration.item.expiring', itemId],
      ['migration.completed', id],
    ],
    'the last item was decided',
  );
});

test('a PEM value can become a certificate, and one that is none stops the whole commit', async () => {
  const { ctx } = await owner();
  const good = `LEAF="${LEAF}"`;
  const bad = 'BAD="-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n"';
  const { id, items } = await reviewed(ctx, [good, bad, 'PLAIN=text']);
  const idOf = (name: string) => items.find(({ source_name }) => source_name === name)?.id as string;
  const certificate = (name: string) => confirmed(ctx, 'migrations.approve_item', { id, itemId: idOf(name), secret_type: 'certificate' });
  await assert.rejects(certificate('PLAIN'), { type: 'validation_error' });
  await certificate('LEAF');
  await certificate('BAD');
  await assert.rejects(confirmed(ctx, 'migrations.commit', { id }), (error: { type: string; extra?: object }) => {
    assert.deepEqual([error.type, error.extra], ['commit_conflict', { items: [{ id: idOf('BAD'), code: 'not_a_certificate' }] }]);
    return true;
  });
  assert.equal(await db().secrets.count({ where: { tenant_id: ctx.tenant_id } }), 0);
  const { secrets } = await confirmed(ctx, 'migrations.commit', { id, item_ids: [idOf('LEAF')] });
  const { secret_id } = secrets[0] as { secret_id: string };
  const { secret_type } = await db().secrets.findUniqueOrThrow({ where: { id: secret_id } });
  const { cert_metadata } = await db().secret_environments.findFirstOrThrow({ where: { secret_id } });
  assert.deepEqual([secret_type, (cert_metadata as { has_private_key: boolean } | null)?.has_private_key], ['certificate', false]);
});

test('a bulk decision is all or nothing', async () => {
  const { ctx } = await owner();
  const { id, items } = await reviewed(ctx, ['A=1', 'B=2']);
  const [a, b] = items.map((item) => item.id as string);
  await confirmed(ctx, 'migrations.reject_item', { id, itemId: b, reason: 'old' });
  await assert.rejects(confirmed(ctx, 'migrations.approve_items', { id, items: [{ id: a }, { id: b }] }), { type: 'item_not_pending' });
  assert.equal((await rowOf(a as string)).status, 'pending_review');
});

test('rejecting, expiring, canceling and committing each leave no value behind', async () => {
  const { w, ctx } = await owner();
  const { id, items } = await reviewed(ctx, ['A=aaaa', 'B=bbbb', 'C=cccc', 'D=dddd']);
  const [a, b, c, d] = items.map((item) => item.id as string) as [string, string, string, string];
  await confirmed(ctx, 'migrations.reject_item', { id, itemId: a, reason: 'old' });
  await db().secret_migration_items.update({ where: { id: b }, data: { expires_at: new Date(Date.now() - 1_000) } });
  await assert.rejects(confirmed(ctx, 'migrations.approve_item', { id, itemId: b }), { type: 'item_not_pending', status: 409 });
  assert.ok((await expireItems(db(), new Date())) >= 1);
  await assert.rejects(confirmed(ctx, 'migrations.approve_item', { id, itemId: b }), { type: 'item_not_pending' });
  await confirmed(ctx, 'migrations.approve_item', { id, itemId: c });
  await confirmed(ctx, 'migrations.commit', { id });
  await made(ctx, 'migrations.cancel', { id });
  for (const [item, status] of [
    [a, 'rejected'],
    [b, 'expired'],
    [c, 'committed'],
    [d, 'rejected'],
  ] as const) {
    const row = await rowOf(item);
    assert.deepEqual([row.status, row.value_ct, row.cek_wrapped, row.tmk_version], [status, null, null, null]);
    await assert.rejects(confirmed(ctx, 'migrations.reveal_item', { id, itemId: item }), { type: 'value_unavailable', status: 409 });
  }
  await countsOf(id);
  const actions = (await chainOf(w)).map(({ action }) => action);
  for (const action of ['create', 'item.reject', 'item.expire', 'item.approve', 'commit', 'cancel'])
    assert.ok(actions.includes(`migration.${action}`), action);
  await assert.rejects(made(ctx, 'migrations.cancel', { id }), { type: 'migration_not_found', status: 404 });
});

test('a commit is all or nothing with one taken name among a hundred, and a second commit makes nothing', async () => {
  const { ctx } = await owner();
  const lines = Array.from({ length: 100 }, (_, i) => `N${i}=value-${i}`);
  const { id, items } = await reviewed(ctx, lines);
  await confirmed(ctx, 'migrations.approve_items', { id, items: items.map((item) => ({ id: item.id })) });
  const taken = await made(ctx, 'secrets.create', { name: 'n50', value: 'mine' });
  await assert.rejects(confirmed(ctx, 'migrations.commit', { id }), (error: { type: string; extra?: { items: unknown } }) => {
    assert.equal(error.type, 'commit_conflict');
    assert.deepEqual(error.extra?.items, [{ id: items.find(({ source_name }) => source_name === 'N50')?.id, code: 'name_taken' }]);
    return true;
  });
  assert.equal(await db().secrets.count({ where: { tenant_id: ctx.tenant_id } }), 1, 'something was made');
  assert.equal((await countsOf(id)).approved, 100);
  await made(ctx, 'secrets.delete', { id: taken.id });
  const first = await confirmed(ctx, 'migrations.commit', { id });
  assert.deepEqual([first.committed, first.secrets.length, first.migration_status], [100, 100, 'completed']);
  const again = await confirmed(ctx, 'migrations.commit', { id, item_ids: items.map((item) => item.id) });
  assert.equal(again.committed, 0);
  assert.deepEqual(
    new Set(again.secrets.map((s: { secret_id: string }) => s.secret_id)),
    new Set(first.secrets.map((s: { secret_id: string }) => s.secret_id)),
  );
  assert.equal(await db().secrets.count({ where: { tenant_id: ctx.tenant_id } }), 100);
  await verified(ctx, 'plaintext.reveal');
  const { secret_id } = first.secrets.find((s: { name: string }) => s.name === 'N7');
  assert.equal((await made(ctx, 'secrets.reveal', { id: secret_id })).value, 'value-7');
});

test('a JSON value can become one secret for each key, and an existing secret can get a new version', async () => {
  const { ctx } = await owner();
  const { id: existing } = await made(ctx, 'secrets.create', { name: 'EXISTING', value: 'one' });
  const { id, items } = await reviewed(ctx, [`DB='{"user":"ada","port":9007199254740993,"rate":1.10}'`, 'EXISTING=two']);
  const [json, plain] = items;
  const split = (json?.suggested as { split_keys: string[] } | undefined)?.split_keys;
  assert.deepEqual([json?.kind, split], ['json', ['user', 'port', 'rate']]);
  await assert.rejects(
    confirmed(ctx, 'migrations.approve_item', { id, itemId: plain?.id }),
    (error: { type: string; extra?: { secret_id: string } }) => {
      assert.deepEqual([error.type, error.extra?.secret_id], ['name_conflict', existing]);
      return true;
    },
  );
  await confirmed(ctx, 'migrations.approve_item', { id, itemId: json?.id, split: 'json_keys' });
  await confirmed(ctx, 'migrations.approve_item', { id, itemId: plain?.id, action: 'new_version', existing_secret_id: existing });
  const { secrets } = await confirmed(ctx, 'migrations.commit', { id });
  assert.deepEqual(secrets.map((s: { name: string }) => s.name).sort(), ['DB_port', 'DB_rate', 'DB_user', 'EXISTING']);
  const shown = async (name: string) => {
    await verified(ctx, 'plaintext.reveal');
    return (await made(ctx, 'secrets.reveal', { id: secrets.find((s: { name: string }) => s.name === name).secret_id })).value;
  };
  assert.deepEqual([await shown('DB_port'), await shown('DB_rate')], ['9007199254740993', '1.10'], 'digits changed on the way');
  await verified(ctx, 'plaintext.reveal');
  assert.deepEqual((({ value, value_version }) => [value, value_version])(await made(ctx, 'secrets.reveal', { id: existing })), ['two', 2]);
});

test('the plan limits how many secrets a commit makes', async () => {
  const w = await workspace({ plan: 'free' });
  const ctx = w.member('owner');
  const { id, items } = await reviewed(
    ctx,
    Array.from({ length: 90 }, (_, i) => `N${i}=v`),
  );
  await confirmed(ctx, 'migrations.approve_items', { id, items: items.map((item) => ({ id: item.id })) });
  const preview = await made(ctx, 'migrations.commit_preview', { id });
  if (preview.secrets_available === null || preview.secrets_available >= 90) return;
  await assert.rejects(confirmed(ctx, 'migrations.commit', { id }), (error: { type: string; extra?: object }) => {
    assert.deepEqual([error.type, error.extra], ['plan_limit', { needed: 90, available: preview.secrets_available }]);
    return true;
  });
});

test('counts equal the states of items after any order of decisions', async () => {
  const { ctx } = await owner();
  const { id, items } = await reviewed(
    ctx,
    Array.from({ length: 12 }, (_, i) => `R${i}=value`),
  );
  let seed = 7;
  const random = (n: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % n;
  };
  const acts = ['approve_item', 'reject_item', 'unapprove_item', 'commit'] as const;
  for (let step = 0; step < 40; step++) {
    const itemId = items[random(items.length)]?.id;
    const act = acts[random(acts.length)] ?? 'commit';
    await confirmed(ctx, `migrations.${act}`, { id, ...(act === 'commit' ? {} : { itemId, reason: 'random' }) }).catch(
      (error: { status?: number }) => {
        assert.ok(error.status === 409 || error.status === 429, String(error));
      },
    );
    await db().reveal_ledger.deleteMany({ where: { user_id: ctx.actor.id as string } });
    await countsOf(id);
  }
});

test('no migration writes a value into a secret that another workspace shares', async () => {
  const { w, ctx } = await owner();
  const { id, items } = await reviewed(ctx, ['KEY=some value of the source']);
  const itemId = items[0]?.id as string;
  const existing = newId();
  const own = { tenant_id: w.tenant.id, sandbox: false };
  await db().secrets.create({ data: { ...own, id: existing, name: 'LINKED', shortcode_name: 'LINKED', linked_share_id: newId() } });
  const into = { id, itemId, action: 'new_version', existing_secret_id: existing };
  await assert.rejects(confirmed(ctx, 'migrations.approve_item', into), { type: 'validation_error', message: /another workspace shares/ });
  // Approved while it was the workspace's own.
  await db().secrets.update({ where: { id: existing }, data: { linked_share_id: null } });
  await confirmed(ctx, 'migrations.approve_item', into);
  await db().secrets.update({ where: { id: existing }, data: { linked_share_id: newId() } });
  await assert.rejects(confirmed(ctx, 'migrations.commit', { id }), { type: 'commit_conflict' });
  assert.equal(await db().secret_values.count({ where: own }), 0);
});
