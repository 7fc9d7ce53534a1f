import assert from 'node:assert/strict';
import test from 'node:test';
import { eventData } from '#server/domain/events/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { joined, mailsTo } from '#server/testing/mailbox.ts';
import { workspace } from '#server/testing/workspace.ts';
import { noticeRotations } from './rotation-notices.ts';

await ownDatabase();
const DAY = 24 * 3_600_000;
const start = Date.now();
const day = (n: number) => new Date(start + n * DAY);
const minuteOf = (at: Date) => at.toISOString().slice(0, 16).replace('T', ' ');
/** The runs are of all workspaces, and later tests begin at an earlier time. */
const neverEnds = (tenantId: string) =>
  sql().query(
    'with own as (update secret_environments set expires_at_override = null where tenant_id = $1) update secrets set expires_at = null where tenant_id = $1',
    [tenantId],
  );
const run = (n: number) => sweepKind('secret', day(n));

test('Owners and Admins are told 30, 7 and 1 days ahead and at the end, once each, and never of a value', async () => {
  const w = await workspace();
  const [owner, admin, editor] = await Promise.all([
    joined(w.tenant.id, 'owner'),
    joined(w.tenant.id, 'admin'),
    joined(w.tenant.id, 'editor'),
  ]);
  const value = 'the value itself, which nobody mails';
  await made(w.live, 'secrets.create', { name: 'PAY_KEY', value, expires_at: day(40).toISOString(), strict_expiry_enforcement: true });
  for (const at of [1, 9, 10.01, 10.1, 20, 33.01, 34, 39.01, 39.5, 40.01, 40.1, 41, 44]) await run(at);
  for (const to of [owner, admin]) {
    const mails = await mailsTo(to);
    assert.deepEqual(
      mails.map(({ subject, created_at }) => [subject.replace(w.tenant.name, 'W'), Math.floor((created_at.getTime() - start) / DAY)]),
      [
        ['The secret PAY_KEY in W expires soon', 10],
        ['The secret PAY_KEY in W expires soon', 33],
        ['The secret PAY_KEY in W expires soon', 39],
        ['The secret PAY_KEY in W has expired', 40],
      ],
    );
    assert.match(mails[0]?.text ?? '', /PAY_KEY in production: expires .* UTC; calls that need it are refused after that\./);
    assert.match(mails[3]?.text ?? '', /calls that need it are refused/);
    assert.match(mails[0]?.text ?? '', new RegExp(`/${w.tenant.slug}/live/secrets`));
    for (const { text, html } of mails) assert.ok(!`${text}${html}`.includes(value));
  }
  assert.deepEqual(await mailsTo(editor), []);
});

test('an environment of its own end is told of by that, a moved end is told of anew a day later, and an end that was taken away not at all', async () => {
  const w = await workspace();
  const owner = await joined(w.tenant.id, 'owner');
  await made(w.test, 'environments.create', { name: 'staging' });
  const { id } = await made(w.test, 'secrets.create', { name: 'A', value: 'x', expires_at: day(50).toISOString() });
  await made(w.test, 'secrets.put_value', { id, environment: 'staging', value: 'y' });
  await made(w.test, 'secrets.update_environment', { id, env: 'staging', expires_at_override: day(25).toISOString() });
  const gone = await made(w.test, 'secrets.create', { name: 'B', value: 'x', expires_at: day(25).toISOString() });
  await made(w.test, 'secrets.update', { id: gone.id, expires_at: null });
  await sql().query(`update secrets set created_at = now() - interval '90 days' where tenant_id = $1`, [w.tenant.id]);
  assert.equal(await run(0.1), 1);
  await made(w.test, 'secrets.update_environment', { id, env: 'staging', expires_at_override: day(28).toISOString() });
  assert.equal(await run(0.2), 0);
  assert.equal(await run(1.2), 1);
  assert.equal(await run(1.3), 0);
  const mails = await mailsTo(owner);
  assert.equal(mails.length, 2);
  assert.match(mails[0]?.subject ?? '', /^\[Test\] The secret A in /);
  assert.match(mails[0]?.text ?? '', /A in staging: expires .*; it stays in use after that, with a warning on every call\./);
});

