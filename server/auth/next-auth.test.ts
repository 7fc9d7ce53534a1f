import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import * as nextAuth from 'next-auth/next';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { parseRootKey } from '#server/crypto/root-key.ts';
import { acceptPassword, createUser } from '#server/domain/people/service.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { browser } from '#server/testing/people.ts';
import { quickPasswords } from '#server/testing/quick-passwords.ts';
import { nextAuthOptions } from './next-auth.ts';

await ownDatabase();
quickPasswords();
process.env.NEXTAUTH_URL = 'http://localhost:4002';

const password = 'a quiet harbour at dusk';
const hash = await acceptPassword(password, 'somebody@example.test', 'password');
await db().$transaction((tx) =>
  createUser(tx, { email: 'ada@example.test', full_name: 'Ada', password_hash: hash, email_verified: true, now: new Date() }),
);

type Res = {
  status: (n: number) => Res;
  setHeader: (n: string, v: string | string[]) => Res;
  getHeader: (n: string) => unknown;
  end: () => void;
  json: (b: unknown) => void;
  send: (b: unknown) => void;
};
// The package is CommonJS: its default export arrives as a member.
const serve = (nextAuth as unknown as { default: { default: (req: unknown, res: Res, options: unknown) => Promise<void> } }).default
  .default;

/** next-auth's own paths, as its page handler serves them. */
async function call(jar: Map<string, string>, method: string, path: string[], body: Record<string, string> = {}) {
  const out = { status: 200, body: undefined as unknown, cookies: [] as string[] };
  const res: Res = {
    status: (n) => {
      out.status = n;
      return res;
    },
    setHeader: (n, v) => {
      if (n.toLowerCase() === 'set-cookie') out.cookies = [v].flat();
      return res;
    },
    getHeader: (n) => (n.toLowerCase() === 'set-cookie' ? out.cookies : undefined),
    end: () => {},
    json: (b) => void Object.assign(out, { body: b }),
    send: (b) => void Object.assign(out, { body: b }),
  };
  const headers = {
    host: 'localhost:4002',
    'x-sallyport-front': frontDoorToken(rootKeys().current),
    'x-sallyport-ip': '10.9.8.7',
    'user-agent': 'next-auth test',
  };
  await serve({ method, query: { nextauth: path }, cookies: Object.fromEntries(jar), headers, body }, res, nextAuthOptions());
  for (const line of out.cookies) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') jar.delete(name);
    else jar.set(name, decodeURIComponent(value));
  }
  return out;
}

async function signIn(given: Record<string, string>) {
  const jar = new Map<string, string>();
  const { body } = await call(jar, 'GET', ['csrf']);
  const answer = await call(jar, 'POST', ['callback', 'password'], {
    csrfToken: (body as { csrfToken: string }).csrfToken,
    json: 'true',
    callbackUrl: 'http://localhost:4002/',
    ...given,
  });
  return { jar, answer };
}

test('a sign-in through next-auth is a session row, and its cookie works on the session plane', async () => {
  const { jar, answer } = await signIn({ email: 'Ada@Example.test', password });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const row = await db().sessions.findFirstOrThrow({ where: { user: { email: 'ada@example.test' } } });
  assert.deepEqual([row.auth_methods, row.ip], [['password'], '10.9.8.7']);
  const b = browser();
  b.jar.set('svc_session', jar.get('svc_session') ?? '');
  assert.equal((await b.load()).status, 200);
  const { body } = await call(jar, 'GET', ['session']);
  assert.deepEqual((body as { user: unknown }).user, { name: 'Ada', email: 'ada@example.test' });
});

test('a session whose row is gone is no session for next-auth either, and its cookie is cleared', async () => {
  const { jar } = await signIn({ email: 'ada@example.test', password });
  await db().sessions.deleteMany();
  const { body } = await call(jar, 'GET', ['session']);
  assert.deepEqual(body, {});
  assert.equal(jar.has('svc_session'), false);
});

test('a wrong password makes no session and names only the code', async () => {
  const { jar, answer } = await signIn({ email: 'ada@example.test', password: 'another format here' });
  assert.equal(answer.status, 401);
  assert.match(JSON.stringify(answer.body), /error=invalid_credentials/);
  assert.equal(jar.has('svc_session'), false);
});

test('signing out through next-auth revokes the row', async () => {
  const { jar } = await signIn({ email: 'ada@example.test', password });
  const cookie = `svc_session=${jar.get('svc_session')}`;
  const { body } = await call(jar, 'GET', ['csrf']);
  await call(jar, 'POST', ['signout'], { csrfToken: (body as { csrfToken: string }).csrfToken, json: 'true' });
  assert.equal((await browser().get('/auth/me', { cookie })).status, 401);
});

test('a rotation of the root key signs nobody out while the old key is known, and everybody when it is not', async () => {
  const { jar } = await signIn({ email: 'ada@example.test', password });
  const cookie = `svc_session=${jar.get('svc_session')}`;
  const old = { ...rootKeys() };
  try {
    Object.assign(rootKeys(), { current: parseRootKey(randomBytes(32).toString('base64'), 'new'), previous: old.current });
    assert.equal((await browser().get('/auth/me', { cookie })).status, 200);
    const session = await call(jar, 'GET', ['session']);
    assert.equal((session.body as { user?: { email: string } }).user?.email, 'ada@example.test', 'nor does next-auth clear it');
    Object.assign(rootKeys(), { previous: undefined });
    assert.equal((await browser().get('/auth/me', { cookie })).status, 401);
  } finally {
    Object.assign(rootKeys(), { previous: undefined }, old);
  }
});
