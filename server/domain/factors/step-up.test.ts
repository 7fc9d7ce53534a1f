import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { endPerson } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { hasFactor, useVerification } from '#server/kernel/step-up.ts';
import { db } from '#server/platform/db.ts';
import { connection } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { browser } from '#server/testing/people.ts';
import { asPerson, enrolled, verified } from '#server/testing/step-up.ts';
import { createTestPerson, PASSWORD } from '#server/testing/test-person.ts';
import { workspace } from '#server/testing/workspace.ts';
import { codeOf } from './samples.fixture.ts';

await testDatabase();

const STEP = 30_000;
const person = () => createTestPerson({ signedIn: true });
const unused = (user_id: string) => db().step_up_verifications.count({ where: { user_id, consumed_at: null } });

test('an app is set up by its first code, with ten recovery codes, a mail, and an entry in every workspace', async () => {
  const { b, email, w, id } = await person();
  const setup = (await b.post('/auth/2fa/setup')).body as Record<string, string>;
  assert.match(String(setup.secret_base32), /^[A-Z2-7]{32}$/);
  assert.match(String(setup.qr_svg), /^<svg /);
  assert.equal(await hasFactor(db(), id), false, 'nothing is active yet');
  const wrong = await b.post('/auth/2fa/verify', { setup_token: setup.setup_token, code: '000000' });
  assert.deepEqual([wrong.status, wrong.body.code], [401, 'mfa_code_invalid']);
  const done = await b.post('/auth/2fa/verify', { setup_token: setup.setup_token, code: codeOf(String(setup.secret_base32)) });
  const codes = done.body.recovery_codes as unknown as string[];
  assert.equal(codes.length, 10);
  for (const code of codes) assert.match(code, /^(?:[2-9A-HJKMNP-TV-Z]{4}-){2}[2-9A-HJKMNP-TV-Z]{4}$/);
  const { factors } = (await b.get('/auth/me')).body as unknown as { factors: { totp: boolean; recovery_codes_left: number } };
  assert.deepEqual([factors.totp, factors.recovery_codes_left], [true, 10]);
  const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, resource_type: 'mfa_credential' } });
  assert.deepEqual([entry.action, (entry.details as { kind: string }).kind], ['create', 'totp']);
  assert.ok((await mailsTo(email)).some(({ kind }) => kind === 'factor_changed'));
  const row = await db().totp_secrets.findFirstOrThrow({ where: { user_id: id } });
  assert.ok(!Buffer.from(row.sealed).toString('latin1').includes(String(setup.secret_base32)));
});

test('adding a factor to an account that has one takes a step-up for mfa.credential, and no mail is sent', async () => {
  const who = await person();
  await enrolled(who.id);
  await verified(await who.who(), 'plaintext.reveal');
  const before = (await mailsTo(who.email)).length;
  for (const body of [{}, { code: '123456' }]) {
    const refused = await who.b.post('/auth/2fa/setup', body);
    assert.deepEqual([refused.status, refused.body.code, refused.body.action_scope], [403, 'step_up_required', 'mfa.credential']);
    assert.deepEqual(refused.body.allowed_methods, ['passkey', '2fa']);
  }
  assert.equal((await mailsTo(who.email)).length, before);
  await verified(await who.who(), 'mfa.credential');
  assert.equal((await who.b.post('/auth/2fa/setup')).status, 200);
});

test('the first app needs a sign-in of the last ten minutes', async () => {
  const { b, id } = await person();
  await db().sessions.updateMany({ where: { user_id: id }, data: { created_at: new Date(Date.now() - 10 * 60_000 - 1000) } });
  const refused = await b.post('/auth/2fa/setup');
  assert.deepEqual([refused.status, refused.body.code, refused.body.requires_step_up], [403, 'step_up_required', undefined]);
});

