import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { mailsTo } from '#server/testing/mailbox.ts';

await ownDatabase();
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

test('a sign-up that was never confirmed is deleted a week after its link expired, a confirmed one is kept', async () => {
  const created_at = new Date();
  const claim = async (ready_at: Date | null) => {
    const [id, email] = [newId(), `${newId()}@example.test`];
    const data = { id, email, full_name: 'n', tenant_name: 'T', region: 'us', ready_at, created_at };
    await db().signup_claims.create({
      data: {
        ...data,
        digest: new TextEncoder().encode(id),
        token_digest: new TextEncoder().encode(id),
        expires_at: new Date(created_at.getTime() + DAY),
      },
    });
    return { id, email };
  };
  const [open, confirmed] = [await claim(null), await claim(created_at)];
  const left = async () => (await db().signup_claims.findMany({ where: { id: { in: [open.id, confirmed.id] } } })).map(({ id }) => id);
  for (const after of [0, MINUTE, DAY, 8 * DAY - MINUTE]) await sweepKind('signup_claim', new Date(created_at.getTime() + after));
  assert.equal((await left()).length, 2);
  await sweepKind('signup_claim', new Date(created_at.getTime() + 8 * DAY));
  assert.deepEqual(await left(), [confirmed.id]);
  assert.deepEqual(await mailsTo(open.email), [], 'its mail was written before');
  assert.equal(await db().leases.count({ where: { kind: 'signup_claim', resource_id: { in: [open.id, confirmed.id] } } }), 0);
});