test('an end that is moved every hour is mailed about once a day for each threshold, with the day it has then', async () => {
  const w = await workspace();
  const owner = await joined(w.tenant.id, 'owner');
  const { id } = await made(w.live, 'secrets.create', { name: 'MOVING', value: 'x', expires_at: day(60).toISOString() });
  await made(w.live, 'environments.create', { name: 'staging' });
  await made(w.live, 'secrets.put_value', { id, environment: 'staging', value: 'y' });
  await sql().query(`update secrets set created_at = now() - interval '90 days' where tenant_id = $1`, [w.tenant.id]);
  for (let hour = 0; hour <= 50; hour++) {
    await sql().query('update secrets set expires_at = $2 where id = $1', [id, day(20 + hour / 24)]);
    // Neither the other environment, moved between the runs, nor a value that is taken away and stored again is a way round it.
    await sql().query(
      `update secret_environments set expires_at_override = $2, id = gen_random_uuid() where secret_id = $1 and environment_name = 'staging'`,
      [id, day(22 + hour / 24)],
    );
    await run(hour / 24);
  }
  const mails = await mailsTo(owner);
  assert.deepEqual(
    mails.map(({ subject, created_at }) => [subject.replace(w.tenant.name, 'W'), Math.round((created_at.getTime() - start) / 3_600_000)]),
    [0, 24, 48].map((hour) => ['The secret MOVING in W expires soon', hour]),
  );
  for (const [i, { text }] of mails.entries()) {
    assert.ok(text.includes(`MOVING in production: expires ${minuteOf(day(20 + i))} UTC`), text);
    assert.ok(text.includes(`MOVING in staging: expires ${minuteOf(day(22 + i))} UTC`), text);
  }
  // A nearer threshold is told of at once.
  await sql().query('update secrets set expires_at = $2 where id = $1', [id, day(5)]);
  await run(51 / 24);
  assert.equal((await mailsTo(owner)).length, 4);
  const { rows } = await sql().query('select 1 from secret_expiry_mails where secret_id = $1', [id]);
  await run(200);
  const left = await sql().query('select 1 from secret_expiry_mails where secret_id = $1', [id]);
  assert.ok(rows.length > 3 && left.rows.length === 0, 'what cannot come up again is forgotten');
  await neverEnds(w.tenant.id);
});

test('an environment that ends a few hours after another is in the mail of that one, and not delayed by it', async () => {
  const w = await workspace();
  const owner = await joined(w.tenant.id, 'owner');
  const { id } = await made(w.live, 'secrets.create', { name: 'PAIR', value: 'x', expires_at: day(40).toISOString() });
  await made(w.live, 'environments.create', { name: 'staging' });
  await made(w.live, 'secrets.put_value', { id, environment: 'staging', value: 'y' });
  await made(w.live, 'secrets.update_environment', { id, env: 'staging', expires_at_override: day(40.5).toISOString() });
  for (let half = 8; half <= 84; half++) await run(half / 2 + 0.01);
  const mails = await mailsTo(owner);
  assert.deepEqual(
    mails.map(({ created_at }) => Math.round((created_at.getTime() - start) / (DAY / 2)) / 2),
    [10, 33, 39, 40],
  );
  for (const { text } of mails) assert.match(text, /PAIR in production: [\s\S]*PAIR in staging: expires /);
  assert.match(mails[3]?.subject ?? '', /The secret PAIR in .* has expired/);
  await neverEnds(w.tenant.id);
});