test('a setup that was begun before the account had a factor ends when it gets one', async () => {
  const { b, signIn } = await person();
  const other = browser();
  await signIn(other);
  const theirs = (await other.post('/auth/2fa/setup')).body as Record<string, string>;
  const mine = (await b.post('/auth/2fa/setup')).body as Record<string, string>;
  assert.equal((await b.post('/auth/2fa/verify', { setup_token: mine.setup_token, code: codeOf(String(mine.secret_base32)) })).status, 200);
  const late = await other.post('/auth/2fa/verify', { setup_token: theirs.setup_token, code: codeOf(String(theirs.secret_base32)) });
  assert.equal(late.body.code, 'mfa_code_invalid');
});

test('a code buys one verification, and its step is refused afterwards: for a step-up, at sign-in, and of many at once all but one', async () => {
  const who = await person();
  const { code } = await enrolled(who.id);
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => who.b.post('/auth/2fa/verify-step-up', { code: code(), action_scope: 'plaintext.reveal' })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
  const won = answers.find(({ status }) => status === 200)!.body;
  assert.deepEqual([won.verified, won.method, won.action_scope], [true, '2fa', 'plaintext.reveal']);
  assert.match(String(won.step_up_token), /^stp_[0-9A-Za-z_-]{43}$/);
  const b = browser();
  const owed = (await b.post('/auth/login', { email: who.email, password: PASSWORD })).body;
  assert.equal((await b.post('/auth/login/mfa', { method: '2fa', code: code() })).body.code, 'mfa_code_invalid');
  const next = await b.post('/auth/login/mfa', { mfa_token: owed.mfa_token, method: '2fa', code: code(new Date(Date.now() + STEP)) });
  assert.equal(next.body.status, 'ok', next.text);
});

test('a recovery code, a mailed code and an unknown scope confirm nothing', async () => {
  const who = await person();
  await enrolled(who.id);
  await verified(await who.who(), 'mfa.credential');
  const { recovery_codes } = (await who.b.post('/auth/2fa/recovery-codes')).body as unknown as { recovery_codes: string[] };
  const [recovery] = recovery_codes;
  const refused = await who.b.post('/auth/2fa/verify-step-up', { code: recovery, action_scope: 'plaintext.reveal' });
  assert.deepEqual([refused.status, refused.body.code], [401, 'mfa_code_invalid']);
  await who.b.post('/auth/magic/start', { email: who.email });
  const mailed = /\b\d{6}\b/.exec((await mailsTo(who.email)).find(({ kind }) => kind === 'sign_in')?.text ?? '')?.[0];
  assert.ok(mailed);
  assert.equal((await who.b.post('/auth/2fa/verify-step-up', { code: mailed, action_scope: 'plaintext.reveal' })).status, 401);
  const unknown = await who.b.post('/auth/2fa/verify-step-up', { code: '123456', action_scope: 'everything' });
  assert.deepEqual([unknown.status, unknown.body.code], [400, 'invalid']);
  assert.equal(await unused(who.id), 0);
});

test('five failures in five minutes lock the step-up of a session, and one entry says that it was tried', async () => {
  const who = await person();
  const { code } = await enrolled(who.id);
  for (let n = 0; n < 5; n++)
    assert.equal((await who.b.post('/auth/2fa/verify-step-up', { code: '000000', action_scope: 'plaintext.reveal' })).status, 401);
  const locked = await who.b.post('/auth/2fa/verify-step-up', { code: code(), action_scope: 'plaintext.reveal' });
  assert.deepEqual([locked.status, locked.body.code], [429, 'rate_limited']);
  assert.ok(Number(locked.headers.get('retry-after')) > 0);
  await mailsTo(who.email);
  assert.equal(
    await db().audit_logs.count({ where: { tenant_id: who.w.tenant.id, action: 'login_failed', resource_type: 'mfa_credential' } }),
    1,
  );
});

