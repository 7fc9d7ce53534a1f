import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { decide, pageOf, set } from '#server/auth/logins.fixture.ts';
import { digest, mintToken } from '#server/crypto/tokens.ts';
import { codeOf } from '#server/domain/factors/samples.fixture.ts';
import { GRANTS } from '#server/domain/oauth-grants/client.ts';
import { endPerson } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { connection } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { browser } from '#server/testing/people.ts';
import { createTestPerson, PASSWORD } from '#server/testing/test-person.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { introspected, makeClient, makeCode, makePerson, post, redeem, refresh, type TestClient } from './oauth.fixture.ts';

// What is obtained in the name of a person while everything of theirs ends, whichever comes first.

await testDatabase();
const w = await workspace();
const asking = await makeClient(w);
const isLive = async (token: string) => (await introspected(asking, token)).active;
const end = (user_id: string) => db().$transaction((tx) => endPerson(tx, { user_id, reason: 'password_reset', now: new Date() }));

async function approvedDevice(client: TestClient, user_id: string): Promise<string> {
  const { token, digest: code_digest } = mintToken('device_code');
  const approved = { state: 'approved', user_id, family_id: newId(), scopes: ['routes:read'] };
  const place = { tenant_id: w.tenant.id, sandbox: false, client_row_id: client.row.id };
  const data = {
    ...place,
    ...approved,
    id: newId(),
    digest: new Uint8Array(code_digest),
    user_code_digest: new Uint8Array(digest(newId())),
  };
  await db().oauth_device_codes.create({ data: { ...data, expires_at: new Date(Date.now() + 60_000) } });
  return token;
}

/** Ways to obtain tokens: each prepares one, and answers what sends the request. */
const WAYS: Readonly<Record<string, (client: TestClient, userId: string) => Promise<() => ReturnType<typeof post>>>> = {
  'a refresh': async (client, userId) => {
    const { body } = await redeem(client, (await makeCode(client, userId)).code);
    return () => refresh(client, body.refresh_token);
  },
  'the redemption of a code': async (client, userId) => {
    const { code } = await makeCode(client, userId);
    return () => redeem(client, code);
  },
  'the redemption of a device code': async (client, userId) => {
    const device_code = await approvedDevice(client, userId);
    return () => post('/oauth/token', { grant_type: GRANTS.device_code, device_code, client_id: client.client_id });
  },
};

/** Over a connection of its own, which is closed whatever happens. */
async function withOther(work: (other: pg.Client) => Promise<void>): Promise<void> {
  const other = new pg.Client(connection());
  await other.connect();
  try {
    await work(other);
  } finally {
    await other.end();
  }
}

for (const [name, prepare] of Object.entries(WAYS)) {
  test(`${name} that runs while everything of its person ends leaves no token alive, whichever comes first`, async () => {
    const client = await makeClient(w, { type: 'public' });
    const { user } = await makePerson(w);
    for (let round = 0; round < 8; round++) {
      const send = await prepare(client, user.id);
      const sending = send();
      // The later rounds let the request get further.
      for (let turn = 0; turn < round * 2; turn++) await setImmediate();
      const [{ status, body }] = await Promise.all([sending, end(user.id)]);
      if (status === 200)
        assert.deepEqual([await isLive(body.access_token), await isLive(body.refresh_token)], [false, false], `round ${round}`);
      const left = { user_id: user.id, revoked_at: null };
      assert.deepEqual([await db().oauth_families.count({ where: left }), await db().oauth_access.count({ where: left })], [0, 0]);
    }
  });

  test(`${name} that is not committed when the end comes is waited for, and what it obtains ends`, async () => {
    const client = await makeClient(w, { type: 'public' });
    const { user } = await makePerson(w);
    const send = await prepare(client, user.id);
    await withOther(async (other) => {
      // It gets as far as its refresh token.
      await other.query('begin');
      await other.query('lock table oauth_refresh in share mode');
      const sending = send();
      await until(async () => (await waitingFor('oauth_refresh')) > 0);
      const ending = end(user.id);
      await until(async () => (await waitingFor('end_person')) > 0);
      await other.query('commit');
      const [{ status, body }] = await Promise.all([sending, ending]);
      assert.equal(status, 200);
      assert.deepEqual([await isLive(body.access_token), await isLive(body.refresh_token)], [false, false]);
    });
  });

  test(`${name} that comes while the end is not committed waits for it, and obtains nothing`, async () => {
    const client = await makeClient(w, { type: 'public' });
    const { user } = await makePerson(w);
    const send = await prepare(client, user.id);
    await withOther(async (other) => {
      await other.query('begin');
      await other.query('select * from end_person($1, null, $2, now())', [user.id, 'password_reset']);
      let answered = false;
      const sending = send().then((answer) => {
        answered = true;
        return answer;
      });
      await until(async () => (await waitingFor('hold_person')) > 0);
      assert.equal(answered, false);
      await other.query('commit');
      const { status, body } = await sending;
      assert.ok(status === 400 && ['invalid_grant', 'access_denied'].includes(body.error), JSON.stringify(body));
      assert.equal(await db().oauth_families.count({ where: { user_id: user.id, revoked_at: null } }), 0);
    });
  });
}

