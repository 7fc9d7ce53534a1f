import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { type Algorithm, authenticator, type Lies } from '#server/testing/authenticator.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { addPasskey, loginBy, optionsOf, register, registration, stepUpBy } from '#server/testing/passkeys.ts';
import { browser } from '#server/testing/people.ts';
import { enrolled, verified } from '#server/testing/step-up.ts';
import { createTestPerson, PASSWORD } from '#server/testing/test-person.ts';

await testDatabase();
const person = () => createTestPerson({ signedIn: true });

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] satisfies Algorithm[])
  test(`${algorithm}: a passkey is added by a mailed code, signs in alone as both factors, and confirms an action`, async () => {
    const who = await person();
    const { device, id, recovery_codes } = await addPasskey(who, { algorithm });
    assert.equal(recovery_codes?.length, 10, 'the first factor comes with recovery codes');
    const row = await db().webauthn_credentials.findUniqueOrThrow({ where: { id } });
    assert.deepEqual(
      [row.algorithm, row.kind, row.backup_eligible, row.backed_up],
      [{ ES256: -7, EdDSA: -8, RS256: -257 }[algorithm], 'passkey', true, true],
    );
    const b = browser();
    const signedIn = await loginBy(b, device);
    assert.equal(signedIn.body.status, 'ok', signedIn.text);
    const session = await db().sessions.findFirstOrThrow({ where: { user_id: who.id }, orderBy: { created_at: 'desc' } });
    assert.deepEqual([session.auth_methods, session.mfa_at !== null], [['passkey'], true]);
    await b.load();
    const step = await stepUpBy(b, device, 'plaintext.reveal');
    assert.deepEqual([step.body.verified, step.body.method, step.body.action_scope], [true, 'passkey', 'plaintext.reveal'], step.text);
    assert.equal((await db().webauthn_credentials.findUniqueOrThrow({ where: { id } })).counter, 2n);
  });

test('the options ask for what the kind of key needs, and name the person by bytes that are not their ID', async () => {
  const who = await person();
  const { options } = (await registration(who)) as unknown as { options: Record<string, any> };
  assert.deepEqual(
    options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg),
    [-8, -7, -257],
  );
  assert.deepEqual([options.attestation, options.timeout, options.rp.id], ['none', 300_000, 'localhost']);
  assert.deepEqual([options.authenticatorSelection.residentKey, options.authenticatorSelection.userVerification], ['required', 'required']);
  const handle = Buffer.from(options.user.id, 'base64url');
  assert.equal(handle.length, 32);
  assert.ok(!handle.toString().includes(who.id));
  const { device } = await addPasskey(who);
  const { options: again } = (await registration(who, 'security_key')) as unknown as { options: Record<string, any> };
  assert.deepEqual(
    again.excludeCredentials.map(({ id }: { id: string }) => id),
    [device.id],
  );
  assert.equal(again.user.id, options.user.id, 'fixed per person');
  assert.deepEqual([again.authenticatorSelection.residentKey, again.authenticatorSelection.userVerification], ['discouraged', 'preferred']);
});

test('the first passkey takes the mailed code; an account with a factor is mailed nothing and confirms instead', async () => {
  const who = await person();
  assert.deepEqual((await who.b.post('/auth/passkey/challenge')).body, { code_sent: true });
  const sent = await mailsTo(who.email);
  assert.ok(sent.some(({ kind }) => kind === 'factor_code'));
  for (const body of [{}, { code: '000000' }])
    assert.equal((await who.b.post('/auth/passkey/register-options', body)).body.code, 'mfa_code_invalid');
  await enrolled(who.id);
  const before = (await mailsTo(who.email)).length;
  const code = /\b\d{6}\b/.exec(sent.findLast(({ kind }) => kind === 'factor_code')?.text ?? '')?.[0];
  for (const [path, body] of [
    ['/auth/passkey/challenge', {}],
    ['/auth/passkey/register-options', {}],
    ['/auth/passkey/register-options', { code }],
  ] as const) {
    const refused = await who.b.post(path, body);
    assert.deepEqual([refused.status, refused.body.code, refused.body.action_scope], [403, 'step_up_required', 'mfa.credential']);
  }
  assert.equal((await mailsTo(who.email)).length, before);
});