test('without a factor there is nothing to confirm with: the refusal says where to add one', async () => {
  const { b } = await person();
  const refused = await b.post('/auth/2fa/verify-step-up', { code: '123456', action_scope: 'plaintext.reveal' });
  assert.deepEqual([refused.status, refused.body.code], [403, 'mfa_required']);
  assert.match(String(refused.body.enroll_url), /\/me\/security$/);
});

/** A change that a member confirms, as `mutate` sees it. */
const change = (ctx: Parameters<typeof mutate>[0], work = async () => {}) =>
  mutate({ ...ctx, step_up: { scope: 'tenant.slug', token_digest: null, used: null } }, async () => {
    await work();
    return audited('done', { action: 'update', resource_type: 'tenant', resource_id: null });
  });

test('a verification is good for its scope, session and person, until it expires or is used', async () => {
  const w = await workspace();
  const [ctx, colleague] = [w.member('owner'), w.member('owner')];
  const { user_id } = await asPerson(ctx);
  await verified(ctx, 'tenant.delete');
  await verified(colleague, 'tenant.slug');
  const elsewhere = { ...ctx, actor: { ...ctx.actor, session_id: newId() } } as typeof ctx;
  await verified(elsewhere, 'tenant.slug');
  await verified(ctx, 'tenant.slug', { now: new Date(ctx.now.getTime() - 301_000) });
  await assert.rejects(change(ctx), {
    type: 'step_up_required',
    extra: { requires_step_up: true, action_scope: 'tenant.slug', allowed_methods: ['passkey', '2fa'] },
  });
  await verified(ctx, 'tenant.slug');
  assert.equal(await change(ctx), 'done');
  await assert.rejects(change(ctx), { type: 'step_up_required' });
  const row = await db().step_up_verifications.findFirstOrThrow({ where: { user_id, consumed_at: { not: null } } });
  assert.deepEqual([row.consumed_request_id, row.tenant_id], [ctx.request_id, w.tenant.id]);
  const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'desc' } });
  assert.deepEqual((entry.details as { step_up: unknown }).step_up, { verification_id: row.id, method: 'totp', scope: 'tenant.slug' });
});

test('a change that fails gives its verification back, and the header picks one', async () => {
  const ctx = (await workspace()).member('owner');
  await asPerson(ctx);
  await verified(ctx, 'tenant.slug');
  const failed = change(ctx, async () => {
    throw new Error('no');
  });
  await assert.rejects(failed, { message: 'no' });
  assert.equal(await change(ctx), 'done');
});

test('a verification that named a workspace is good in no other', async () => {
  const ctx = (await workspace()).member('owner');
  const who = await asPerson(ctx);
  await verified(ctx, 'tenant.slug');
  await db().step_up_verifications.updateMany({ where: who, data: { tenant_id: (await workspace()).tenant.id } });
  await assert.rejects(change(ctx), { type: 'step_up_required' });
});

test('fifty parallel uses of one verification over two pools: one wins', async () => {
  const ctx = (await workspace()).member('owner');
  const who = await asPerson(ctx);
  await verified(ctx, 'tenant.slug');
  const other = new pg.Pool({ ...connection(), max: 10 });
  const use = async (n: number) => {
    if (n % 2 === 0)
      return change(ctx).then(
        () => 1,
        () => 0,
      );
    const { rows } = await other.query('select * from take_step_up($1, $2, $3, $4, null, $5, now())', [
      who.user_id,
      who.session_id,
      ctx.tenant_id,
      'tenant.slug',
      `r${n}`,
    ]);
    return rows.length;
  };
  const wins = await Promise.all(Array.from({ length: 50 }, (_, n) => use(n)));
  await other.end();
  assert.equal(
    wins.reduce((a, b) => a + b, 0),
    1,
  );
});

