import assert from 'node:assert/strict';
import { digest, mintMailToken } from '#server/crypto/tokens.ts';
import { GRANTS } from '#server/domain/oauth-grants/client.ts';
import type { Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { makeClient, post } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { browser } from '#server/testing/people.ts';
import { PASSWORD, type TestPerson } from '#server/testing/test-person.ts';
import { devicePageState } from './consent-pages.ts';
import { activation, allow, type Browser, headersOf, opened, pageOf, redeem, sent } from './logins.fixture.ts';

// Everything that stands for a person, made as browsers and clients make it, and whether any of it still works.

export type Standing = Pick<TestPerson, 'w' | 'id' | 'email' | 'b'>;
const SCOPES = ['routes:read', 'routes:write'];
let network = 0;
const newIp = () => `10.88.${Math.floor(++network / 250)}.${network % 250}`;

/** The person signs in everywhere. `left` tells what still works, by name; `inTenant` leaves out what is of no workspace. */
export async function standing(who: Standing) {
  const second = await signedIn(who.email);
  const probes: Probe[] = [
    { name: 'another session', works: async () => (await second.get('/auth/me')).status === 200, ofPerson: true },
    await pendingLogin(who),
    await mailedLink(who),
    ...(await logins(who, second, 'live')),
    ...(await logins(who, second, 'test')),
  ];
  await confirmation(who, second);
  for (const { name, works } of probes) if (works) assert.ok(await works(), `${name} works before`);
  return {
    second,
    /** The names of what works now. */
    left: async ({ inTenant = false } = {}): Promise<string[]> => {
      const left: string[] = [];
      for (const probe of probes) if (!(inTenant && probe.ofPerson) && (await (probe.stillWorks ?? probe.works)?.())) left.push(probe.name);
      return left;
    },
    /** Rows that would work again if a check were lost. */
    rows: async () => {
      const mine = { user_id: who.id, tenant_id: who.w.tenant.id };
      return {
        families: await db().oauth_families.count({ where: { ...mine, revoked_at: null } }),
        access: await db().oauth_access.count({ where: { ...mine, revoked_at: null } }),
        codes: await db().oauth_codes.count({ where: { ...mine, used_at: null } }),
        consents: await db().oauth_consents.count({ where: mine }),
        devices: await db().oauth_device_codes.count({ where: { ...mine, state: 'approved' } }),
      };
    },
  };
}

/** `works` uses nothing up and is asked before and after; `stillWorks` uses it up, so it is asked after alone. */
type Probe = { name: string; works?: () => Promise<boolean>; stillWorks?: () => Promise<boolean>; ofPerson?: true };

async function signedIn(email: string): Promise<Browser> {
  const b = browser();
  const answer = await b.post('/auth/login', { email, password: PASSWORD });
  assert.equal(answer.body.status, 'ok', answer.text);
  await b.load();
  return b;
}

async function pendingLogin({ id }: Standing): Promise<Probe> {
  const { token, digest: tokenDigest } = mintMailToken();
  const login = { id: newId(), user_id: id, method: 'password', digest: new Uint8Array(tokenDigest), created_at: new Date() };
  await db().pending_logins.create({ data: { ...login, expires_at: new Date(Date.now() + 300_000) } });
  const works = async () => (await browser().get(`/auth/login/mfa?mfa_token=${token}`)).status === 200;
  return { name: 'a sign-in that owes the second factor', works, ofPerson: true };
}

async function mailedLink({ email }: Standing): Promise<Probe> {
  await browser().post('/auth/magic/start', { email });
  const link = /magic\?token=([\w-]{43})/.exec((await mailsTo(email)).findLast(({ kind }) => kind === 'sign_in')?.text ?? '')?.[1];
  assert.ok(link);
  const stillWorks = async () => (await browser().post('/auth/magic/verify', { token: link })).status === 200;
  return { name: 'a mailed sign-in link', stillWorks, ofPerson: true };
}

/** An unused confirmation of the other session. */
async function confirmation({ id }: Standing, b: Browser) {
  const { session } = (await b.get('/auth/me')).body as unknown as { session: { id: string } };
  const { token } = mintMailToken();
  const row = { user_id: id, session_id: session.id, action_scope: 'plaintext.reveal', method: 'totp', verified_at: new Date() };
  const expires_at = new Date(Date.now() + 300_000);
  await db().step_up_verifications.create({ data: { id: newId(), ...row, token_digest: new Uint8Array(digest(token)), expires_at } });
}

/** Logins of applications in one space of the workspace: by code and by device, in every state. */
async function logins({ w, id }: Standing, b: Browser, space: Space): Promise<Probe[]> {
  const app = await makeClient(w, { type: 'public', scopes: SCOPES, space });
  const cli = await makeClient(w, { type: 'public', scopes: SCOPES, space, system_role: 'cli' });
  const https = 'https://app.example/callback';
  await db().oauth_clients.update({ where: { id: app.row.id }, data: { redirect_uris: [https] } });
  const token = (form: Record<string, string>) => post('/oauth/token', form, { space, ip: newIp() });
  // What is consented to is remembered, so the page must be asked for.
  const asked = async () =>
    (await opened({ client_id: app.client_id, redirect_uri: https, scope: 'routes:read', prompt: 'consent' }, 'GET', 'live', newIp()))
      .handle;
  const code = async () => String((await allow(b, await asked())).code);

  const byCode = (await redeem(app.client_id, await code(), { redirect_uri: https })).body;
  const device = async (decided: boolean) => {
    const { body } = await post('/oauth/device_authorization', { client_id: cli.client_id, scope: 'routes:read' }, { space, ip: newIp() });
    const { handle } = await (await activation(newIp())).enter(body.user_code);
    assert.equal((await devicePageState(headersOf(b), handle, { workspace: null, code: null })).state, 'ask');
    if (decided) assert.equal(await sent(b, `/auth/oauth/device/${handle}`, { decision: 'allow' }), '/oauth/device/approved');
    return { device_code: String(body.device_code), handle };
  };
  const poll = (device_code: string) => token({ grant_type: GRANTS.device_code, device_code, client_id: cli.client_id });
  const byDevice = (await poll((await device(true)).device_code)).body;
  const approved = await device(true);
  const waiting = await device(false);
  const unredeemed = await code();
  const pending = await asked();
  assert.equal((await pageOf(b, pending)).state, 'ask');

  const isOpen = (access_token: string) => async () => (await call('GET', '/routes', { key: access_token, space })).status === 200;
  const refreshes = (refresh_token: string, client_id: string) => async () =>
    (await token({ grant_type: 'refresh_token', refresh_token, client_id })).status === 200;
  const named = (name: string, probe: Omit<Probe, 'name'>): Probe => ({ name: `${name} (${space})`, ...probe });
  return [
    named('the access token of an application', { works: isOpen(byCode.access_token) }),
    named('the access token of the command line', { works: isOpen(byDevice.access_token) }),
    named('the refresh token of an application', { stillWorks: refreshes(byCode.refresh_token, app.client_id) }),
    named('the refresh token of the command line', { stillWorks: refreshes(byDevice.refresh_token, cli.client_id) }),
    named('an unredeemed code', {
      stillWorks: async () => (await redeem(app.client_id, unredeemed, { redirect_uri: https })).status === 200,
    }),
    named('an approved device', { stillWorks: async () => (await poll(approved.device_code)).status === 200 }),
    named('a device that waits', {
      stillWorks: async () => (await db().oauth_device_codes.count({ where: { ...rowOf(waiting.device_code), state: 'pending' } })) > 0,
      ofPerson: true,
    }),
    named('a pending authorization', {
      stillWorks: async () =>
        (await db().oauth_auth_requests.count({ where: { user_id: id, decided_at: null, client_row_id: app.row.id } })) > 0,
    }),
  ];
}

const rowOf = (device_code: string) => ({ digest: new Uint8Array(digest(device_code)) });
