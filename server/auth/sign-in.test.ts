import assert from 'node:assert/strict';
import test from 'node:test';
import { mintToken } from '#server/crypto/tokens.ts';
import { acceptPassword, addMembership, createUser, memberCtx } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { knownCountries, placeIn } from '#server/platform/geoip.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { type Answer, browser } from '#server/testing/people.ts';
import { hashCosts, quickPasswords } from '#server/testing/quick-passwords.ts';
import { workspace } from '#server/testing/workspace.ts';
import { frameOf } from '#server/trpc/frame.ts';
import { personOf } from './person.ts';

knownCountries({ '81.0.0.0/8': placeIn('NL', 'Utrecht'), '82.0.0.0/8': placeIn('ES'), '2001:db8::/32': placeIn('NL') });
await testDatabase();
quickPasswords();

const password = 'a quiet harbour at dusk';
const hash = await acceptPassword(password, 'somebody@example.test', 'password');
let count = 0;
type Sent = Record<string, string | null>;

/** A person with a password and a membership in each given workspace. */
async function person(...memberships: { tenant_id: string; role?: MemberRole }[]) {
  const email = `p${++count}@example.test`;
  const user = await db().$transaction(async (tx) => {
    const row = await createUser(tx, { email, full_name: 'P', password_hash: hash, email_verified: true, now: new Date() });
    for (const m of memberships)
      await addMembership(tx, { tenant_id: m.tenant_id, user_id: row.id, role: m.role ?? 'owner', source: 'signup', now: new Date() });
    return row;
  });
  return { ...user, email };
}

async function signedIn(p: { email: string }, scope: Record<string, unknown> = {}) {
  const b = browser();
  const answer = await b.post('/auth/login', { email: p.email, password, ...scope });
  assert.equal(answer.status, 200, answer.text);
  await b.load();
  return { ...b, token: String(answer.body.token) };
}

const whoIs = async (token: string) => {
  const found = await personOf(new Headers({ authorization: `Bearer ${token}` }));
  assert.ok(found);
  return found;
};

const bare = (answer: Answer) => ({
  status: answer.status,
  body: { ...answer.body, request_id: '' } as Record<string, unknown>,
  retry: answer.headers.get('retry-after'),
  cookies: answer.headers.getSetCookie(),
});

test('deleting the session row ends the session on the next request, cookie and Bearer alike', async () => {
  const w = await workspace();
  const b = await signedIn(await person({ tenant_id: w.tenant.id }));
  const bearer = { authorization: `Bearer ${b.token}`, cookie: null };
  assert.equal((await b.get('/auth/me')).status, 200);
  assert.equal((await b.get('/auth/me', bearer)).status, 200);
  await db().sessions.deleteMany({ where: { user: { memberships: { some: { tenant_id: w.tenant.id } } } } });
  assert.deepEqual([(await b.get('/auth/me', bearer)).status, (await b.get('/auth/me')).body.code], [401, 'not_authenticated']);
  assert.equal(b.jar.has('svc_session'), false, 'and the dead cookie is taken away');
});

test('a session ends when idle for 12 hours, after 7 days whatever happens, when revoked, and when the account is disabled', async () => {
  const p = await person();
  const b = await signedIn(p);
  const headers = new Headers({ authorization: `Bearer ${b.token}` });
  const at = (hours: number) => personOf(headers, new Date(Date.now() + hours * 3_600_000));
  assert.ok(await at(11.9));
  assert.ok(await at(23.5), 'use keeps it alive');
  assert.equal(await at(36), null, 'idle');
  for (let h = 24; h < 168; h += 11) await at(h);
  assert.equal(await at(168.1), null, 'the end is the end');

  const kept = await signedIn(p, { keep: true });
  const long = (days: number) => personOf(new Headers({ authorization: `Bearer ${kept.token}` }), new Date(Date.now() + days * 86_400_000));
  assert.ok(await long(13));
  assert.ok(await long(26));
  assert.equal(await long(31), null);

  const other = await signedIn(p);
  await db().users.update({ where: { id: p.id }, data: { disabled_at: new Date() } });
  assert.equal((await other.get('/auth/me')).status, 401);
});