test('five wait per session and scope at most; sign-out, and a change of password, factors or role, drop them', async () => {
  const who = await person();
  const { code } = await enrolled(who.id);
  await db().totp_secrets.updateMany({ where: { user_id: who.id }, data: { last_step: 0 } });
  for (let n = 0; n < 6; n++) {
    await db().totp_secrets.updateMany({ where: { user_id: who.id }, data: { last_step: 0 } });
    assert.equal((await who.b.post('/auth/2fa/verify-step-up', { code: code(), action_scope: 'plaintext.reveal' })).status, 200);
  }
  assert.equal(await unused(who.id), 5);
  const session = await who.who();
  const drops: Record<string, () => Promise<unknown>> = {
    role: () => db().memberships.updateMany({ where: { user_id: who.id }, data: { role: 'admin' } }),
    password: () => db().users.update({ where: { id: who.id }, data: { password_hash: 'x' } }),
    factor: () => db().totp_secrets.deleteMany({ where: { user_id: who.id } }),
    'sign-out': () => who.b.post('/auth/logout'),
  };
  for (const [name, drop] of Object.entries(drops)) {
    await verified(session, 'plaintext.reveal');
    await drop();
    assert.equal(await unused(who.id), 0, name);
  }
});

test('a member confirms over /admin and tRPC in their workspace; a machine cannot', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  const { user_id } = await asPerson(ctx);
  const { code } = await enrolled(user_id);
  const { stepUp } = await import('./operations.ts');
  await stepUp.run(ctx, { code: code(), action_scope: 'tenant.slug' }, []);
  const row = await db().step_up_verifications.findFirstOrThrow({ where: { user_id } });
  assert.equal(row.tenant_id, w.tenant.id);
  await assert.rejects(stepUp.run(w.live, { code: code(), action_scope: 'tenant.slug' }, []), { type: 'role_denied' });
  assert.equal(
    await db().$transaction((tx) =>
      useVerification(tx, {
        user_id,
        session_id: row.session_id,
        tenant_id: null,
        scope: 'tenant.slug',
        token_digest: null,
        request_id: '',
        now: new Date(),
      }),
    ),
    null,
  );
});

test('an account with a factor gets no session by password, mailed code or mailed link alone', async () => {
  const who = await createTestPerson({ signedIn: false });
  const { code } = await enrolled(who.id);
  const sessions = () => db().sessions.count({ where: { user_id: who.id } });
  const b = browser();
  const byPassword = await b.post('/auth/login', { email: who.email, password: PASSWORD });
  assert.deepEqual([byPassword.status, byPassword.body.status, byPassword.body.methods], [200, 'mfa_required', ['2fa']]);
  assert.equal(b.jar.has('svc_session'), false);
  await b.post('/auth/magic/start', { email: who.email });
  const newest = async () => (await mailsTo(who.email)).findLast(({ kind }) => kind === 'sign_in')?.text ?? '';
  const mail = await newest();
  const byCode = await b.post('/auth/magic/verify', { email: who.email, code: /\b\d{6}\b/.exec(mail)?.[0] });
  assert.equal(byCode.body.status, 'mfa_required');
  await b.post('/auth/magic/start', { email: who.email });
  const form = new URLSearchParams({ token: /token=([\w-]{43})/.exec(await newest())?.[1] ?? '' });
  const page = await b.call('POST', '/auth/magic', form.toString(), { 'content-type': 'application/x-www-form-urlencoded' });
  assert.deepEqual([page.status, page.headers.get('location')], [303, '/signin/second-factor']);
  assert.equal(await sessions(), 0);
  const state = (await b.get('/auth/login/mfa')).body as Record<string, unknown>;
  assert.deepEqual([state.email, state.methods], [who.email, ['2fa']]);
  const done = await b.post('/auth/login/mfa', { method: '2fa', code: code() });
  assert.equal(done.body.status, 'ok', done.text);
  const row = await db().sessions.findFirstOrThrow({ where: { user_id: who.id } });
  assert.ok(row.mfa_at);
  assert.deepEqual(row.auth_methods, ['link', 'totp']);
  assert.equal(b.jar.has('svc_mfa'), false);
  assert.equal((await b.get('/auth/me')).status, 200);
});

