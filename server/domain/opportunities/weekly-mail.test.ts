import assert from 'node:assert/strict';
import test from 'node:test';
import { type Ctx, own } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { joined, mailsTo } from '#server/testing/mailbox.ts';
import { workspace } from '#server/testing/workspace.ts';
import { mailWeekly } from './weekly-mail.ts';

await testDatabase();
const WEEK = 7 * 24 * 3_600_000;
const monday = new Date('2026-11-23T08:40:00.000Z');
const after = (ms: number) => new Date(monday.getTime() + ms);

const opportunity = (ctx: Ctx, host: string, over: object = {}) =>
  db().opportunities.create({
    data: { id: newId(), ...own(ctx), source: 'gateway_traffic', service: 'acme', destination_host: host, confidence: 0.7, ...over },
  });

test('Owners and Admins get one summary a week of what is pending in Live, and nobody else does', async () => {
  const w = await workspace();
  const [owner, admin, editor] = [
    await joined(w.tenant.id, 'owner'),
    await joined(w.tenant.id, 'admin'),
    await joined(w.tenant.id, 'editor'),
  ];
  for (let n = 0; n < 7; n++) await opportunity(w.live, `h${n}.acme.example`, { confidence: 0.9 - n / 100 });
  await opportunity(w.live, 'no.acme.example', { status: 'dismissed', confidence: 0.99 });
  await opportunity(w.test, 'test.acme.example', { confidence: 0.99 });
  await Promise.all([mailWeekly(monday), mailWeekly(monday)]);
  await mailWeekly(after(WEEK - 36 * 3_600_000));
  for (const to of [owner, admin]) {
    const mails = await mailsTo(to);
    assert.deepEqual(
      mails.map(({ subject }) => subject),
      [`7 hosts wait for a route in ${w.tenant.name}`],
    );
    const [{ text = '' } = {}] = mails;
    assert.match(text, /h0\.acme\.example, .*h4\.acme\.example and 2 more/);
    assert.match(text, new RegExp(`/${w.tenant.slug}/live/opportunities`));
    assert.match(text, /\/me\/preferences/);
    assert.ok(!/no\.acme|test\.acme/.test(text));
  }
  assert.deepEqual(await mailsTo(editor), []);
  await mailWeekly(after(WEEK));
  assert.equal((await mailsTo(owner)).length, 2);
});

test('a person who turned it off gets none, and a workspace without anything pending mails nobody', async () => {
  const [w, quiet] = [await workspace(), await workspace()];
  const [owner, other, idle] = [
    await joined(w.tenant.id, 'owner'),
    await joined(w.tenant.id, 'admin'),
    await joined(quiet.tenant.id, 'owner'),
  ];
  await db().users.update({ where: { email: owner }, data: { preferences: { opportunity_mails: false } } });
  await opportunity(w.live, 'api.acme.example');
  await opportunity(quiet.live, 'api.acme.example', { status: 'onboarded' });
  await mailWeekly(monday);
  assert.deepEqual([(await mailsTo(owner)).length, (await mailsTo(other)).length, (await mailsTo(idle)).length], [0, 1, 0]);
});
