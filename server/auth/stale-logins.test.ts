import assert from 'node:assert/strict';
import test from 'node:test';
import { digest } from '#server/crypto/tokens.ts';
import { GRANTS } from '#server/domain/oauth-grants/client.ts';
import type { Space } from '#server/kernel/context.ts';
import { post } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { enrolled, verified } from '#server/testing/step-up.ts';
import { createTestPerson, type TestPerson } from '#server/testing/test-person.ts';
import { devicePageState } from './consent-pages.ts';
import { activation, answerIn, decide, headersOf, opened, pageOf, redeem, sent, set } from './logins.fixture.ts';

await testDatabase();

const HOUR = 3_600_000;
const LOOPBACK = 'http://127.0.0.1:4444/callback';

/** The session as if the person had signed in so long ago, with their second factor or without. */
const signedIn = ({ id }: TestPerson, { hours, mfa = false }: { hours: number; mfa?: boolean }) => {
  const created_at = new Date(Date.now() - hours * HOUR);
  return db().sessions.updateMany({ where: { user_id: id }, data: { created_at, mfa_at: mfa ? created_at : null } });
};

/** The two ways in which service-cli asks, up to the page and the form of the person. */
const WAYS = {
  browser: async ({ b }: TestPerson, space: Space, more: Record<string, string> = {}) => {
    const { handle } = await opened({ client_id: 'service-cli', redirect_uri: LOOPBACK, ...more }, 'GET', space);
    return {
      page: () => pageOf(b, handle),
      send: (decision: string) => decide(b, handle, { decision }),
      tokens: async (location: string) =>
        (await redeem('service-cli', String(answerIn(location).code), { redirect_uri: LOOPBACK })).body as Tokens,
    };
  },
  device: async ({ b }: TestPerson, space: Space, more: Record<string, string> = {}) => {
    const ip = `10.78.${++subnet}.9`;
    const { body } = await post('/oauth/device_authorization', { client_id: 'service-cli', ...more }, { ip, space });
    const { handle } = await (await activation(ip)).enter(body.user_code);
    return {
      page: () => devicePageState(headersOf(b), handle, { workspace: null, code: null }),
      send: (decision: string) => sent(b, `/auth/oauth/device/${handle}`, { decision }),
      tokens: async () =>
        (await post('/oauth/token', { grant_type: GRANTS.device_code, device_code: body.device_code, client_id: 'service-cli' }))
          .body as Tokens,
    };
  },
};
let subnet = 0;
type Tokens = { access_token: string; refresh_token: string; client_id: string };

const familyOf = async ({ access_token }: Tokens) => {
  const row = await db().oauth_access.findUniqueOrThrow({ where: { digest: new Uint8Array(digest(access_token)) } });
  return db().oauth_families.findUniqueOrThrow({ where: { id: String(row.family_id) } });
};
const grantsOf = ({ w }: TestPerson) =>
  db().audit_logs.count({ where: { tenant_id: w.tenant.id, resource_type: 'oauth_grant', action: 'create' } });

