import assert from 'node:assert/strict';
import test from 'node:test';
import { isMailToken } from '#server/crypto/tokens.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { isOnThisMachine } from '#server/platform/local-caller.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { browser } from '#server/testing/people.ts';
import { hashCosts, quickPasswords } from '#server/testing/quick-passwords.ts';

await testDatabase({ SIGNUPS_PER_HOUR: '10000' });
quickPasswords();

const password = 'a quiet harbour at dusk';
const person = (name: string) => ({ email: `${name}@example.test`, password, tenant_name: `${name} works`, full_name: name });

/** The newest mail to an address, and the token of its link. */
async function mailTo(address: string) {
  const mail = (await mailsTo(address)).at(-1);
  return { mail, token: tokenIn(mail?.text ?? '') };
}
const tokenIn = (text: string) => /\/auth\/magic\?token=([\w-]{43})/.exec(text)?.[1] ?? '';

test('on a fresh installation without mail the first person is in at once, in a workspace with an echo route, a sample secret and, once, a test key', async () => {
  const b = browser();
  const first = await b.post('/auth/signup', person('first'));
  assert.equal(first.status, 200, first.text);
  assert.equal(first.body.redirect_to, '/first-works/test');
  assert.match(first.headers.get('set-cookie') ?? '', /^svc_session=.*HttpOnly; SameSite=Lax/);

  const me = await b.load();
  assert.equal((me.body as unknown as { active_workspace: { role: string } }).active_workspace.role, 'owner');
  const tenant = await db().tenants.findUniqueOrThrow({ where: { slug: 'first-works' } });
  const config = await db().route_environment_configs.findFirstOrThrow({ where: { tenant_id: tenant.id }, include: { route: true } });
  assert.deepEqual(
    [config.route.slug, config.sandbox, config.is_base, config.target_base_url],
    ['echo', true, true, 'http://echo.sallyport.internal'],
  );
  assert.deepEqual(config.inject_headers_json, { 'X-Demo-Key': '{{secret:SAMPLE_API_KEY}}' });

  const value = await db().secret_values.findFirstOrThrow({ where: { tenant_id: tenant.id } });
  assert.ok(value.value_ct && value.cek_wrapped);
  const plain = await keyring().openValue(
    { tenant_id: tenant.id, space: 'test', purpose: 'secret_value', row_id: value.id },
    { value_ct: value.value_ct, cek_wrapped: value.cek_wrapped, tmk_version: value.tmk_version },
  );
  assert.match(plain.toString(), /^sample_[0-9A-Za-z]{32}$/);
  assert.equal(await db().environments.count({ where: { tenant_id: tenant.id, name: 'production' } }), 2);

  const keys = await Promise.all([b.post('/auth/starter-key'), b.post('/auth/starter-key')]);
  assert.deepEqual(keys.map((k) => k.status).sort(), [200, 409], 'shown once, whoever asks twice');
  const key = keys.find((k) => k.status === 200);
  assert.ok(key);
  assert.match(String(key.body.api_key), /^tk_test_/);
  assert.match(String(key.body.curl), /sandbox-first-works\/echo/);
  assert.equal(key.headers.get('x-sallyport-changed'), `${tenant.id}:test`);

  const actions = (await db().audit_logs.findMany({ where: { tenant_id: tenant.id }, orderBy: { seq: 'asc' } })).map(
    (a) => `${a.action} ${a.resource_type} ${a.sandbox}`,
  );
  for (const entry of [
    'create tenant false',
    'create user false',
    'create member false',
    'create secret true',
    'create route true',
    'login session false',
    'create api_key true',
  ])
    assert.ok(actions.includes(entry), entry);
});

