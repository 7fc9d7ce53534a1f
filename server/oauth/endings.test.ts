import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { digest, mintToken } from '#server/crypto/tokens.ts';
import { RotateOAuthClientSecret, UpdateOAuthClient } from '#server/domain/oauth-clients/schema.ts';
import * as clients from '#server/domain/oauth-clients/service.ts';
import { clientById, GRANTS } from '#server/domain/oauth-grants/client.ts';
import { redeemCode } from '#server/domain/oauth-grants/codes.ts';
import { redeemDevice } from '#server/domain/oauth-grants/device-redemption.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { tokenActor, workspace } from '#server/testing/workspace.ts';
import { clientCredentials } from './grants/client-credentials.ts';
import {
  introspected,
  makeClient,
  makeCode,
  makePerson,
  post,
  REDIRECT,
  redeem,
  refresh,
  type TestClient,
  VERIFIER,
} from './oauth.fixture.ts';

// What is obtained from a client while it, or what it obtained, is ended: requests that were authenticated before and store their tokens after.

await testDatabase();
const w = await workspace();
const { user } = await makePerson(w);
const asking = await makeClient(w);
const manager = () => w.ctx('live', tokenActor());
const rotate = ({ row }: TestClient) => clients.rotateSecret(manager(), RotateOAuthClientSecret.parse({ id: row.id, overlap_seconds: 0 }));
const turn = ({ row }: TestClient, active: boolean) => clients.updateClient(manager(), UpdateOAuthClient.parse({ id: row.id, active }));
const isLive = async (token: string) => (await introspected(asking, token)).active;
const caller = { request_id: randomUUID(), ip: '127.0.0.1', user_agent: 'test' };
const edge = { space: 'live', ...caller } as const;

/** The client as a request knows it that was authenticated now. */
async function authenticated({ client_id }: TestClient) {
  const client = await clientById(client_id, new Date());
  assert.ok(client);
  return client;
}
const mintAs = async (client: Awaited<ReturnType<typeof authenticated>>) =>
  String((await clientCredentials({ form: new Map(), edge, client, alias: false, now: new Date(), proof: null })).access_token);

/** A confidential client of every grant that a person takes part in. */
const webApp = () =>
  makeClient(w, { grants: [GRANTS.authorization_code, GRANTS.device_code, GRANTS.refresh_token, GRANTS.client_credentials] });
const asClient = (client: TestClient) => ({ authorization: client.basic });
const INFALLIBLE = { code_verifier: VERIFIER, redirect_uri: REDIRECT, jkt: null, caller };

test('a token that was authenticated before a rotation and stored after it works nowhere', async () => {
  const client = await makeClient(w);
  const before = await authenticated(client);
  await rotate(client);
  const token = await mintAs(before);
  assert.deepEqual([await isLive(token), (await call('GET', '/routes', { key: token })).status], [false, 401]);
  assert.equal(await isLive(await mintAs(await authenticated(client))), true, 'with the new secret all is well');
});

test('the same token of a client that was turned off stays dead when it is turned on again', async () => {
  const client = await makeClient(w);
  const before = await authenticated(client);
  await turn(client, false);
  const token = await mintAs(before);
  await turn(client, true);
  assert.deepEqual([await isLive(token), (await call('GET', '/routes', { key: token })).status], [false, 401]);
  assert.equal(await isLive(await mintAs(await authenticated(client))), true);
});

test('of forty tokens that are minted around a rotation none of the old secret outlives it', async () => {
  const client = await makeClient(w);
  const mint = () => post('/oauth/token', { grant_type: 'client_credentials' }, asClient(client));
  const minting = Array.from({ length: 20 }, mint);
  const rotating = rotate(client);
  const answers = await Promise.all([...minting, ...Array.from({ length: 20 }, mint)]);
  await rotating;
  for (const { status, body } of answers) assert.equal(status === 200 && (await isLive(body.access_token)), false);
});

test('a code or device that is redeemed by a request from before the rotation gives nothing', async () => {
  const client = await webApp();
  const before = await authenticated(client);
  await rotate(client);
  const { code, row } = await makeCode(client, user.id);
  assert.equal(await redeemCode({ ...INFALLIBLE, client: before, code, now: new Date() }), null);
  assert.equal(await db().oauth_families.count({ where: { id: row.family_id } }), 0);

  const { token, digest: code_digest } = mintToken('device_code');
  const own = { tenant_id: w.tenant.id, sandbox: false, client_row_id: client.row.id };
  const approved = { state: 'approved', user_id: user.id, family_id: newId(), scopes: ['routes:read'] };
  const expires_at = new Date(Date.now() + 60_000);
  const data = {
    ...own,
    ...approved,
    id: newId(),
    digest: new Uint8Array(code_digest),
    user_code_digest: new Uint8Array(digest('x')),
    expires_at,
  };
  await db().oauth_device_codes.create({ data });
  const poll = { alias: false, code: token, jkt: null, caller, now: new Date() };
  assert.deepEqual(await redeemDevice({ ...poll, client: before }), { state: 'unknown' });
  assert.equal(await db().oauth_families.count({ where: { id: approved.family_id } }), 0);
});

test('of logins that are redeemed around a rotation none outlives it', async () => {
  const client = await webApp();
  const codes = await Promise.all(Array.from({ length: 16 }, () => makeCode(client, user.id)));
  const redeeming = codes.map(({ code }) => redeem(client, code, {}, asClient(client)));
  const [, ...answers] = await Promise.all([rotate(client), ...redeeming]);
  for (const { status, body } of answers)
    if (status === 200) assert.deepEqual([await isLive(body.access_token), await isLive(body.refresh_token)], [false, false]);
  const ofClient = { client_row_id: client.row.id, revoked_at: null };
  assert.deepEqual([await db().oauth_families.count({ where: ofClient }), await db().oauth_access.count({ where: ofClient })], [0, 0]);
});

test('a grant that the workspace ends while it is refreshed leaves no token alive, whichever comes first', async () => {
  const client = await makeClient(w, { type: 'public' });
  for (let round = 0; round < 8; round++) {
    const { code, row } = await makeCode(client, user.id);
    const { body } = await redeem(client, code);
    const refreshing = refresh(client, body.refresh_token);
    // The later rounds let the refresh get further.
    for (let turn = 0; turn < round * 2; turn++) await setImmediate();
    const [next] = await Promise.all([refreshing, clients.revokeGrant(manager(), { id: client.row.id, grant_id: row.family_id })]);
    const tokens = [
      body.access_token,
      body.refresh_token,
      ...(next.status === 200 ? [next.body.access_token, next.body.refresh_token] : []),
    ];
    for (const token of tokens) assert.equal(await isLive(token), false, `round ${round}`);
    const left = { family_id: row.family_id, revoked_at: null };
    assert.deepEqual([await db().oauth_refresh.count({ where: left }), await db().oauth_access.count({ where: left })], [0, 0]);
  }
});