for (const [name, begin] of Object.entries(WAYS))
  for (const space of ['live', 'test'] as const) {
    test(`${name}, ${space}: an Owner's session of 5 days gives no login until they sign in again`, async () => {
      const who = await createTestPerson({ signedIn: true });
      await signedIn(who, { hours: 5 * 24 });
      const login = await begin(who, space);
      const page = await login.page();
      assert.ok(page.state === 'ask' && page.view.proof === 'sign_in', JSON.stringify(page));
      assert.match(await login.send('allow'), /problem=step_up_required/);
      assert.deepEqual([await grantsOf(who), await db().oauth_codes.count({ where: { user_id: who.id } })], [0, 0]);
      assert.match(await login.send('switch'), /^\/signin\?next=%2Foauth%2F(?:consent|device)%2F/);
      await who.signIn(who.b);
      const again = await login.page();
      assert.ok(again.state === 'ask' && again.view.proof === 'none');
      const family = await familyOf(await login.tokens(await login.send('allow')));
      assert.deepEqual([family.user_id, family.step_up_at, family.sandbox], [who.id, null, space === 'test']);
    });

    test(`${name}, ${space}: the word of an identity provider is not the second factor of the account`, async () => {
      const who = await createTestPerson({ signedIn: true });
      await enrolled(who.id);
      await signedIn(who, { hours: 0, mfa: true });
      const vouched = { auth_methods: ['sso'], scope_tenant_id: who.w.tenant.id, active_tenant_id: who.w.tenant.id };
      await db().sessions.updateMany({ where: { user_id: who.id }, data: vouched });
      const login = await begin(who, space);
      const page = await login.page();
      assert.ok(page.state === 'ask' && page.view.proof === 'confirm', JSON.stringify(page));
      assert.match(await login.send('allow'), /problem=step_up_required/);
      assert.equal(await grantsOf(who), 0);
      await verified(await who.who(), 'oauth.consent');
      assert.doesNotMatch(await login.send('allow'), /problem=/);
    });

    test(`${name}, ${space}: with a second factor, a sign-in that used it within 12 hours or the factor now`, async () => {
      const who = await createTestPerson({ signedIn: true });
      await enrolled(who.id);
      for (const { hours, mfa } of [
        { hours: 5 * 24, mfa: true },
        { hours: 13, mfa: true },
        { hours: 0, mfa: false },
      ]) {
        await signedIn(who, { hours, mfa });
        const login = await begin(who, space);
        const page = await login.page();
        assert.ok(page.state === 'ask' && page.view.proof === 'confirm' && page.decider.has_factor, `${hours} ${mfa}`);
        await verified(await who.who(), 'oauth.client');
        assert.match(await login.send('allow'), /problem=step_up_required/);
        await verified(await who.who(), 'oauth.consent');
        const family = await familyOf(await login.tokens(await login.send('allow')));
        assert.ok(family.step_up_at, 'the factor is on the record of the login');
        const entry = await db().audit_logs.findFirstOrThrow({ where: { resource_id: family.id, action: 'create' } });
        assert.equal((entry.details as { step_up?: { scope: string } }).step_up?.scope, 'oauth.consent');
      }
      await signedIn(who, { hours: 11, mfa: true });
      const login = await begin(who, space);
      const page = await login.page();
      assert.ok(page.state === 'ask' && page.view.proof === 'none');
      assert.equal((await familyOf(await login.tokens(await login.send('allow')))).step_up_at, null);
    });

    test(`${name}, ${space}: a login that asks for the factor gets it from nobody who lacks one, and then does what takes one`, async () => {
      const who = await createTestPerson({ signedIn: true });
      const client = await who.w.client(space, { name: 'Partner', allowed_scopes: ['routes:read'] });
      let written = 0;
      const widen = (key: string) =>
        call('PATCH', `/oauth-clients/${client.id}`, { key, body: { redirect_uris: [`https://app.example.com/${++written}`] } });
      const plain = await begin(who, space);
      await plain.page();
      const refused = await widen((await plain.tokens(await plain.send('allow'))).access_token);
      assert.equal(refused.body.error?.type, 'mfa_required', refused.text);
      const login = await begin(who, space, { acr_values: 'unknown step_up' });
      const page = await login.page();
      assert.ok(page.state === 'ask' && page.view.proof === 'confirm');
      assert.ok(page.view.offer?.scopes.some(({ name: scope, confirmed }) => confirmed && scope === 'oauth_clients:write'));
      assert.match(await login.send('allow'), /problem=mfa_required/);
      await verified(await who.who(), 'oauth.consent');
      const tokens = await login.tokens(await login.send('allow'));
      const done = await widen(tokens.access_token);
      assert.equal(done.status, 200, done.text);
      // A refresh takes the time of the factor along, not a new one.
      const family = await familyOf(tokens);
      await db().oauth_families.update({ where: { id: family.id }, data: { step_up_at: new Date(Date.now() - 8 * HOUR) } });
      const { refresh_token, client_id } = tokens;
      const renewed = (await post('/oauth/token', { grant_type: 'refresh_token', refresh_token, client_id })).body as Tokens;
      assert.equal((await widen(renewed.access_token)).body.error?.type, 'step_up_required');
    });
  }

test('an earlier consent answers no stale session, and prompt=none says what is missing', async () => {
  const { who, authorize } = await set({ redirect: 'https://app.example.com/cb' });
  const { handle } = await authorize({ scope: 'routes:read' });
  await pageOf(who.b, handle);
  assert.ok(answerIn(await decide(who.b, handle, { decision: 'allow' })).code);
  const silent = async (more = {}) => {
    const asked = await authorize({ scope: 'routes:read', prompt: 'none', ...more });
    return answerIn(String((await who.b.get(`/auth/oauth/consent/${asked.handle}`)).headers.get('location')));
  };
  assert.ok((await silent()).code);
  assert.equal((await silent({ acr_values: 'step_up' })).error, 'interaction_required');
  await signedIn(who, { hours: 13 });
  assert.equal((await silent()).error, 'login_required');
  const page = await pageOf(who.b, (await authorize({ scope: 'routes:read' })).handle);
  assert.ok(page.state === 'ask' && page.view.proof === 'sign_in');
  await enrolled(who.id);
  assert.equal((await silent()).error, 'interaction_required');
  assert.equal((await authorize({ acr_values: 'step_up' })).status, 302);
});