test('a short life is not announced the moment it begins, what ended long ago is not told of, and many at once are one mail', async () => {
  const w = await workspace();
  const owner = await joined(w.tenant.id, 'owner');
  await made(w.live, 'secrets.create', { name: fresh('SHORT'), value: 'x', expires_at: day(5).toISOString() });
  await made(w.live, 'secrets.create', { name: fresh('IMPORTED'), value: 'x', expires_at: day(-30).toISOString() });
  assert.equal(await run(0.1), 0);
  assert.equal(await run(4.1), 1);
  for (let i = 0; i < 23; i++)
    await made(w.live, 'secrets.create', { name: fresh(`MANY_${i}`), value: 'x', expires_at: day(60).toISOString() });
  assert.equal(await run(53.1), 23);
  const last = (await mailsTo(owner)).at(-1);
  assert.match(last?.subject ?? '', /^23 secrets in .* expire soon$/);
  assert.match(last?.text ?? '', /And 3 more\./);
});

test('one workspace of many values that end does not push aside what ends elsewhere: one run tells of all', async () => {
  const [many, other] = [await workspace(), await workspace()];
  const owner = await joined(other.tenant.id, 'owner');
  for (let i = 0; i < 5; i++) await made(many.live, 'secrets.create', { name: `K${i}`, value: 'x', expires_at: day(60).toISOString() });
  await made(other.live, 'secrets.create', { name: 'LAST', value: 'x', expires_at: day(60.5).toISOString() });
  assert.ok((await sweepKind('secret', day(31), 2)) >= 6);
  assert.equal(await sweepKind('secret', day(31), 2), 0);
  assert.equal((await mailsTo(owner)).length, 1);
});

test('what is mailed is an event as well, one for each value', async () => {
  const w = await workspace();
  const at = { tenant_id: w.tenant.id, sandbox: false };
  const event_types = ['secret.expiring', 'secret.expired'];
  await db().event_subscriptions.create({ data: { ...at, id: newId(), channel: 'test', destination_id: newId(), event_types } });
  const { id } = await made(w.live, 'secrets.create', { name: 'RAISED', value: 'x', expires_at: day(20).toISOString() });
  for (const n of [1, 13.01, 14, 19.01, 20.01, 21]) await run(n);
  const rows = await db().events.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { occurred_at: 'asc' } });
  const data = { id, name: 'RAISED', secret_type: 'string', environment: 'production', expires_at: day(20).toISOString() };
  assert.deepEqual(await Promise.all(rows.map(async (row) => [row.type, await eventData(row)])), [
    ['secret.expiring', { ...data, days_left: 7 }],
    ['secret.expiring', { ...data, days_left: 1 }],
    ['secret.expired', data],
  ]);
});

test('a rotation that is due is an event, once for each due date', async () => {
  const w = await workspace();
  const at = { tenant_id: w.tenant.id, sandbox: false };
  await db().event_subscriptions.create({
    data: { ...at, id: newId(), channel: 'test', destination_id: newId(), event_types: ['secret.rotation_due', 'secret.rotated'] },
  });
  const { id } = await made(w.live, 'secrets.create', { name: 'REMINDED', value: 'x', rotate_every_days: 10 });
  await made(w.live, 'secrets.create', { name: 'NEVER', value: 'x' });
  const told = async () => {
    const rows = await db().events.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { occurred_at: 'asc' } });
    return Promise.all(rows.map(async (row) => [row.type, await eventData(row)] as const));
  };
  await noticeRotations(day(9));
  assert.deepEqual(await told(), []);
  await Promise.all([noticeRotations(day(11)), noticeRotations(day(11))]);
  await noticeRotations(day(12));
  const [[type, data] = [], ...more] = await told();
  assert.deepEqual([type, more], ['secret.rotation_due', []]);
  const { rotation_due_at, ...rest } = data as Record<string, unknown>;
  assert.deepEqual(rest, { id, name: 'REMINDED', secret_type: 'string' });
  assert.equal(rotation_due_at, (await made(w.live, 'secrets.get', { id })).rotation_due_at);
  await made(w.live, 'secrets.put_value', { id, environment: 'production', value: 'y' });
  await noticeRotations(day(30));
  const now = await told();
  assert.deepEqual(now.map(([what]) => what).sort(), ['secret.rotated', 'secret.rotation_due', 'secret.rotation_due']);
  assert.deepEqual(now.find(([what]) => what === 'secret.rotated')?.[1], {
    ...rest,
    environment: 'production',
    value_version: 2,
  });
});
