import assert from 'node:assert/strict';
import test from 'node:test';
import { runMigrations } from 'graphile-worker';
import { isOwnNonce } from '#server/crypto/acme/nonce.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { memberActor, workspace } from '#server/testing/workspace.ts';
import { spend } from './limits.ts';
import { freshNonce, useNonce } from './nonces.ts';
import type { AcmeProblem } from './problem.ts';
import { pruneAcme } from './pruning.ts';
import { runValidation } from './validation.ts';
import { takeSlot } from './validation-slots.ts';

await ownDatabase();
const w = await workspace();
const name = fresh('corp');
await made(w.live, 'pki.create_root', { name, subject: { CN: 'Acme Internal CA' } });
const roleOf = async () => ({
  name,
  role: (await made(w.live, 'pki.create_role', { name, role_name: fresh('web'), allowed_domains: ['acme.test'] })).name,
});
const DAY = 86_400_000;

test('a key is shown when it is made and in no later answer, and is stored under the key of the workspace', async () => {
  const at = await roleOf();
  const created = await made(w.live, 'acme.create_account', { ...at, label: 'web-1', ttl_seconds: 60 });
  assert.match(created.hmac_key, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(created.kid, created.id);
  assert.ok(created.directory_url.endsWith(`/acme/${at.role}/directory`));
  const stored = await db().acme_accounts.findUniqueOrThrow({ where: { id: created.id } });
  const key = Buffer.from(created.hmac_key, 'base64url');
  for (const column of [stored.value_ct, stored.cek_wrapped]) assert.equal(Buffer.from(column ?? []).includes(key), false);
  const audit = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: created.id } });
  assert.deepEqual(
    audit.map(({ action, resource_type }) => [action, resource_type]),
    [['create', 'acme_account']],
  );
  const [listed] = await made(w.live, 'acme.list_accounts', at);
  assert.deepEqual([listed.id, listed.status, listed.thumbprint, listed.registered_at], [created.id, 'pending', null, null]);
  for (const text of [JSON.stringify(listed), JSON.stringify(audit.map(({ details }) => details))])
    assert.equal(text.includes(created.hmac_key), false);
  const later = { ...w.live, now: new Date(Date.now() + 61_000) };
  assert.equal((await made(later, 'acme.list_accounts', at))[0].status, 'expired');
});

test('who may sign may hand out accounts; a policy that names the role refuses it', async () => {
  const [at, other] = [await roleOf(), await roleOf()];
  const editor = { ...w.live, actor: memberActor('editor') };
  assert.equal((await made(editor, 'acme.create_account', at)).label, null);
  await assert.rejects(made({ ...w.live, actor: memberActor('viewer') }, 'acme.create_account', at), { type: 'role_denied' });
  const owner = { ...w.live, actor: memberActor('owner') };
  await verified(owner, 'policy.change');
  await made(owner, 'policies.create', {
    name: 'No ACME',
    actions: ['pki:sign'],
    subjects: { all: true },
    resources: [`${name}/${at.role}`],
  });
  await assert.rejects(made(editor, 'acme.create_account', at), { type: 'role_denied' });
  await made(editor, 'acme.create_account', other);
});

test('a nonce is used once and in its own directory', async () => {
  const now = new Date();
  const nonce = freshNonce('d1', now);
  await assert.rejects(useNonce(nonce, 'd2', now), { type: 'badNonce' });
  const uses = await Promise.allSettled(Array.from({ length: 5 }, () => useNonce(nonce, 'd1', now)));
  assert.equal(uses.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const wrong of [undefined, '', nonce.slice(1)]) await assert.rejects(useNonce(wrong, 'd1', now), { type: 'badNonce' });
  assert.equal(isOwnNonce([], nonce, 'd1', now), false);
});

test('used nonces are forgotten once they are too old, and orders long after their end', async () => {
  await sql().query('delete from acme_nonces');
  const now = new Date();
  await useNonce(freshNonce('d1', now), 'd1', now);
  const at = await roleOf();
  const { id: account_id } = await made(w.live, 'acme.create_account', at);
  const order = (age: number) =>
    db().acme_orders.create({
      data: {
        id: crypto.randomUUID(),
        tenant_id: w.tenant.id,
        sandbox: false,
        account_id,
        names: ['a.acme.test'],
        expires_at: new Date(now.getTime() - age),
      },
    });
  await order(1);
  await order(91 * DAY);
  assert.deepEqual(await pruneAcme(db(), now), { nonces: 0, orders: 1 });
  assert.deepEqual(await pruneAcme(db(), new Date(now.getTime() + DAY)), { nonces: 1, orders: 0 });
  await assert.rejects(useNonce(freshNonce('d1', now), 'd1', new Date(now.getTime() + DAY)), { type: 'badNonce' }, 'it is too old by then');
});

test('accounts go with their role', async () => {
  const at = await roleOf();
  const { id } = await made(w.live, 'acme.create_account', at);
  await made(w.live, 'pki.delete_role', at);
  assert.equal(await db().acme_accounts.findUnique({ where: { id } }), null);
});

test('what one network registers in an hour is bounded, and the refusal says when to come back', async () => {
  const subject = fresh('network');
  const now = new Date();
  for (let i = 0; i < 60; i++) await spend('register', subject, now);
  await assert.rejects(spend('register', subject, now), ({ type, status, more }: AcmeProblem) => {
    assert.deepEqual([type, status], ['rateLimited', 429]);
    assert.ok(Number(more.headers?.['retry-after']) > 0);
    return true;
  });
  await spend('register', `${subject} of another`, now);
});

test('looks that wait for strangers leave room for those of others: a look without a place is put off, not lost', async () => {
  await runMigrations({ pgPool: sql() });
  const waiting = async () =>
    (await sql().query<{ n: string }>(`select count(*) as n from graphile_worker.jobs where task_identifier = 'validate_acme_challenge'`))
      .rows[0]?.n;
  const at = await roleOf();
  const { id: account_id } = await made(w.live, 'acme.create_account', at);
  const space = { tenant_id: w.tenant.id, sandbox: false };
  const expires_at = new Date(Date.now() + DAY);
  const [order_id, authorization_id, id] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  await db().acme_orders.create({ data: { ...space, id: order_id, account_id, names: ['a.acme.test'], expires_at } });
  await db().acme_authorizations.create({
    data: { ...space, id: authorization_id, order_id, account_id, name: 'a.acme.test', wildcard: false, expires_at },
  });
  await db().acme_challenges.create({ data: { ...space, id, authorization_id, type: 'http-01', status: 'processing', token: 't' } });

  const slots = [takeSlot(w.tenant.id), takeSlot(w.tenant.id)];
  assert.ok(slots.every(Boolean));
  assert.equal(takeSlot(w.tenant.id), null, 'two of one workspace');
  const other = takeSlot('another');
  assert.ok(other);
  assert.equal(takeSlot('a third'), null, 'three of all');
  assert.equal(await runValidation(db(), new Date(), { challenge_id: id }), null);
  assert.equal(await waiting(), '1');
  for (const giveBack of [...slots, other]) giveBack?.();
  // The account was never registered, so there is nothing to look at and the challenge ends.
  assert.deepEqual(await runValidation(db(), new Date(), { challenge_id: id }), { challenge: id, status: 'invalid' });
  assert.equal(await runValidation(db(), new Date(), { challenge_id: id }), null, 'once');
  assert.equal((await db().acme_orders.findUniqueOrThrow({ where: { id: order_id } })).status, 'invalid');
});