test('unknown address, wrong password, no password and disabled account get one answer after the same work', async () => {
  const known = await person();
  const disabled = await person();
  const without = await person();
  await db().users.update({ where: { id: disabled.id }, data: { disabled_at: new Date() } });
  await db().users.update({ where: { id: without.id }, data: { password_hash: null } });
  const tries = [
    { email: known.email, password: 'not the password at all' },
    { email: 'nobody@example.test', password },
    { email: disabled.email, password },
    { email: without.email, password },
  ];
  const answers: ReturnType<typeof bare>[] = [];
  const costs: number[][] = [];
  for (const body of tries) {
    const before = hashCosts.length;
    answers.push(bare(await browser().post('/auth/login', body)));
    costs.push(hashCosts.slice(before));
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
  assert.equal(answers[0]?.body.code, 'invalid_credentials');
  assert.deepEqual(costs, Array(4).fill(hashCosts.slice(0, 1)), 'each costs one hash, like that of a password that is set');
  await backgroundSettled();
});

test('after ten failures the account waits, the right password included, and a success forgives nothing that came before it', async () => {
  const p = await person();
  for (let i = 0; i < 10; i++)
    assert.equal((await browser().post('/auth/login', { email: p.email, password: 'wrong wrong wrong' })).status, 401);
  const locked = await browser().post('/auth/login', { email: p.email, password });
  assert.deepEqual([locked.status, locked.body.code], [429, 'rate_limited']);
  assert.ok(Number(locked.headers.get('retry-after')) >= 1);
  await backgroundSettled();
});

test('strangers who guess at a password lock nobody out of a browser that the account was used from', async () => {
  const [p, other] = [await person(), await person()];
  const [mine, theirs] = [await signedIn(p), await signedIn(other)];
  for (let i = 0; i < 10; i++) await browser().post('/auth/login', { email: p.email, password: 'wrong wrong wrong' });
  assert.equal((await browser().post('/auth/login', { email: p.email, password })).status, 429);
  assert.equal((await theirs.post('/auth/login', { email: p.email, password })).status, 429, 'a browser of another account is a stranger');
  assert.equal((await mine.post('/auth/login', { email: p.email, password })).status, 200);
  for (let i = 0; i < 10; i++) await mine.post('/auth/login', { email: p.email, password: 'wrong wrong wrong' });
  assert.equal((await mine.post('/auth/login', { email: p.email, password })).status, 429, 'it has ten tries of its own, and no more');
  await backgroundSettled();
});

test('ten good sign-ins lock nobody out', async () => {
  const p = await person();
  for (let i = 0; i < 11; i++) await signedIn(p);
});

test('a sign-in is one audit entry per workspace, failures one per account in five minutes', async () => {
  const [a, c] = await Promise.all([workspace(), workspace()]);
  const p = await person({ tenant_id: a.tenant.id }, { tenant_id: c.tenant.id });
  for (let i = 0; i < 3; i++) await browser().post('/auth/login', { email: p.email, password: 'wrong wrong wrong' });
  await backgroundSettled();
  const b = await signedIn(p);
  await b.post('/auth/logout');
  for (const w of [a, c]) {
    const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } });
    assert.deepEqual(
      entries.map((e) => `${e.action} ${e.resource_type} ${e.actor_label}`),
      [`login_failed session ${p.email}`, `login session ${p.email}`, `logout session ${p.email}`],
    );
  }
  assert.equal((await b.get('/auth/me')).status, 401);
});

test('guessing at a mailed code is in the trail of the account it was for, like guessing at a password', async () => {
  const w = await workspace();
  const p = await person({ tenant_id: w.tenant.id });
  for (const email of [p.email, p.email, 'stranger@example.com']) await browser().post('/auth/magic/verify', { email, code: '000000' });
  await backgroundSettled();
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    entries.map((e) => [e.action, e.resource_type, e.actor_label, (e.details as { method?: string }).method]),
    [['login_failed', 'session', p.email, 'code']],
  );
});

test("a change by cookie needs our origin and the session's CSRF token; a Bearer token needs neither", async () => {
  const b = await signedIn(await person());
  const patch = (headers: Sent) => b.call('PATCH', '/auth/me', { full_name: 'Mallory' }, headers);
  const poor: Sent[] = [
    { origin: 'https://evil.test' },
    { origin: null },
    { origin: 'null' },
    { 'x-csrf-token': null },
    { 'x-csrf-token': 'guess' },
    { origin: null, referer: 'https://evil.test/' },
  ];
  for (const headers of poor) assert.equal((await patch(headers)).body.code, 'csrf_failed', JSON.stringify(headers));
  assert.equal((await patch({ origin: null, referer: 'http://localhost:4002/x/test' })).status, 200);
  assert.equal((await patch({ origin: null, 'x-csrf-token': null, cookie: null, authorization: `Bearer ${b.token}` })).status, 200);
  assert.equal(
    (await patch({ origin: 'https://evil.test', 'x-csrf-token': null, authorization: 'Bearer nonsense' })).status,
    401,
    'a bad Bearer never falls back to the cookie',
  );
});