test('the token of a sign-in works once, five times at most and for five minutes, and is no session', async () => {
  const who = await createTestPerson({ signedIn: false });
  const { code } = await enrolled(who.id);
  const begin = async () => String((await browser().post('/auth/login', { email: who.email, password: PASSWORD })).body.mfa_token);
  const mfa_token = await begin();
  assert.equal((await browser().get('/auth/me', { authorization: `Bearer ${mfa_token}` })).status, 401);
  const finish = (token: string, given = code()) => browser().post('/auth/login/mfa', { mfa_token: token, method: '2fa', code: given });
  for (let n = 0; n < 5; n++) assert.equal((await finish(mfa_token, '000000')).body.code, 'mfa_code_invalid');
  assert.equal((await finish(mfa_token)).body.code, 'not_authenticated');
  const fresh = await begin();
  assert.equal((await finish(fresh)).body.status, 'ok');
  assert.equal((await finish(fresh, code(new Date(Date.now() + STEP)))).body.code, 'not_authenticated');
  const ended = await begin();
  await db().$transaction((tx) => endPerson(tx, { user_id: who.id, reason: 'password_reset', now: new Date() }));
  assert.equal((await finish(ended, code(new Date(Date.now() + STEP)))).body.code, 'not_authenticated', 'a new password ends it too');
  const late = await begin();
  await db().pending_logins.updateMany({ where: { user_id: who.id }, data: { expires_at: new Date() } });
  assert.equal((await finish(late, code(new Date(Date.now() + STEP)))).body.code, 'not_authenticated');
});

test('a recovery code signs in once, is audited, and the session cannot confirm with it', async () => {
  const who = await person();
  await enrolled(who.id);
  await verified(await who.who(), 'mfa.credential');
  const { recovery_codes } = (await who.b.post('/auth/2fa/recovery-codes')).body as unknown as { recovery_codes: string[] };
  const typed = String(recovery_codes[0]).toLowerCase().replaceAll('-', ' ');
  const signIn = async () => {
    const b = browser();
    await b.post('/auth/login', { email: who.email, password: PASSWORD });
    return b.post('/auth/login/mfa', { method: 'recovery', code: typed });
  };
  assert.equal((await signIn()).body.status, 'ok');
  assert.equal((await signIn()).body.code, 'mfa_code_invalid');
  const entry = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: who.w.tenant.id, resource_type: 'mfa_credential', action: 'login' },
  });
  assert.equal((entry.details as { kind: string }).kind, 'recovery_codes');
  assert.deepEqual((await db().sessions.findFirstOrThrow({ where: { user_id: who.id }, orderBy: { created_at: 'desc' } })).auth_methods, [
    'password',
    'recovery',
  ]);
});

test('a session that the browser had before is not the one it has after the second factor', async () => {
  const who = await person();
  const before = who.b.jar.get('svc_session');
  const { code } = await enrolled(who.id);
  await who.b.post('/auth/login', { email: who.email, password: PASSWORD });
  assert.equal((await who.b.post('/auth/login/mfa', { method: '2fa', code: code() })).body.status, 'ok');
  assert.notEqual(who.b.jar.get('svc_session'), before);
});

test('next-auth has no second step, so it opens no session for an account with a factor', async () => {
  const who = await createTestPerson({ signedIn: false });
  await enrolled(who.id);
  const { nextAuthOptions } = await import('#server/auth/next-auth.ts');
  const [password] = nextAuthOptions().providers as unknown as { authorize: (given: object, req: object) => Promise<unknown> }[];
  const authorize = password!.authorize;
  await assert.rejects(authorize({ email: who.email, password: PASSWORD }, { headers: {} }), { message: 'mfa_required' });
  assert.equal(await db().sessions.count({ where: { user_id: who.id } }), 0);
});