test('the second person of such an installation confirms by mail first, and nothing of theirs exists before', async () => {
  const b = browser();
  const answer = await b.post('/auth/signup', person('second'));
  assert.equal(answer.status, 202, answer.text);
  assert.equal(b.jar.has('svc_session'), false);
  assert.equal(await db().users.count({ where: { email: 'second@example.test' } }), 0);
  const { mail, token } = await mailTo('second@example.test');
  assert.equal(mail?.kind, 'signup');
  assert.ok(isMailToken(token));

  const looked = await b.get(`/auth/magic?token=${token}`);
  assert.equal(looked.status, 200);
  assert.match(looked.text, /<button autofocus>Confirm and open the workspace/);
  assert.doesNotMatch(looked.text, /type="password"/, 'this browser typed the password already');
  assert.equal(await db().users.count({ where: { email: 'second@example.test' } }), 0, 'looking creates nothing: mail scanners look');

  const used = await b.call('POST', '/auth/magic', `token=${token}`, {
    'content-type': 'application/x-www-form-urlencoded',
    origin: 'null',
    'sec-fetch-site': 'same-origin',
  });
  assert.equal(used.status, 303);
  assert.equal(used.headers.get('location'), '/second-works/test');
  assert.ok(b.jar.has('svc_session'));
  assert.equal(
    (await browser().post('/auth/login', { email: 'second@example.test', password })).status,
    200,
    'the password of the form works',
  );
  assert.ok((await db().users.findUniqueOrThrow({ where: { email: 'second@example.test' } })).email_verified_at);

  const again = await browser().post('/auth/magic', { token });
  assert.deepEqual([again.status, again.body.code], [401, 'mfa_code_invalid'], 'a link works once');
});

test('a stranger who signs up with my address does not know the password of the account I confirm', async () => {
  await browser().post('/auth/signup', { ...person('victim'), password: 'the stranger chose this one' });
  const { token } = await mailTo('victim@example.test');
  const mine = browser();
  assert.match((await mine.get(`/auth/magic?token=${token}`)).text, /type="password"/);
  assert.equal((await mine.post('/auth/magic', { token, password: 'a guess that is long enough' })).body.code, 'invalid_credentials');
  assert.equal((await mine.post('/auth/magic', { token })).status, 200);
  assert.equal(
    (await browser().post('/auth/login', { email: 'victim@example.test', password: 'the stranger chose this one' })).status,
    401,
  );
});

test('on another device the password is kept by whoever knows it', async () => {
  await browser().post('/auth/signup', person('mobile'));
  const { token } = await mailTo('mobile@example.test');
  assert.equal((await browser().post('/auth/magic/verify', { token, password })).status, 200);
  assert.equal((await browser().post('/auth/login', { email: 'mobile@example.test', password })).status, 200);
});

test('signing up with a known address says and stores nothing about it, and mails a sign-in link that makes no second account', async () => {
  const known = await browser().post('/auth/signup', { ...person('second'), tenant_name: 'Another' });
  const fresh = await browser().post('/auth/signup', person('nobody'));
  assert.deepEqual([known.status, known.body], [fresh.status, fresh.body]);
  const { mail, token } = await mailTo('second@example.test');
  assert.equal(mail?.kind, 'sign_in');
  assert.equal((await browser().post('/auth/magic', { token })).status, 200);
  assert.equal(await db().tenants.count({ where: { name: 'Another' } }), 0);
});

test('two links of one new address used at once make one account and sign in twice', async () => {
  for (let n = 0; n < 2; n++) await browser().post('/auth/signup', person('twice'));
  const links = (await mailsTo('twice@example.test')).map(({ text }) => tokenIn(text));
  assert.equal(new Set(links).size, 2);
  const used = await Promise.all(links.map((token) => browser().post('/auth/magic', { token })));
  assert.deepEqual(
    used.map((u) => u.status),
    [200, 200],
  );
  assert.equal(await db().memberships.count({ where: { user: { email: 'twice@example.test' } } }), 1);
});

test('a poor password, a throw-away address and a reserved slug are refused by name', async () => {
  for (const [change, field] of [
    [{ password: 'short' }, 'password'],
    [{ password: 'password123456' }, 'password'],
    [{ email: 'x@sub.mailinator.com' }, 'email'],
    [{ email: 'no address' }, 'email'],
    [{ tenant_slug: 'admin' }, 'tenant_slug'],
    [{ tenant_slug: 'sandbox-x' }, 'tenant_slug'],
    [{ country: 'Germany' }, 'country'],
  ] as const) {
    const answer = await browser().post('/auth/signup', { ...person('poor'), ...change });
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid'], JSON.stringify(change));
    assert.match(String(answer.body.message), new RegExp(`^${field}: `));
  }
});

