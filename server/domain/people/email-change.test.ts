import assert from 'node:assert/strict';
import test from 'node:test';
import { hasFactor } from '#server/kernel/step-up.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { browser } from '#server/testing/people.ts';
import { enrolled, verified } from '#server/testing/step-up.ts';
import { createTestPerson, PASSWORD, type TestPerson } from '#server/testing/test-person.ts';

await testDatabase();
const person = () => createTestPerson({ signedIn: true });
const linkIn = async (to: string, kind: string) =>
  /token=([\w-]{43})/.exec((await mailsTo(to)).findLast((mail) => mail.kind === kind)?.text ?? '')?.[1] ?? '';
const ask = ({ b }: TestPerson, email: string) => b.post('/auth/email/change', { email, password: PASSWORD });
const press = (token: string) =>
  browser().call('POST', '/auth/email', new URLSearchParams({ token }).toString(), { 'content-type': 'application/x-www-form-urlencoded' });
const login = (email: string) => browser().post('/auth/login', { email, password: PASSWORD });

test('a new address is confirmed by the link that it was mailed, and the old one hears of it before and after', async () => {
  const who = await person();
  const to = `new-${who.email}`;
  assert.equal((await ask(who, to)).status, 202);
  assert.ok((await mailsTo(who.email)).some(({ kind, text }) => kind === 'email_change_notice' && text.includes(to)));
  assert.equal((await login(to)).status, 401, 'nothing changed yet');
  const token = await linkIn(to, 'email_change');
  const page = await browser().get(`/auth/email?token=${token}`);
  assert.match(page.text, /Confirm this address/);
  assert.match((await press(token)).text, /Address changed/);
  assert.match((await press(token)).text, /no longer works/, 'a link works once');
  assert.deepEqual([(await login(to)).status, (await login(who.email)).status], [200, 401]);
  assert.equal((await who.b.get('/auth/me')).status, 200);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: who.w.tenant.id, resource_type: 'user' }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    entries.map(({ details }) => (details as { field: string; changes?: unknown }).changes),
    [null, [{ field: 'email', from: who.email, to }]].map((c) => c ?? undefined),
  );
});

test('the old address takes the change back within seven days: sessions end, and links of later changes with them', async () => {
  const who = await person();
  const [second, third] = [`second-${who.email}`, `third-${who.email}`];
  for (const to of [second, third]) {
    assert.equal((await ask(who, to)).status, 202);
    await press(await linkIn(to, 'email_change'));
  }
  await who.b.post('/auth/password/change', { current: PASSWORD, new: 'another harbour at dawn' });
  const [first, later] = [await linkIn(who.email, 'email_changed'), await linkIn(second, 'email_changed')];
  assert.match(
    (await browser().get(`/auth/email?token=${first}`)).text,
    /Undo the change/,
    'a change of the password does not take the way back away',
  );
  assert.match((await press(first)).text, /Address changed/);
  assert.equal((await who.b.get('/auth/me')).status, 401);
  assert.equal((await db().users.findUniqueOrThrow({ where: { id: who.id } })).email, who.email);
  assert.match((await press(later)).text, /no longer works/);
});

test('nothing that was set up under a later address opens the account once the change is taken back', async () => {
  const who = await person();
  const to = `thief-${who.email}`;
  await ask(who, to);
  await press(await linkIn(to, 'email_change'));
  const theirs = 'another harbour at dawn';
  assert.equal((await who.b.post('/auth/password/change', { current: PASSWORD, new: theirs })).status, 200);
  await enrolled(who.id);
  assert.match((await press(await linkIn(who.email, 'email_changed'))).text, /Address changed/);
  assert.equal((await browser().post('/auth/login', { email: who.email, password: theirs })).status, 401);
  assert.equal(await hasFactor(db(), who.id), false);
});

test('a second factor from before the change stays when it is taken back', async () => {
  const who = await person();
  await enrolled(who.id);
  await db().totp_secrets.updateMany({ where: { user_id: who.id }, data: { created_at: new Date(Date.now() - 60_000) } });
  const to = `later-${who.email}`;
  await verified(await who.who(), 'mfa.credential');
  assert.equal((await ask(who, to)).status, 202);
  await press(await linkIn(to, 'email_change'));
  assert.match((await press(await linkIn(who.email, 'email_changed'))).text, /Address changed/);
  assert.equal(await hasFactor(db(), who.id), true);
});

test('an address that has an account is mailed nothing, and the answer does not say so', async () => {
  const [who, other] = [await person(), await person()];
  const free = await ask(who, `free-${who.email}`);
  const taken = await ask(who, other.email);
  assert.deepEqual([taken.status, taken.body], [free.status, free.body]);
  assert.deepEqual(
    (await mailsTo(other.email)).filter(({ kind }) => kind === 'email_change'),
    [],
  );
});

test('an address that was taken meanwhile is refused, and both accounts stay as they are', async () => {
  const who = await person();
  const to = `raced-${who.email}`;
  await ask(who, to);
  const token = await linkIn(to, 'email_change');
  const other = await person();
  await db().users.update({ where: { id: other.id }, data: { email: to } });
  assert.match((await press(token)).text, /belongs to another account/);
  assert.equal((await db().users.findUniqueOrThrow({ where: { id: who.id } })).email, who.email);
});

test('it takes the password, or with a second factor a step-up; a change of the password too', async () => {
  const who = await person();
  const to = `new-${who.email}`;
  assert.equal((await who.b.post('/auth/email/change', { email: to })).body.code, 'invalid');
  assert.equal((await who.b.post('/auth/email/change', { email: to, password: 'wrong' })).body.code, 'invalid_credentials');
  await enrolled(who.id);
  const change = { current: PASSWORD, new: 'another harbour at dawn' };
  for (const [path, body] of [
    ['/auth/email/change', { email: to, password: PASSWORD }],
    ['/auth/password/change', change],
  ] as const) {
    const refused = await who.b.post(path, body);
    assert.deepEqual([refused.body.code, refused.body.action_scope], ['step_up_required', 'mfa.credential']);
    await verified(await who.who(), 'mfa.credential');
    const answer = await who.b.post(path, body);
    assert.ok(answer.status < 300, answer.text);
  }
  const entry = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: who.w.tenant.id, resource_type: 'user' },
    orderBy: { seq: 'desc' },
  });
  assert.ok((entry.details as { step_up?: { verification_id: string } }).step_up?.verification_id, 'the entry names the verification');
});

test('a foreign page cannot press the button', async () => {
  const refused = await browser().call('POST', '/auth/email', 'token=x', {
    'content-type': 'application/x-www-form-urlencoded',
    origin: 'https://evil.example',
    'sec-fetch-site': 'cross-site',
  });
  assert.equal(refused.status, 403);
});