/** What a ceremony must refuse, whoever makes the answer (interface rule 22 §13b.9). */
const FORGED: Record<string, Lies> = {
  'another origin': { origin: 'https://evil.example' },
  'another port': { origin: 'http://localhost:1' },
  'another RP ID': { rp_id: 'evil.example' },
  'another type': { type: 'webauthn.other' },
  'another challenge': { challenge: 'AAAA' },
  'nobody present': { absent: true, unverified: true },
  'nobody verified': { unverified: true },
  'a frame of another page': { cross_origin: true },
};

test('a registration from another origin, for another RP, of another challenge or without its person is refused, and its challenge is gone', async () => {
  for (const [name, lies] of Object.entries(FORGED)) {
    const who = await person();
    const ceremony = await registration(who);
    const device = authenticator();
    const refused = await register(who.b, device, ceremony, lies);
    assert.deepEqual([refused.status, refused.body.code], [401, 'webauthn_failed'], `${name}: ${refused.text}`);
    assert.equal((await register(who.b, device, ceremony)).body.code, 'invalid', `${name}: the challenge is used up`);
    assert.equal(await db().webauthn_credentials.count({ where: { user_id: who.id } }), 0);
  }
});

test('a sign-in with a forged answer is refused, and so is one replayed or reordered', async () => {
  const who = await person();
  const { device } = await addPasskey(who);
  const stranger = await person();
  const { device: theirs } = await addPasskey(stranger);
  for (const [name, lies] of Object.entries(FORGED)) {
    const refused = await loginBy(browser(), device, lies);
    assert.deepEqual([refused.status, refused.body.code], [401, 'webauthn_failed'], `${name}: ${refused.text}`);
  }
  const handles = { 'no user handle': null, 'that of somebody else': Buffer.alloc(32, 7).toString('base64url') };
  for (const [name, handle] of Object.entries(handles))
    assert.equal((await loginBy(browser(), device, { handle })).body.code, 'webauthn_failed', name);
  const b = browser();
  const [one, two] = [await optionsOf(b, '/auth/passkey/login-options'), await optionsOf(b, '/auth/passkey/login-options')];
  const answer = device.get(one.options);
  assert.equal(
    (await b.post('/auth/passkey/login', { credential: answer, challenge: two.challenge })).body.code,
    'webauthn_failed',
    'reordered',
  );
  assert.equal((await b.post('/auth/passkey/login', { credential: answer, challenge: one.challenge })).body.status, 'ok');
  assert.equal(
    (await browser().post('/auth/passkey/login', { credential: answer, challenge: one.challenge })).body.code,
    'invalid',
    'replayed',
  );
  const three = await optionsOf(b, '/auth/passkey/login-options');
  const mixed = device.get(three.options);
  mixed.response.signature = theirs.get(three.options).response.signature;
  assert.equal(
    (await b.post('/auth/passkey/login', { credential: mixed, challenge: three.challenge })).body.code,
    'webauthn_failed',
    'signed by another key',
  );
  assert.equal((await loginBy(browser(), authenticator())).body.code, 'webauthn_failed', 'an unknown key');
});

test('one answer at a time: of many at once with one challenge exactly one signs in', async () => {
  const who = await person();
  const { device } = await addPasskey(who);
  const { options, challenge } = await optionsOf(browser(), '/auth/passkey/login-options');
  const credential = device.get(options);
  const answers = await Promise.all(Array.from({ length: 8 }, () => browser().post('/auth/passkey/login', { credential, challenge })));
  assert.equal(answers.filter(({ body }) => body.status === 'ok').length, 1);
});

