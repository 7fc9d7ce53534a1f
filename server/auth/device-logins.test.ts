import assert from 'node:assert/strict';
import test from 'node:test';
import { digest } from '#server/crypto/tokens.ts';
import { GRANTS } from '#server/domain/oauth-grants/client.ts';
import { post } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { browser } from '#server/testing/people.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { devicePageState } from './consent-pages.ts';
import { activation, headersOf, issuer, member, sent, set } from './logins.fixture.ts';

await testDatabase();

let subnet = 0;
const newIp = () => `10.77.${++subnet}.9`;
const start = (form: Record<string, string>, ip = newIp()) => post('/oauth/device_authorization', form, { ip });
const poll = (client_id: string, device_code: string) => post('/oauth/token', { grant_type: GRANTS.device_code, device_code, client_id });
const rowOf = (device_code: string) => ({ digest: new Uint8Array(digest(device_code)) });
/** As if so many seconds had passed since the last poll. */
const wait = (device_code: string, seconds: number) =>
  db()
    .$executeRaw`update oauth_device_codes set last_polled_at = last_polled_at - make_interval(secs => ${seconds}) where digest = ${rowOf(device_code).digest}`;

type Browser = ReturnType<typeof browser>;
const pageOf = (b: Browser, handle: string, code: string | null = null) => devicePageState(headersOf(b), handle, { workspace: null, code });
const decide = (b: Browser, handle: string, fields: Record<string, string>) => sent(b, `/auth/oauth/device/${handle}`, fields);

/** A device that waits, and the page of its person. */
async function waiting(form: Record<string, string> = {}) {
  const { who, client } = await set();
  const { body } = await start({ client_id: client.client_id, ...form });
  const { handle, location } = await (await activation(newIp())).enter(body.user_code);
  return { who, client, body, handle, location };
}