test('the fourth sign-up of an hour from one network is refused with the seconds to wait', async () => {
  const b = browser({ ip: '2001:db8:7:7::1' });
  for (const n of [1, 2, 3]) assert.equal((await b.post('/auth/signup', person(`rate${n}`))).status, 202);
  const refused = await browser({ ip: '2001:db8:7:7:ffff::9' }).post('/auth/signup', person('rate4'));
  assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited']);
  assert.ok(Number(refused.headers.get('retry-after')) > 3000);
  await backgroundSettled();
});

test('a person at the machine of a local installation signs up as often as they like; a caller through a tunnel does not', async () => {
  for (let n = 0; n < 25; n++) assert.equal((await browser({ ip: '127.0.0.1' }).post('/auth/signup', person(`local${n}`))).status, 202);
  const tunnelled = (n: number) => browser({ ip: '127.0.0.1' }).post('/auth/signup', person(`tunnel${n}`), { 'x-sallyport-relayed': '1' });
  for (const n of [1, 2, 3]) assert.equal((await tunnelled(n)).status, 202);
  const refused = await tunnelled(4);
  assert.equal(refused.status, 429);
  assert.match(String(refused.body.message), /^Too many attempts\. Try again in about \d+ minutes\.$/);
  assert.equal((await browser({ ip: '127.0.0.1' }).post('/auth/signup', person('again'))).status, 202, 'which does not count against them');
  await backgroundSettled();
});

test('only a direct call from a loopback address to a loopback name is a person at this machine', () => {
  const here = { host: 'localhost:4002', relayed: false, ip: '127.0.0.1' };
  assert.ok(isOnThisMachine(here) && isOnThisMachine({ ...here, host: '[::1]:4002', ip: '::1' }));
  for (const other of [
    { host: 'rebound.example.test' },
    { host: 'localhost.example.test' },
    { relayed: true },
    { ip: '203.0.113.7' },
    { ip: null },
  ])
    assert.ok(!isOnThisMachine({ ...here, ...other }), JSON.stringify(other));
});

test('nobody has passwords hashed without end: from the twenty-first try of an hour on, a sign-up costs a look at a counter', async () => {
  const b = browser();
  const tries = (n: number) => Promise.all(Array.from({ length: n }, (_, i) => b.post('/auth/signup', person(`many-${i}`))));
  await tries(20);
  const hashed = hashCosts.length;
  assert.ok(hashed > 0);
  const refused = await tries(20);
  assert.equal(hashCosts.length, hashed);
  for (const { status, body } of refused) assert.deepEqual([status, body.code], [429, 'rate_limited']);
});

test('a fourth mail of a day to one address is silently not sent', async () => {
  for (let n = 0; n < 4; n++) assert.equal((await browser().post('/auth/signup', person('flood'))).status, 202);
  await backgroundSettled();
  assert.equal(await db().mails.count({ where: { recipient: 'flood@example.test' } }), 3);
});

test('the local mailbox is open on this machine only, by its own name, and never where mail leaves', async () => {
  const local = browser({ ip: '127.0.0.1' });
  const page = await local.get('/auth/mailbox');
  assert.equal(page.status, 200);
  assert.ok((page.body as unknown as { mails: { recipient: string }[] }).mails.some((m) => m.recipient === 'second@example.test'));
  assert.equal((await browser({ ip: '192.0.2.1' }).get('/auth/mailbox')).status, 404);
  assert.equal((await local.get('/auth/mailbox', { host: 'rebound.example.test:4002' })).status, 404);
  assert.equal((await local.get('/auth/mailbox', { 'x-sallyport-front': 'forged' })).status, 404);
  assert.equal((await local.get('/auth/mailbox', { 'x-sallyport-relayed': '1' })).status, 404, 'through a tunnel that rewrites the Host');
});
