import assert from 'node:assert/strict';
import test from 'node:test';
import { addMembership, createUser } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { retentionWindows, shrinkingWindows } from './service.ts';

await testDatabase();
const DAY = 24 * 3_600_000;

test('a downgrade keeps the old windows for seven days and tells the Owners once, before anything goes', async () => {
  const w = await workspace({ plan: 'pro' });
  const email = `owner-${newId()}@example.test`;
  await db().$transaction(async (tx) => {
    const user = await createUser(tx, { email, full_name: 'O', password_hash: null, email_verified: true, now: new Date() });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role: 'owner', source: 'signup', now: new Date() });
  });
  const start = Date.now();
  const windowsAt = async (days: number) => {
    const found = (await retentionWindows(new Date(start + days * DAY))).find((row) => row.tenant_id === w.tenant.id);
    return [found?.log_days, found?.audit_days];
  };
  const mails = () => db().mails.findMany({ where: { recipient: email, kind: 'logs_shrinking' } });
  const plan = (name: string) => db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_plan: name } });

  assert.deepEqual(await windowsAt(0), [30, 90]);
  assert.equal((await mails()).length, 0);
  await plan('free');
  // Several jobs ask, at the same moment too.
  await Promise.all([windowsAt(1), windowsAt(1), windowsAt(1)]);
  assert.deepEqual(await windowsAt(7), [30, 90]);
  const ends = new Date(start + 8 * DAY).toISOString();
  const notice = (days: number) => shrinkingWindows(w.tenant.id, new Date(start + days * DAY));
  assert.deepEqual(await notice(7.9), [
    { kind: 'log', days: 30, days_then: 3, ends },
    { kind: 'audit', days: 90, days_then: 7, ends },
  ]);
  assert.deepEqual(await notice(8), [], 'what is gone is not announced');
  await plan('pro');
  assert.deepEqual(await notice(2), [], 'a plan that grew again takes nothing, before any job has seen it');
  await plan('free');
  const stranger = await workspace({ plan: 'pro' });
  assert.deepEqual(await shrinkingWindows(stranger.tenant.id, new Date(start + DAY)), []);
  const told = await mails();
  assert.equal(told.length, 1);
  assert.match(told[0]!.text, /API logs: 30 days until now, 3 days from then on/);
  assert.match(told[0]!.text, /Audit log: 90 days until now, 7 days from then on/);
  assert.ok(told[0]!.subject.endsWith(new Date(start + 8 * DAY).toISOString().slice(0, 10)), told[0]!.subject);

  assert.deepEqual(await windowsAt(8.1), [3, 7]);
  await plan('enterprise');
  assert.deepEqual(await windowsAt(9), [90, 365], 'growing counts at once');
  assert.equal((await mails()).length, 1);
});