test('a device gets its tokens once its person has compared the code and approved', async () => {
  const { who, client, body, location } = await waiting({ scope: 'routes:read' });
  assert.match(body.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.deepEqual(
    [body.verification_uri, body.verification_uri_complete, body.expires_in, body.interval],
    [`${issuer()}/oauth/activate`, `${issuer()}/oauth/activate?user_code=${body.user_code}`, 900, 5],
  );
  assert.equal((await poll(client.client_id, body.device_code)).body.error, 'authorization_pending');
  const { handle } = await (await activation(newIp())).enter(body.user_code.toLowerCase().replace('-', ' - '));
  assert.ok(location.startsWith(`${env.PUBLIC_ADMIN_URL}/oauth/device/`));
  assert.equal((await pageOf(browser(), handle)).state, 'sign_in');
  const page = await pageOf(who.b, handle, body.user_code);
  assert.ok(page.state === 'ask');
  assert.deepEqual(
    [page.view.user_code, page.view.app.name, page.view.offer?.scopes.map(({ name }) => name)],
    [body.user_code, 'Robot', ['routes:read']],
  );
  assert.ok(page.view.device.ip?.startsWith('10.77.'));
  assert.equal(await decide(who.b, handle, { decision: 'allow' }), '/oauth/device/approved');
  const polls = await Promise.all(Array.from({ length: 6 }, () => poll(client.client_id, body.device_code)));
  const won = polls.filter(({ status }) => status === 200);
  assert.equal(won.length, 1, JSON.stringify(polls.map((one) => one.body)));
  assert.deepEqual([won[0]?.body.scope, won[0]?.body.tenant], ['routes:read', who.w.tenant.slug]);
  for (const lost of polls.filter(({ status }) => status !== 200)) assert.equal(lost.body.error, 'invalid_grant');
  assert.equal(await db().audit_logs.count({ where: { tenant_id: who.w.tenant.id, resource_type: 'oauth_grant', action: 'create' } }), 1);
});

test('a device that asks too often is told to slow down by five seconds more each time', async () => {
  const { client, body } = await waiting();
  const asked = async () => (await poll(client.client_id, body.device_code)).body.error;
  assert.equal(await asked(), 'authorization_pending');
  assert.equal(await asked(), 'slow_down');
  await wait(body.device_code, 6);
  assert.equal(await asked(), 'slow_down'); // ten seconds by now
  await wait(body.device_code, 16);
  assert.equal(await asked(), 'authorization_pending');
  assert.equal((await db().oauth_device_codes.findUniqueOrThrow({ where: rowOf(body.device_code) })).interval_sec, 15);
});

test('what is denied, expired, foreign or unknown is answered so', async () => {
  const denied = await waiting();
  await pageOf(denied.who.b, denied.handle);
  assert.equal(await decide(denied.who.b, denied.handle, { decision: 'deny' }), '/oauth/device/denied');
  assert.equal((await poll(denied.client.client_id, denied.body.device_code)).body.error, 'access_denied');
  const late = await waiting();
  await db().oauth_device_codes.update({ where: rowOf(late.body.device_code), data: { expires_at: new Date() } });
  assert.equal((await poll(late.client.client_id, late.body.device_code)).body.error, 'expired_token');
  assert.equal((await pageOf(late.who.b, late.handle)).state, 'over');
  const other = await set();
  for (const [client_id, code] of [
    [other.client.client_id, late.body.device_code],
    [other.client.client_id, `svcd_${'A'.repeat(49)}`],
    ['service-cli', late.body.device_code],
  ] as const)
    assert.equal((await poll(client_id, code)).body.error, 'invalid_grant', client_id);
  const { client } = await set({ grants: [GRANTS.authorization_code] });
  assert.equal((await start({ client_id: client.client_id })).body.error, 'unauthorized_client');
  assert.deepEqual(
    [(await start({ client_id: 'nobody' })).status, (await start({ client_id: 'nobody' })).body.error],
    [401, 'invalid_client'],
  );
  assert.equal((await start({ client_id: other.client.client_id, scope: 'no:such' })).body.error, 'invalid_scope');
});

test('one decision counts, of the session that opened the page, in a workspace that it may act in', async () => {
  const { who, body, client, handle } = await waiting();
  await pageOf(who.b, handle);
  const other = await member(who, 'admin');
  assert.equal((await pageOf(other.b, handle)).state, 'over');
  assert.match(await decide(other.b, handle, { decision: 'allow' }), /problem=not_found/);
  const places = await Promise.all(Array.from({ length: 6 }, () => decide(who.b, handle, { decision: 'allow' })));
  assert.equal(places.filter((place) => place === '/oauth/device/approved').length, 1, places.join());
  await db().memberships.updateMany({ where: { user_id: who.id }, data: { removed_at: new Date() } });
  assert.equal((await poll(client.client_id, body.device_code)).body.error, 'invalid_grant');
  const scoped = await waiting();
  await db().sessions.updateMany({ where: { user_id: scoped.who.id }, data: { scope_tenant_id: who.w.tenant.id } });
  const page = await pageOf(scoped.who.b, scoped.handle);
  assert.ok(page.state === 'ask' && page.view.problem?.includes('different tenant'), JSON.stringify(page));
});

test('the command line needs no client of its own: the workspace is that of whoever approves', async () => {
  const { who } = await set();
  const { body } = await start({ client_id: 'service-cli', scope: 'routes:read' });
  assert.equal((await poll('service-cli', body.device_code)).body.error, 'authorization_pending');
  const { handle } = await (await activation(newIp())).enter(body.user_code);
  await pageOf(who.b, handle);
  await decide(who.b, handle, { decision: 'allow', workspace: who.w.tenant.slug });
  const tokens = await poll('service-cli', body.device_code);
  assert.equal(tokens.status, 200, tokens.text);
  assert.match(tokens.body.client_id, /^svc_cli_/);
});

test('a code is entered by its own page only, ten wrong ones and then no more', async (t) => {
  stillClock(t);
  const ip = newIp();
  const page = await activation(ip);
  assert.match(page.html, /value="BCDF-GHJK"/); // filled in, not sent
  assert.match(page.policy, new RegExp(`form-action 'self' ${new URL(env.PUBLIC_ADMIN_URL).origin}`));
  const { body } = await waiting();
  const foreign: { csrf?: string; headers?: Record<string, string> }[] = [
    { csrf: 'x' },
    { headers: { origin: 'https://evil.example' } },
    { headers: { 'sec-fetch-site': 'cross-site' } },
    { headers: { cookie: '' } },
  ];
  for (const change of foreign)
    assert.equal((await (await activation(newIp(), change)).enter(body.user_code)).status, 403, JSON.stringify(change));
  for (let i = 0; i < 10; i++) {
    const wrong = await page.enter(i % 2 ? 'BBBB-BBBB' : '<script>');
    assert.deepEqual([wrong.status, wrong.location], [200, '']);
    assert.doesNotMatch(wrong.text, /<script>/);
  }
  assert.equal((await page.enter(body.user_code)).status, 429);
  assert.equal((await (await activation(ip)).enter(body.user_code)).status, 429);
});