test('a counter that goes back blocks the key, tells the person, and leaves an entry; a key that never counts stays good', async () => {
  const who = await person();
  const { device, id } = await addPasskey(who);
  assert.equal((await loginBy(browser(), device, { counter: 9 })).body.status, 'ok');
  for (const counter of [9, 12]) {
    const refused = await loginBy(browser(), device, { counter });
    assert.deepEqual([refused.status, refused.body.code], [401, 'webauthn_failed'], `${counter}`);
  }
  assert.ok((await db().webauthn_credentials.findUniqueOrThrow({ where: { id } })).cloned_at);
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: who.w.tenant.id, resource_type: 'mfa_credential', action: 'update' },
  });
  assert.deepEqual(
    entries.map(({ details }) => (details as { state?: string }).state),
    ['cloned'],
  );
  assert.ok((await mailsTo(who.email)).some(({ subject }) => /copy/.test(subject)));
  const b = browser();
  const owed = await b.post('/auth/login', { email: who.email, password: PASSWORD });
  assert.deepEqual(
    [owed.body.status, owed.body.methods],
    ['mfa_required', ['recovery']],
    'the account has not become one without a factor',
  );
  const other = await person();
  const { device: silent } = await addPasskey(other, { counts: false });
  for (let n = 0; n < 2; n++) assert.equal((await loginBy(browser(), silent)).body.status, 'ok');
});

test('a challenge of another session, person, scope or purpose is refused, and stays good for its own', async () => {
  const who = await person();
  const { device } = await addPasskey(who);
  const other = browser();
  await loginBy(other, device);
  await other.load();
  const path = '/auth/2fa/webauthn/step-up-options';
  const { options, challenge } = await optionsOf(who.b, path, { action_scope: 'plaintext.reveal' });
  const verify = (b: ReturnType<typeof browser>, action_scope: string) =>
    b.post('/auth/2fa/webauthn/verify-step-up', { credential: device.get(options), challenge, action_scope });
  assert.deepEqual(
    [(await verify(other, 'plaintext.reveal')).status, (await verify(other, 'plaintext.reveal')).body.code],
    [400, 'invalid'],
  );
  assert.equal((await verify(who.b, 'tenant.delete')).body.code, 'invalid');
  assert.equal((await browser().post('/auth/passkey/login', { credential: device.get(options), challenge })).body.code, 'invalid');
  assert.equal((await verify(who.b, 'plaintext.reveal')).status, 200);
  const login = await optionsOf(browser(), '/auth/passkey/login-options');
  const swapped = await who.b.post('/auth/2fa/webauthn/verify-step-up', {
    credential: device.get(login.options),
    challenge: login.challenge,
    action_scope: 'plaintext.reveal',
  });
  assert.equal(swapped.body.code, 'invalid');
  const stranger = await person();
  const { device: theirs } = await addPasskey(stranger);
  assert.equal((await stepUpBy(who.b, theirs, 'plaintext.reveal')).body.code, 'webauthn_failed', 'the key of somebody else');
});

test('a security key follows a password: it finishes a sign-in without PIN and cannot begin one', async () => {
  const who = await person();
  const { device } = await addPasskey(who, { kind: 'security_key' });
  assert.equal((await loginBy(browser(), device)).body.code, 'webauthn_failed');
  const b = browser();
  const owed = await b.post('/auth/login', { email: who.email, password: PASSWORD });
  assert.deepEqual(owed.body.methods, ['passkey', 'recovery']);
  const { options, challenge } = await optionsOf(b, '/auth/login/mfa/options');
  const credential = device.get(options, { unverified: true });
  const elsewhere = browser();
  await elsewhere.post('/auth/login', { email: who.email, password: PASSWORD });
  assert.equal(
    (await elsewhere.post('/auth/login/mfa', { method: 'passkey', credential, challenge })).body.code,
    'invalid',
    'of another sign-in',
  );
  const done = await b.post('/auth/login/mfa', { method: 'passkey', credential, challenge });
  assert.equal(done.body.status, 'ok', done.text);
  await b.load();
  assert.equal((await stepUpBy(b, device, 'plaintext.reveal', { unverified: true })).status, 200);
});

