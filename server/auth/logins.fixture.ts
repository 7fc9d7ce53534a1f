import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { acceptPassword, addMembership, createUser } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { handle as oauthPlane } from '#server/oauth/handle.ts';
import { CHALLENGE, makeClient, post, REDIRECT, VERIFIER } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { browser, ownAddress } from '#server/testing/people.ts';
import { createTestPerson, PASSWORD, type TestPerson } from '#server/testing/test-person.ts';
import { consentPageState } from './consent-pages.ts';

// Logins of applications as browsers and clients make them, without a socket.

const SCOPES = ['routes:read', 'routes:write', 'secrets:write', 'transit:decrypt'];
export const issuer = () => new URL(env.PUBLIC_API_URL).origin;

/** An owner in a browser of their own, with a public client of their workspace. */
export async function set(options: Parameters<typeof makeClient>[1] & { redirect?: string } = {}) {
  const who = await createTestPerson({ signedIn: true });
  const client = await makeClient(who.w, { type: 'public', scopes: SCOPES, ...options });
  if (options.redirect) await db().oauth_clients.update({ where: { id: client.row.id }, data: { redirect_uris: [options.redirect] } });
  const redirect = options.redirect ?? REDIRECT;
  const authorize = (more: Record<string, string> = {}) => opened({ client_id: client.client_id, redirect_uri: redirect, ...more });
  return { who, client, redirect, authorize };
}

/** GET /oauth/authorize as a browser asks it. */
export async function opened(query: Record<string, string>, method = 'GET', space: Space = 'live', ip = ownAddress()) {
  const asked = { response_type: 'code', code_challenge: CHALLENGE, code_challenge_method: 'S256', state: 'st', ...query };
  const edge = { space, ip, request_id: randomUUID(), user_agent: 'test' };
  const response = await oauthPlane(new Request(`http://api.test/oauth/authorize?${new URLSearchParams(asked)}`, { method }), edge);
  const location = response.headers.get('location');
  return {
    status: response.status,
    text: await response.text(),
    location,
    headers: response.headers,
    handle: location?.split('/consent/')[1] ?? '',
  };
}

export type Browser = ReturnType<typeof browser>;
export const headersOf = (b: Browser) => new Headers({ cookie: [...b.jar].map(([name, value]) => `${name}=${value}`).join('; ') });
export const pageOf = (b: Browser, handle: string, workspace: string | null = null) => consentPageState(headersOf(b), handle, workspace);

/** The form of a page, as its browser sends it. @returns where it leads */
export async function sent(b: Browser, path: string, fields: Record<string, string>, headers: Record<string, string | null> = {}) {
  const csrf_token = String((await b.get('/auth/me')).body.csrf_token ?? '');
  const body = new URLSearchParams({ csrf_token, ...fields }).toString();
  const answer = await b.call('POST', path, body, {
    'content-type': 'application/x-www-form-urlencoded',
    'x-csrf-token': null,
    ...headers,
  });
  assert.equal(answer.status, 303, answer.text);
  return String(answer.headers.get('location'));
}
export const decide = (b: Browser, handle: string, fields: Record<string, string>, headers = {}) =>
  sent(b, `/auth/oauth/consent/${handle}`, fields, headers);
export const answerIn = (location: string) => Object.fromEntries(new URL(location).searchParams);

/** Opens the page and allows. @returns what the client is answered */
export async function allow(b: Browser, handle: string, fields: Record<string, string> = {}) {
  assert.equal((await pageOf(b, handle)).state, 'ask');
  return answerIn(await decide(b, handle, { decision: 'allow', ...fields }));
}
export const redeem = (client_id: string, code: string, more: Record<string, string> = {}) =>
  post('/oauth/token', { grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri: REDIRECT, client_id, ...more });

/** Another member, in a browser of their own. */
export async function member({ w }: Pick<TestPerson, 'w'>, role: MemberRole) {
  const email = `${newId()}@example.test`;
  const password_hash = await acceptPassword(PASSWORD, email, 'password');
  const id = await db().$transaction(async (tx) => {
    const now = new Date();
    const user = await createUser(tx, { email, full_name: 'M', password_hash, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role, source: 'invite', now });
    return user.id;
  });
  const b = browser();
  assert.equal((await b.post('/auth/login', { email, password: PASSWORD })).status, 200);
  return { id, email, b };
}

/** GET and POST of the page where the code of a device is typed, in a browser of its own. */
export async function activation(ip: string, change: { csrf?: string; headers?: Record<string, string> } = {}) {
  const edge = { space: 'live', ip, request_id: randomUUID(), user_agent: 'test' } as const;
  const page = await oauthPlane(new Request('http://api.test/oauth/activate?user_code=bcdf%20ghjk'), edge);
  const html = await page.text();
  const cookie = String(page.headers.get('set-cookie')).split(';')[0] ?? '';
  const csrf_token = change.csrf ?? /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const enter = async (user_code: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie, origin: issuer(), ...change.headers };
    const body = new URLSearchParams({ csrf_token, user_code }).toString();
    const answer = await oauthPlane(new Request('http://api.test/oauth/activate', { method: 'POST', headers, body }), edge);
    const location = answer.headers.get('location') ?? '';
    return { status: answer.status, location, handle: /\/oauth\/device\/([^?]+)/.exec(location)?.[1] ?? '', text: await answer.text() };
  };
  return { html, policy: page.headers.get('content-security-policy') ?? '', enter };
}