test('a sign-in whose password was judged before the end opens no session after it', async () => {
  const who = await createTestPerson({ signedIn: false });
  await withOther(async (other) => {
    await other.query('begin');
    await other.query('select * from end_person($1, null, $2, now())', [who.id, 'password_reset']);
    const signingIn = browser().post('/auth/login', { email: who.email, password: PASSWORD });
    await until(async () => (await waitingFor('users')) > 0);
    await other.query('commit');
    assert.equal((await signingIn).body.code, 'invalid_credentials');
    assert.equal(await db().sessions.count({ where: { user_id: who.id, revoked_at: null } }), 0);
  });
});

/** What a thief's session does at the same time, to come back in another way. */
const BY_SESSION: Readonly<Record<string, (setting: Awaited<ReturnType<typeof set>>) => Promise<() => Promise<unknown>>>> = {
  'adds an authenticator app': async ({ who }) => {
    const { setup_token, secret_base32 } = (await who.b.post('/auth/2fa/setup')).body as unknown as Record<string, string>;
    return () => who.b.post('/auth/2fa/verify', { setup_token, code: codeOf(String(secret_base32)) });
  },
  'changes the password':
    async ({ who }) =>
    () =>
      who.b.post('/auth/password/change', { current: PASSWORD, new: 'a thief was here today' }),
  'lets an application in': async ({ who, authorize }) => {
    const { handle } = await authorize({ scope: 'routes:read' });
    assert.equal((await pageOf(who.b, handle)).state, 'ask');
    return () => decide(who.b, handle, { decision: 'allow' });
  },
};

for (const [name, prepare] of Object.entries(BY_SESSION))
  test(`a session that ${name} while everything of its person ends changes nothing`, async () => {
    const setting = await set();
    const { id } = setting.who;
    const send = await prepare(setting);
    const before = await account(id);
    await withOther(async (other) => {
      await other.query('begin');
      await other.query('select * from end_person($1, null, $2, now())', [id, 'password_reset']);
      const sending = send();
      await until(async () => (await waitingFor('users')) > 0);
      await other.query('commit');
      await sending;
      assert.deepEqual(await account(id), before);
    });
  });

const account = async (user_id: string) => ({
  ...(await db().users.findUniqueOrThrow({ where: { id: user_id }, select: { password_hash: true } })),
  apps: await db().totp_secrets.count({ where: { user_id, enabled_at: { not: null } } }),
  codes: await db().oauth_codes.count({ where: { user_id } }),
});

/** Statements of this database with the text that wait for a lock. */
async function waitingFor(text: string): Promise<number> {
  const [row] = await db().$queryRaw<{ n: number }[]>`
    select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike ${`%${text}%`}`;
  return row?.n ?? 0;
}