test('a passkey is renamed by its owner and removed after a step-up; with the last factor the recovery codes go', async () => {
  const [who, stranger] = [await person(), await person()];
  const { device, id } = await addPasskey(who);
  const body = { name: 'Work laptop' };
  assert.equal((await stranger.b.call('PATCH', `/auth/passkeys/${id}`, body)).status, 404);
  await verified(await stranger.who(), 'mfa.credential');
  assert.equal((await stranger.b.call('DELETE', `/auth/passkeys/${id}`)).status, 404);
  assert.equal((await who.b.call('PATCH', `/auth/passkeys/${id}`, body)).status, 200);
  const { passkeys } = (await who.b.get('/auth/passkeys')).body as unknown as { passkeys: { name: string }[] };
  assert.deepEqual(
    passkeys.map(({ name }) => name),
    ['Work laptop'],
  );
  assert.equal((await who.b.call('DELETE', `/auth/passkeys/${id}`)).body.code, 'step_up_required');
  assert.equal((await stepUpBy(who.b, device, 'mfa.credential')).status, 200);
  assert.deepEqual((await who.b.call('DELETE', `/auth/passkeys/${id}`)).body, { deleted: true });
  assert.equal(await db().recovery_codes.count({ where: { user_id: who.id } }), 0);
  assert.equal((await browser().post('/auth/login', { email: who.email, password: PASSWORD })).body.status, 'ok');
});

test('twenty passkeys at most, and none twice', async () => {
  const who = await person();
  const { device } = await addPasskey(who);
  const again = await registration(who);
  assert.equal((await register(who.b, device, again)).body.code, 'conflict');
  const row = await db().webauthn_credentials.findFirstOrThrow({ where: { user_id: who.id } });
  const copies = Array.from({ length: 19 }, (_, n) => ({ ...row, id: crypto.randomUUID(), credential_id: `${row.credential_id}${n}` }));
  await db().webauthn_credentials.createMany({ data: copies });
  await verified(await who.who(), 'mfa.credential');
  assert.equal((await who.b.post('/auth/passkey/register-options')).body.code, 'conflict');
});

test('lost phone: a recovery code signs in, a mailed code removes what was lost, other sessions end, and a new factor is enrolled', async () => {
  const who = await person();
  const { recovery_codes } = await addPasskey(who);
  const old = who.b;
  const b = browser();
  await b.post('/auth/login', { email: who.email, password: PASSWORD });
  assert.equal((await b.post('/auth/login/mfa', { method: 'recovery', code: recovery_codes?.[0] })).body.status, 'ok');
  await b.load();
  assert.equal((await b.post('/auth/2fa/setup')).body.code, 'step_up_required', 'a recovery code confirms nothing');
  assert.equal((await old.post('/auth/2fa/recovery/challenge')).body.code, 'step_up_required', 'a session that no recovery code opened');
  await b.post('/auth/2fa/recovery/challenge');
  assert.equal((await b.post('/auth/2fa/recovery/reset', { code: '000000' })).body.code, 'mfa_code_invalid');
  const code = /\b\d{6}\b/.exec((await mailsTo(who.email)).findLast(({ kind }) => kind === 'factor_code')?.text ?? '')?.[0];
  const { token, ...answer } = (await b.post('/auth/2fa/recovery/reset', { code })).body;
  assert.match(String(token), /^ses_/);
  await b.load(); // the page reads the CSRF token of the renewed session
  assert.deepEqual(answer, { status: 'ok', ended: { sessions: 1, apps: 0 } });
  assert.equal((await old.get('/auth/me')).status, 401);
  assert.deepEqual(((await b.get('/auth/me')).body as { factors?: unknown }).factors, {
    totp: false,
    totp_enabled_at: null,
    passkeys: [],
    recovery_codes_left: 0,
  });
  await addPasskey({ ...who, b });
});

test('an account without a key is not asked for one: an empty list would ask for any passkey of this site', async () => {
  const who = await person();
  await enrolled(who.id);
  const b = browser();
  await b.post('/auth/login', { email: who.email, password: PASSWORD });
  for (const answer of [
    await b.post('/auth/login/mfa/options'),
    await who.b.post('/auth/2fa/webauthn/step-up-options', { action_scope: 'plaintext.reveal' }),
  ])
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid']);
});
