import assert from 'node:assert/strict';
import test from 'node:test';
import { acceptPassword, addMembership, createUser } from '#server/domain/people/service.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { browser } from '#server/testing/people.ts';
import { workspace } from '#server/testing/workspace.ts';
import { frameOf } from '#server/trpc/frame.ts';

// Nothing listens there: what was to be sent is read from where it waits.
await testDatabase({ SMTP_URL: 'smtp://127.0.0.1:9' });

test('an account from before mail was set up is asked to prove its address, and the mailed link is the proof', async () => {
  const w = await workspace();
  const [email, password] = ['early@example.test', 'before there was any mail'];
  const password_hash = await acceptPassword(password, email, 'password');
  await db().$transaction(async (tx) => {
    const { id } = await createUser(tx, { email, full_name: 'E', password_hash, email_verified: false, now: new Date() });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: id, role: 'owner', source: 'signup', now: new Date() });
  });
  const verified = async (token: unknown) => (await frameOf(new Headers({ authorization: `Bearer ${String(token)}` })))?.email_verified;
  const { body } = await browser().post('/auth/login', { email, password });
  assert.equal(await verified(body.token), false);

  await browser().post('/auth/magic/start', { email });
  const mail = (await mailsTo(email)).find(({ kind }) => kind === 'sign_in');
  const token = /\/auth\/magic\?token=([\w-]+)/.exec(mail?.text ?? '')?.[1];
  assert.equal(await verified(body.token), false, 'a mail that nobody read proves nothing');
  const used = await browser().post('/auth/magic/verify', { token });
  assert.equal(used.status, 200, used.text);
  assert.equal(await verified(used.body.token), true);
});
