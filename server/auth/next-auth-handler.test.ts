import assert from 'node:assert/strict';
import test from 'node:test';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { acceptPassword, createUser } from '#server/domain/people/service.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { quickPasswords } from '#server/testing/quick-passwords.ts';
import { handleNextAuth } from './next-auth-handler.ts';

await ownDatabase();
quickPasswords();
const { origin } = new URL(env.PUBLIC_ADMIN_URL);
process.env.NEXTAUTH_URL = origin;

const password = 'a quiet harbour at dusk';
const hash = await acceptPassword(password, 'somebody@example.test', 'password');
await db().$transaction((tx) =>
  createUser(tx, { email: 'bea@example.test', full_name: 'Bea', password_hash: hash, email_verified: true, now: new Date() }),
);

type Given = { form?: Record<string, string>; json?: unknown; text?: string; headers?: Record<string, string>; cookie?: string };

async function call(method: string, path: string, { form, json, text, headers, cookie }: Given = {}) {
  const body = form ? new URLSearchParams(form).toString() : json === undefined ? text : JSON.stringify(json);
  const response = await handleNextAuth(
    new Request(`${origin}/api/auth/${path}`, {
      method,
      headers: {
        'x-sallyport-front': frontDoorToken(rootKeys().current),
        'x-sallyport-request-id': crypto.randomUUID(),
        'x-sallyport-ip': '10.9.8.7',
        ...(form
          ? { 'content-type': 'application/x-www-form-urlencoded' }
          : json === undefined
            ? {}
            : { 'content-type': 'application/json' }),
        ...(cookie ? { cookie } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    }),
  );
  const said = await response.text();
  return { status: response.status, headers: response.headers, text: said, location: response.headers.get('location') };
}

async function ready() {
  const answer = await call('GET', 'csrf');
  const { csrfToken } = JSON.parse(answer.text) as { csrfToken: string };
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  return { csrfToken, cookie };
}

const EVIL = [
  'https://evil.test',
  '//evil.test',
  '///evil.test',
  '/\\evil.test',
  '\\\\evil.test',
  'javascript:alert(1)',
  'data:text/html,x',
  `${origin}@evil.test`,
  `${origin}.evil.test/x`,
  `${origin}//evil.test`,
  'https:evil.test',
  'http://user@localhost',
  'x'.repeat(5_000),
  '\u0000',
];

test('a stranger gets a redirect into the dashboard or a refusal in our words, never a 500 and never a text of next-auth', async () => {
  const actions = [
    'providers',
    'csrf',
    'session',
    'signin',
    'signin/password',
    'signin/google',
    'callback',
    'callback/password',
    'callback/mail',
  ];
  const paths = [
    ...actions,
    'callback/google',
    'callback/password/more',
    'signout',
    'error',
    'error?error=<b>',
    'verify-request',
    '_log',
    'bogus',
    '',
  ];
  paths.push('constructor', '__proto__', 'signin/__proto__', 'signin/constructor');
  const { csrfToken } = await ready();
  for (const path of paths)
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
      for (const given of method === 'GET' || method === 'HEAD'
        ? [{}]
        : [{}, { form: { csrfToken: 'wrong' } }, { json: { csrfToken, email: { a: 1 } } }]) {
        const answer = await call(method, path, given);
        const what = `${method} ${path} ${answer.status} ${answer.text.slice(0, 80)}`;
        assert.ok(answer.status < 500, what);
        if (answer.location) assert.equal(new URL(answer.location, origin).origin, origin, what);
        if (answer.status >= 400 && method !== 'HEAD') assert.match(answer.text, /^\{"error":"[a-z_]+","code":/, what);
        assert.ok(!/NextAuth|object Object|configuration/i.test(answer.text), what);
        assert.ok(answer.headers.get('x-request-id') && answer.headers.get('cache-control') === 'no-store', what);
      }
});

test('reloading what a sign-in form was sent to leads back to the form', async () => {
  for (const provider of ['password', 'mail']) {
    const answer = await call('GET', `callback/${provider}?callbackUrl=https%3A%2F%2Fevil.test`);
    assert.deepEqual([answer.status, answer.location], [303, '/signin']);
  }
});

test('no spelling of an address to return to leads out of the dashboard, by query, form or cookie', async () => {
  const { csrfToken, cookie } = await ready();
  for (const evil of EVIL) {
    const inQuery = encodeURIComponent(evil);
    for (const [method, path] of [
      ['GET', `signin?callbackUrl=${inQuery}`],
      ['GET', `signout?callbackUrl=${inQuery}`],
      ['GET', `error?callbackUrl=${inQuery}`],
      ['POST', `signin/password?callbackUrl=${inQuery}`],
      ['POST', `callback/password?callbackUrl=${inQuery}`],
      ['POST', `signout?callbackUrl=${inQuery}`],
    ] as const)
      for (const json of ['true', 'false']) {
        const form = { csrfToken, callbackUrl: evil, email: 'bea@example.test', password, json };
        const answer = await call(method, path, { ...(method === 'POST' ? { form } : {}), cookie });
        assert.ok(answer.status < 500, `${evil} ${method} ${path}: ${answer.status}`);
        const places = [answer.location, (answer.text && (JSON.parse(answer.text) as { url?: string }).url) || null];
        for (const place of places) {
          if (!place) continue;
          const url = new URL(place, origin);
          assert.equal(url.origin, origin, `${evil} ${method} ${path}: ${place}`);
          assert.ok(!url.pathname.startsWith('//'), place);
          assert.ok(!(url.searchParams.get('callbackUrl') ?? '').includes('evil'), place);
        }
      }
  }
  // A cookie that somebody set for the parent domain breaks nothing.
  const poisoned = await call('GET', 'signin', {
    cookie: 'next-auth.callback-url=javascript%3Aalert(1); __Secure-next-auth.callback-url=https://evil.test',
  });
  assert.ok(
    poisoned.location?.startsWith('/signin') && !poisoned.location.includes('evil') && !poisoned.location.includes('Configuration'),
  );
});

test('an address inside the dashboard is kept', async () => {
  const { csrfToken, cookie } = await ready();
  const form = { csrfToken, email: 'bea@example.test', password, callbackUrl: '/acme/test/routes', json: 'true' };
  const answer = await call('POST', 'callback/password', { form, cookie });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((JSON.parse(answer.text) as { url: string }).url, `${origin}/acme/test/routes`);
  assert.ok(answer.headers.getSetCookie().some((line) => line.startsWith('svc_session=') && /HttpOnly/i.test(line)));
});

test('a wrong token, no token and a page of another site begin no session', async () => {
  const { csrfToken, cookie } = await ready();
  const before = await db().sessions.count();
  const form = { csrfToken, email: 'bea@example.test', password, json: 'true' };
  await call('POST', 'callback/password', { form: { ...form, csrfToken: 'wrong' }, cookie });
  await call('POST', 'callback/password', { form });
  const foreign: Record<string, string>[] = [{ origin: 'https://evil.test' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }];
  for (const headers of foreign) assert.equal((await call('POST', 'callback/password', { form, cookie, headers })).status, 403);
  assert.equal(await db().sessions.count(), before);
});

test('a body that is huge, broken or no form is refused as such', async () => {
  const refusals: [Given, number][] = [
    [{ text: '{bad json', headers: { 'content-type': 'application/json' } }, 400],
    [{ text: '[1]', headers: { 'content-type': 'application/json' } }, 400],
    [{ text: 'x', headers: { 'content-type': 'text/plain' } }, 415],
    [{ form: { email: 'x'.repeat(20_000) } }, 413],
    [{ text: 'x'.repeat(1_100_000), headers: { 'content-type': 'application/json' } }, 413],
  ];
  for (const [given, status] of refusals) assert.equal((await call('POST', 'callback/password', given)).status, status);
});