test('of two tabs that edit one profile the later is told what the first saved, and nothing is written', async () => {
  const b = await signedIn(await person());
  type Edit = {
    user: { full_name: string; updated_at: string };
    code?: string;
    current: { full_name: string };
    current_updated_at: string;
  };
  const patch = async (body: object) => {
    const { status, body: answer } = await b.call('PATCH', '/auth/me', body);
    return { status, ...(answer as unknown as Edit) };
  };
  const shown = async () => ((await b.get('/auth/me')).body as unknown as Edit).user;
  const { updated_at: expected_updated_at } = await shown();
  const results = await Promise.all(['Ada', 'Grace'].map((full_name) => patch({ full_name, expected_updated_at })));
  const [won, lost] = [results.find((r) => r.status === 200), results.find((r) => r.status === 409)];
  assert.ok(won && lost, JSON.stringify(results));
  assert.deepEqual([lost.code, lost.current.full_name, lost.current_updated_at], ['conflict', won.user.full_name, won.user.updated_at]);
  assert.equal((await shown()).full_name, won.user.full_name);
  assert.equal((await patch({ full_name: 'Joan', expected_updated_at: lost.current_updated_at })).status, 200);
});

test('a foreign page cannot sign a visitor in', async () => {
  const p = await person();
  const foreign: Sent[] = [
    { origin: 'https://evil.test' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: null, 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of foreign) {
    const answer = await browser().post('/auth/login', { email: p.email, password }, headers);
    assert.deepEqual([answer.body.code, answer.headers.getSetCookie()], ['csrf_failed', []]);
  }
  assert.equal(
    (await browser().post('/auth/login', { email: p.email, password }, { origin: null })).status,
    200,
    'a command line has no origin',
  );
});

test('a mailed code works once, within five tries, and only the newest one; unknown addresses get the same 202', async () => {
  const p = await person();
  const b = browser();
  const started = await b.post('/auth/magic/start', { email: p.email.toUpperCase() });
  assert.deepEqual(
    [started.status, started.body],
    [202, (await browser().post('/auth/magic/start', { email: 'nobody@example.test' })).body],
  );
  await backgroundSettled();
  assert.equal(await db().mails.count({ where: { recipient: 'nobody@example.test' } }), 0);
  const code = await newestCode(p.email);
  assert.match(code, /^\d{6}$/);
  const stored = JSON.stringify(await db().mails.findFirstOrThrow({ where: { recipient: p.email } }), (_, v) =>
    v instanceof Uint8Array ? Buffer.from(v).toString('latin1') : v,
  );
  assert.ok(!stored.includes(code) && !stored.includes('token='), 'a copy of the database signs nobody in');
  const wrong = code === '000000' ? '111111' : '000000';
  for (let i = 0; i < 4; i++)
    assert.equal((await b.post('/auth/magic/verify', { email: p.email, code: wrong })).body.code, 'mfa_code_invalid');
  assert.equal((await b.post('/auth/magic/verify', { email: p.email, code })).status, 200);
  assert.equal((await browser().post('/auth/magic/verify', { email: p.email, code })).status, 401);

  const other = browser();
  await other.post('/auth/magic/start', { email: p.email });
  const second = await newestCode(p.email);
  for (let i = 0; i < 5; i++) await other.post('/auth/magic/verify', { email: p.email, code: wrongOf(second) });
  assert.equal(
    (await other.post('/auth/magic/verify', { email: p.email, code: second })).status,
    401,
    'the sixth try of a code fails even when it is right',
  );
});

const newestCode = async (email: string) => /code: (\d{6})/.exec((await mailsTo(email)).at(-1)?.text ?? '')?.[1] ?? '';
const wrongOf = (code: string) => (code === '000000' ? '111111' : '000000');

test("a stranger's requests and wrong codes stop neither a browser that the account knows nor one that asked for its own code", async () => {
  const p = await person();
  const known = browser();
  assert.equal((await known.post('/auth/login', { email: p.email, password })).status, 200);
  await backgroundSettled();
  const before = (await mailsTo(p.email)).length;
  const codesSent = async () => (await mailsTo(p.email)).length - before;
  for (let network = 0; network < 4; network++) {
    const stranger = browser();
    for (let i = 0; i < 4; i++) await stranger.post('/auth/magic/start', { email: p.email });
    await backgroundSettled();
  }
  assert.equal(await codesSent(), 6, 'strangers have three mails per network and six together');
  await known.post('/auth/magic/start', { email: p.email });
  const code = await newestCode(p.email);
  assert.equal(await codesSent(), 7, 'the known browser has its own budget');

  const elsewhere = browser();
  const neighbour = browser({ ip: known.ip });
  for (const stranger of [elsewhere, neighbour])
    for (let i = 0; i < 6; i++)
      assert.equal((await stranger.post('/auth/magic/verify', { email: p.email, code: wrongOf(code) })).body.code, 'mfa_code_invalid');
  assert.equal(
    (await elsewhere.post('/auth/magic/verify', { email: p.email, code })).status,
    401,
    'not even the right one, from elsewhere',
  );
  assert.equal((await neighbour.post('/auth/magic/verify', { email: p.email, code })).status, 401, 'nor after five tries from its network');
  assert.equal((await known.post('/auth/magic/verify', { email: p.email, code })).status, 200);
});

test('a code still works without cookies in the network that asked for it', async () => {
  const p = await person();
  const ip = '10.251.1.1';
  await browser({ ip }).post('/auth/magic/start', { email: p.email });
  const code = await newestCode(p.email);
  assert.equal((await browser({ ip: '10.251.1.2' }).post('/auth/magic/verify', { email: p.email, code })).status, 401);
  assert.equal((await browser({ ip }).post('/auth/magic/verify', { email: p.email, code })).status, 200);
});

test('unknown browsers have 100 wrong codes a day together, then need the link; a known browser still signs in by code', async () => {
  const p = await person();
  const known = browser();
  assert.equal((await known.post('/auth/login', { email: p.email, password })).status, 200);
  for (let i = 0; i < 100; i++) await browser().post('/auth/magic/verify', { email: p.email, code: '000000' });
  const fresh = browser();
  await fresh.post('/auth/magic/start', { email: p.email });
  const mail = (await mailsTo(p.email)).at(-1);
  const refused = await fresh.post('/auth/magic/verify', { email: p.email, code: await newestCode(p.email) });
  const nobody = await browser().post('/auth/magic/verify', { email: 'nobody@example.test', code: '000000' });
  assert.deepEqual(bare(refused), bare(nobody), 'the answer says nothing about the account');
  await known.post('/auth/magic/start', { email: p.email });
  assert.equal((await known.post('/auth/magic/verify', { email: p.email, code: await newestCode(p.email) })).status, 200);
  const token = /token=([\w-]{43})/.exec(mail?.text ?? '')?.[1];
  assert.equal((await fresh.post('/auth/magic', { token })).status, 200, 'the link of the mail works');
});

test('reset mails that strangers ask for leave the budget of a known browser alone', async () => {
  const p = await person();
  const known = browser();
  assert.equal((await known.post('/auth/login', { email: p.email, password })).status, 200);
  for (let i = 0; i < 8; i++) await browser().post('/auth/password/forgot', { email: p.email });
  const resets = async () => (await mailsTo(p.email)).filter(({ kind }) => kind === 'password_reset').length;
  assert.equal(await resets(), 6);
  await known.post('/auth/password/forgot', { email: p.email });
  assert.equal(await resets(), 7);
});

test('a reset link sets the password once and ends every session; a poor password does not use it up', async () => {
  const p = await person();
  const b = await signedIn(p);
  await browser().post('/auth/password/forgot', { email: p.email });
  await backgroundSettled();
  const mail = (await mailsTo(p.email)).find(({ kind }) => kind === 'password_reset');
  const token = /reset\?token=([\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? '';
  const fresh = 'another harbour entirely';
  assert.match(String((await browser().post('/auth/password/reset', { token, new: 'short' })).body.message), /^new: /);
  assert.equal((await browser().post('/auth/magic', { token })).status, 401, 'a reset link signs nobody in');
  assert.equal((await browser().post('/auth/password/reset', { token, new: fresh })).status, 200);
  assert.equal((await browser().post('/auth/password/reset', { token, new: fresh })).status, 401);
  assert.equal((await b.get('/auth/me')).status, 401);
  assert.equal((await browser().post('/auth/login', { email: p.email, password })).status, 401);
  assert.equal((await browser().post('/auth/login', { email: p.email, password: fresh })).status, 200);
  await backgroundSettled();
});

test('changing the password ends the other sessions and gives this one a new token', async () => {
  const p = await person();
  const [here, there] = [await signedIn(p), await signedIn(p)];
  assert.equal(
    (await here.post('/auth/password/change', { current: 'not the password', new: 'another harbour entirely' })).body.code,
    'invalid_credentials',
  );
  const changed = await here.post('/auth/password/change', { current: password, new: 'another harbour entirely' });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await there.get('/auth/me')).status, 401);
  assert.equal((await here.get('/auth/me')).status, 200);
  assert.equal((await here.get('/auth/me', { authorization: `Bearer ${here.token}` })).status, 401, 'the old token is gone');
  await backgroundSettled();
});

test("a person ends their own sessions and nobody else's", async () => {
  const [p, q] = [await person(), await person()];
  const [here, there, foreign] = [await signedIn(p), await signedIn(p), await signedIn(q)];
  const idOf = async (b: typeof here) =>
    ((await b.get('/auth/sessions')).body as unknown as { sessions: { id: string; current: boolean }[] }).sessions.find((s) => s.current)
      ?.id;
  assert.equal((await here.call('DELETE', `/auth/sessions/${await idOf(foreign)}`)).status, 404);
  assert.equal((await here.call('DELETE', '/auth/sessions/not-a-uuid')).status, 404);
  assert.equal((await here.call('DELETE', `/auth/sessions/${await idOf(there)}`)).status, 200);
  assert.equal((await there.get('/auth/me')).status, 401);
  await signedIn(p);
  const { token: _, ...ended } = (await here.call('DELETE', '/auth/sessions')).body;
  assert.deepEqual(ended, { deleted: true, revoked: 1, apps: 0 });
  assert.equal((await here.get('/auth/me')).status, 200);
  assert.equal((await foreign.get('/auth/me')).status, 200);
});

test('a workspace is reached by its members only, by id or slug; foreign and unknown ones are one answer', async () => {
  const [mine, second, foreign] = await Promise.all([workspace(), workspace(), workspace()]);
  const p = await person({ tenant_id: mine.tenant.id, role: 'viewer' }, { tenant_id: second.tenant.id });
  const b = await signedIn(p);
  const who = await whoIs(b.token);
  const as = (wanted: string | null, space: 'live' | 'test' = 'live') =>
    memberCtx({ person: who, workspace: wanted, space, request_id: crypto.randomUUID(), ip: null, user_agent: null });
  const ctx = await as(mine.tenant.slug.toUpperCase(), 'test');
  assert.deepEqual(
    [ctx.tenant_id, ctx.sandbox, ctx.plan, ctx.actor.type === 'member' && ctx.actor.role],
    [mine.tenant.id, true, 'enterprise', 'viewer'],
  );
  assert.equal(ctx.actor.capabilities.has('route:create'), false);
  assert.equal((await as(second.tenant.id)).actor.capabilities.has('route:create'), true);
  const refusals = await Promise.all(
    [foreign.tenant.slug, foreign.tenant.id, crypto.randomUUID(), 'nowhere'].map((w) =>
      as(w).catch((e: Error & { type: string }) => `${e.type} ${e.message}`),
    ),
  );
  assert.deepEqual(new Set(refusals).size, 1);
  assert.match(String(refusals[0]), /^not_a_member /);
  await assert.rejects(as(null), { type: 'invalid' });
  assert.equal((await b.post('/auth/workspaces/select', { tenant_id: second.tenant.slug })).status, 200);
  const chosen = await whoIs(b.token);
  assert.equal(
    (await memberCtx({ person: chosen, workspace: null, space: 'live', request_id: 'r', ip: null, user_agent: null })).tenant_id,
    second.tenant.id,
  );
  assert.equal((await b.post('/auth/workspaces/select', { tenant_id: foreign.tenant.id })).body.code, 'not_a_member');
  await db().memberships.updateMany({ where: { user_id: p.id, tenant_id: second.tenant.id }, data: { removed_at: new Date() } });
  await assert.rejects(as(second.tenant.slug), { type: 'not_a_member' });
});

test('a session scoped to one workspace touches no other', async () => {
  const [a, c] = await Promise.all([workspace(), workspace()]);
  const p = await person({ tenant_id: a.tenant.id }, { tenant_id: c.tenant.id });
  const b = await signedIn(p, { scope_tenant: a.tenant.slug });
  assert.equal((await b.post('/auth/workspaces/select', { tenant_id: c.tenant.id })).body.code, 'session_scope_mismatch');
  const who = await whoIs(b.token);
  await assert.rejects(memberCtx({ person: who, workspace: c.tenant.id, space: 'live', request_id: 'r', ip: null, user_agent: null }), {
    type: 'session_scope_mismatch',
    message: /scoped to a different tenant/,
  });
  assert.equal(
    (await memberCtx({ person: who, workspace: null, space: 'live', request_id: 'r', ip: null, user_agent: null })).tenant_id,
    a.tenant.id,
  );
  assert.equal((await browser().post('/auth/login', { email: p.email, password, scope_tenant: 'nowhere' })).body.code, 'not_a_member');
});

test('a session scoped to one workspace is led there and sees no other: not in its answers, not in the frame, no company details', async () => {
  const [a, c] = await Promise.all([workspace(), workspace()]);
  const p = await person({ tenant_id: a.tenant.id }, { tenant_id: c.tenant.id, role: 'viewer' });
  const b = browser();
  const login = await b.post('/auth/login', { email: p.email, password, scope_tenant: c.tenant.slug });
  assert.equal(login.body.redirect_to, `/${c.tenant.slug}/test`);
  const answers = [login, await b.load(), await b.get('/auth/workspaces')];
  for (const { text } of answers) {
    assert.ok(text.includes(c.tenant.slug));
    assert.ok(!text.includes(a.tenant.slug) && !text.includes(a.tenant.id), text);
  }
  assert.equal(answers[1]?.body.company, null, 'the workspace joined first is the other one');
  const frame = await frameOf(new Headers({ authorization: `Bearer ${login.body.token}` }));
  assert.deepEqual([frame?.workspaces.map((w) => w.slug), frame?.active], [[c.tenant.slug], c.tenant.slug]);
  const free = await signedIn(p);
  assert.notEqual((await free.get('/auth/me')).body.company, null);
});

test('a workspace whose subscription ended is not built in by way of the account', async () => {
  const w = await workspace({ status: 'paused' });
  const b = await signedIn(await person({ tenant_id: w.tenant.id }));
  assert.equal((await b.post('/auth/starter-key', { tenant_id: w.tenant.id })).body.code, 'subscription_inactive');
  assert.equal((await b.post('/auth/complete-onboarding', { full_name: 'A', tenant_name: 'B' })).body.code, 'subscription_inactive');
  assert.equal(await db().api_keys.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('text the database cannot hold is refused by name on every call of the account, and never stored in part', async () => {
  const b = await signedIn(await person());
  const lone = 'a\ud800b';
  for (const [method, path, body, field] of [
    ['PATCH', '/auth/me', { full_name: lone }, 'full_name'],
    ['POST', '/auth/complete-onboarding', { full_name: 'A', tenant_name: lone }, 'tenant_name'],
    ['POST', '/auth/complete-onboarding', { full_name: 'A', tenant_name: 'B', use_case: 'x\0y' }, 'use_case'],
    ['POST', '/auth/signup', { email: 'new@example.test', password, tenant_name: lone }, 'tenant_name'],
  ] as const) {
    const answer = await b.call(method, path, body);
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid'], answer.text);
    assert.match(String(answer.body.message), new RegExp(`^${field}: must not contain NUL or invalid Unicode`));
  }
});

test('company details are refused by role before factor, and a refusal saves nothing, profile fields included', async () => {
  const [first, second] = await Promise.all([workspace(), workspace()]);
  for (const [role, code] of [
    ['owner', 'mfa_required'],
    ['admin', 'mfa_required'],
    ['editor', 'role_denied'],
    ['viewer', 'role_denied'],
    ['member', 'role_denied'],
  ] as const) {
    const p = await person({ tenant_id: first.tenant.id, role }, { tenant_id: second.tenant.id, role: 'owner' });
    const b = await signedIn(p);
    await b.post('/auth/workspaces/select', { tenant_id: second.tenant.id });
    for (const field of ['country', 'address', 'city', 'postal_code', 'tax_id_type', 'tax_id_value']) {
      const answer = await b.call('PATCH', '/auth/me', { full_name: 'Changed', [field]: null });
      assert.deepEqual([answer.status, answer.body.code], [403, code], `${role} ${field}`);
      if (code === 'mfa_required') assert.equal(answer.body.enroll_url, 'http://localhost:4002/me/security');
    }
    assert.equal((await db().users.findUniqueOrThrow({ where: { id: p.id } })).full_name, 'P');
    const ok = await b.call('PATCH', '/auth/me', { full_name: 'Changed', timezone: 'Europe/Berlin', locale: 'de-DE' });
    assert.equal(ok.status, 200);
    assert.equal((ok.body as unknown as { user: { timezone: string } }).user.timezone, 'Europe/Berlin');
  }
  const alone = await signedIn(await person());
  assert.equal((await alone.call('PATCH', '/auth/me', { country: 'DE' })).body.code, 'role_denied');
  assert.equal((await alone.call('PATCH', '/auth/me', {})).body.code, 'invalid');
  assert.equal((await alone.call('PATCH', '/auth/me', { timezone: 'Mars/Olympus' })).body.code, 'invalid');
});

test('onboarding makes the one own workspace, and later only names it', async () => {
  const guest = await workspace();
  const p = await person({ tenant_id: guest.tenant.id, role: 'viewer' });
  const b = await signedIn(p);
  const body = { full_name: 'Ada', tenant_name: 'Analytical Engines', country: 'GB' };
  const twice = await Promise.all([b.post('/auth/complete-onboarding', body), b.post('/auth/complete-onboarding', body)]);
  assert.deepEqual(
    twice.map((t) => t.status),
    [200, 200],
    twice[0].text,
  );
  const made = twice.map((t) => (t.body as unknown as { workspace: { id: string; slug: string; region: string; role: string } }).workspace);
  assert.equal(made[0]?.id, made[1]?.id);
  assert.deepEqual([made[0]?.slug, made[0]?.region, made[0]?.role], ['analytical-engines', 'eu', 'owner']);
  assert.equal(await db().routes.count({ where: { tenant_id: made[0]?.id ?? '', slug: 'echo', sandbox: true } }), 1);
  assert.equal((await b.post('/auth/complete-onboarding', { ...body, tenant_slug: 'elsewhere' })).body.code, 'invalid');
  await b.post('/auth/complete-onboarding', { ...body, full_name: 'Ada L' });
  const renamed = await db().audit_logs.findMany({
    where: { tenant_id: made[0]?.id ?? '', action: 'update', resource_type: 'user' },
    orderBy: { seq: 'asc' },
  });
  const changes = renamed.map((e) => (e.details as { changes?: object }).changes);
  assert.deepEqual(changes.at(-1), [{ field: 'full_name', from: 'Ada', to: 'Ada L' }]);
  const scoped = await signedIn(p, { scope_tenant: guest.tenant.slug });
  assert.equal((await scoped.post('/auth/complete-onboarding', body)).body.code, 'session_scope_mismatch');
  assert.equal((await b.post('/auth/starter-key', { tenant_id: guest.tenant.id })).body.code, 'role_denied');
});

test("a new browser is told to the account's owner, the first and a known one are not", async () => {
  const p = await person();
  const notices = async () => {
    await backgroundSettled();
    return db().mails.count({ where: { recipient: p.email, kind: 'new_sign_in' } });
  };
  const login = (b: ReturnType<typeof browser>) => b.post('/auth/login', { email: p.email, password });
  const home = browser({ ip: '192.0.2.7', user_agent: 'laptop' });
  await login(home);
  await login(home);
  const device = home.jar.get('svc_device');
  assert.match(device ?? '', /^[A-Za-z0-9_-]{43}$/);
  assert.equal(await notices(), 0);
  await login(browser({ ip: '192.0.2.7', user_agent: 'laptop' }));
  assert.equal(await notices(), 0, 'a program without cookies is known by name and network together');

  const abroad = browser({ ip: '198.51.100.9', user_agent: 'laptop, updated' });
  abroad.jar.set('svc_device', device ?? '');
  await login(abroad);
  assert.equal(await notices(), 0, 'the cookie knows the browser under another name and in another network');

  await login(browser({ ip: '203.0.113.5', user_agent: 'laptop' }));
  assert.equal(await notices(), 1, 'a copied name from elsewhere is a new browser');
  await login(browser({ ip: '192.0.2.7', user_agent: 'phone' }));
  assert.equal(await notices(), 2);
  const forged = browser({ ip: '203.0.113.6', user_agent: 'x' });
  forged.jar.set('svc_device', 'A'.repeat(43));
  await login(forged);
  assert.equal(await notices(), 3);
  const mail = await db().mails.findFirstOrThrow({ where: { recipient: p.email, kind: 'new_sign_in' } });
  assert.match(mail.text, /\/me\/sessions/);
  const rows = await db().$queryRaw<{ n: bigint }[]>`select count(*) as n from sessions s where s::text like ${`%${device}%`}`;
  assert.equal(rows[0]?.n, 0n, 'the cookie itself is stored nowhere');
});

test("a country the account was not used from before is told to its owner, also when the browser is known, with the address's place", async () => {
  const p = await person();
  const b = browser({ ip: '81.1.1.1', user_agent: 'laptop' });
  const notices = async (ip: string) => {
    const from = browser({ ip, user_agent: 'laptop' });
    for (const [name, value] of b.jar) from.jar.set(name, value);
    from.jar.delete('svc_session');
    const answer = await from.post('/auth/login', { email: p.email, password });
    assert.equal(answer.status, 200, answer.text);
    await backgroundSettled();
    return db().mails.findMany({ where: { recipient: p.email, kind: 'new_sign_in' }, orderBy: { created_at: 'asc' } });
  };
  await b.post('/auth/login', { email: p.email, password });
  assert.ok(b.jar.has('svc_device'));
  for (const same of ['81.9.9.9', '::ffff:81.2.2.2', '2001:db8::9', '10.0.0.7', '198.51.100.1'])
    assert.equal((await notices(same)).length, 0, `${same}: one country, or none that is known`);
  const [mail, ...others] = await notices('82.0.0.1');
  assert.equal(others.length, 0);
  assert.match(mail?.text ?? '', /signed in to your account from a new country: Spain\.[\s\S]*IP address: 82\.0\.0\.1 · Spain/);
  assert.ok(!mail?.text.includes('browser we have not seen'));
  assert.equal((await notices('82.3.3.3')).length, 1, 'told once');
  const { sessions } = (await (await signedIn(p)).get('/auth/sessions')).body as unknown as {
    sessions: { ip: string; ip_country: string }[];
  };
  assert.deepEqual(
    [sessions.find(({ ip }) => ip === '82.3.3.3')?.ip_country, sessions.find(({ ip }) => ip === '10.0.0.7')?.ip_country],
    ['ES', null],
  );
  await backgroundSettled();
});

test("a device cookie of another account's browser says nothing about this one", async () => {
  const [p, other] = [await person(), await person()];
  const shared = browser({ user_agent: 'kiosk' });
  await shared.post('/auth/login', { email: other.email, password });
  await browser({ user_agent: 'home' }).post('/auth/login', { email: p.email, password });
  await shared.post('/auth/login', { email: p.email, password });
  await backgroundSettled();
  assert.equal(await db().mails.count({ where: { recipient: p.email, kind: 'new_sign_in' } }), 1);
});

test('a sign-in after so long that no earlier session is remembered is told', async () => {
  const p = await person();
  await db().users.update({ where: { id: p.id }, data: { created_at: new Date(Date.now() - 90 * 24 * 3_600_000) } });
  await signedIn(p);
  await backgroundSettled();
  assert.equal(await db().mails.count({ where: { recipient: p.email, kind: 'new_sign_in' } }), 1);
});

test('tokens of other kinds and forged cookies are nobody', async () => {
  const p = await person();
  const b = await signedIn(p);
  for (const authorization of [
    `Bearer ${mintToken('session').token}`,
    `Bearer ${mintToken('scim').token}`,
    `Bearer ${b.token.slice(0, -1)}`,
    `Basic ${btoa(`x:${b.token}`)}`,
    'Bearer',
  ])
    assert.equal((await b.get('/auth/me', { authorization })).status, 401, authorization.slice(0, 12));
  for (const value of [b.token, '', 'a.b.c.d.e', 'x'.repeat(5000)])
    assert.equal((await browser().get('/auth/me', { cookie: `svc_session=${value}` })).status, 401);
  const rows = await db().$queryRaw<{ n: bigint }[]>`select count(*) as n from sessions s where s::text like ${`%${b.token}%`}`;
  assert.equal(rows[0]?.n, 0n, 'the token itself is stored nowhere');
});

test("answers carry one request id, are never cached, and unknown paths, methods and bodies have the plane's error shape", async () => {
  const b = browser();
  for (const [method, path, body, status, code] of [
    ['GET', '/auth/nothing', undefined, 404, 'not_found'],
    ['PUT', '/auth/login', '{}', 405, 'method_not_allowed'],
    ['POST', '/auth/login', '{', 400, 'invalid'],
    ['POST', '/auth/login', '[]', 400, 'invalid'],
    ['POST', '/auth/login', `{"email":"${'a'.repeat(300_000)}"}`, 413, 'payload_too_large'],
    ['GET', '/auth/me', undefined, 401, 'not_authenticated'],
  ] as const) {
    const answer = await b.call(method, path, body);
    assert.deepEqual([answer.status, answer.body.code, answer.body.error], [status, code, code], `${method} ${path}`);
    assert.deepEqual(Object.keys(answer.body), ['error', 'code', 'message', 'request_id']);
    assert.equal(answer.headers.get('x-request-id'), answer.body.request_id as unknown as string);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
});
