import assert from 'node:assert/strict';
import test from 'node:test';
import { hasFactor } from '#server/kernel/step-up.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { addPasskey } from '#server/testing/passkeys.ts';
import { createTestPerson } from '#server/testing/test-person.ts';
import { resetFactors } from './service.ts';

await testDatabase();

test('the operator removes the factors of a person who lost them: sessions end, every workspace has an entry, and a mail tells the person', async () => {
  const who = await createTestPerson({ signedIn: true });
  await addPasskey(who);
  const { passkeys, sessions } = await resetFactors({ email: who.email.toUpperCase() });
  assert.deepEqual([passkeys, sessions, await hasFactor(db(), who.id)], [1, 1, false]);
  assert.equal((await who.b.get('/auth/me')).status, 401);
  const entry = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: who.w.tenant.id, action: 'delete', resource_type: 'mfa_credential' },
  });
  assert.equal((entry.details as { actor: { type: string } }).actor.type, 'operator');
  assert.ok((await mailsTo(who.email)).some(({ subject }) => /by the operator/.test(subject)));
  await assert.rejects(resetFactors({ email: 'nobody@example.test' }), { type: 'not_found' });
});
