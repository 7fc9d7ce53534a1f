import assert from 'node:assert/strict';
import test from 'node:test';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { basic, post } from './oauth.fixture.ts';

await testDatabase();
const w = await workspace();
const { text: manager } = await w.token();
const manage = async (method: string, path: string, body?: object) =>
  call(method, `/oauth-clients${path}`, { key: manager, ...(body ? { body } : {}) });
const mint = (id: string, secret: string) =>
  post('/oauth/token', { grant_type: 'client_credentials' }, { authorization: basic(id, secret) });
const reads = async (token: string) => (await call('GET', '/routes', { key: token })).status;

/** A client that a stranger made over HTTP, and a token of it. */
async function connected() {
  const made = await manage('POST', '', { name: 'robot', allowed_scopes: ['routes:read', 'secrets:read'] });
  assert.equal(made.status, 201, made.text);
  const { id, client_id, client_secret } = made.body.data;
  const { body } = await mint(client_id, client_secret);
  assert.equal(await reads(body.access_token), 200);
  return { id, client_id, client_secret, token: body.access_token as string };
}

test('a client made over /v1 gets a token; rotating its secret kills the old secret and the token on the next call', async () => {
  const { id, client_id, client_secret, token } = await connected();
  const rotated = await manage('POST', `/${client_id}/rotate-secret`, {});
  assert.equal(rotated.status, 200, rotated.text);
  assert.match(rotated.body.warning, /no longer works/);
  assert.deepEqual(Object.keys(rotated.body).sort(), ['data', 'meta', 'warning']);
  const old = await mint(client_id, client_secret);
  assert.deepEqual([old.status, old.body.error, await reads(token)], [401, 'invalid_client', 401]);
  const fresh = await mint(client_id, rotated.body.data.client_secret);
  assert.equal(await reads(fresh.body.access_token), 200);
  const overlapped = await manage('POST', `/${id}/rotate-secret`, { overlap_seconds: 60 });
  for (const secret of [rotated.body.data.client_secret, overlapped.body.data.client_secret])
    assert.equal((await mint(client_id, secret)).status, 200);
  assert.equal(await reads(fresh.body.access_token), 200);
});

test('narrowing, turning off and revoking a client act on the next call of a token that is out', async () => {
  const { id, client_id, client_secret, token } = await connected();
  assert.equal((await manage('PATCH', `/${id}`, { allowed_scopes: ['secrets:read'] })).status, 200);
  assert.deepEqual([await reads(token), (await call('GET', '/secrets', { key: token })).status], [403, 200]);
  await manage('PATCH', `/${id}`, { active: false });
  assert.equal((await call('GET', '/secrets', { key: token })).status, 401);
  assert.equal((await mint(client_id, client_secret)).status, 401);
  await manage('PATCH', `/${id}`, { active: true });
  assert.equal((await call('GET', '/secrets', { key: token })).status, 401);
  const next = (await mint(client_id, client_secret)).body.access_token;
  assert.deepEqual((await manage('DELETE', `/${id}`)).body.data, { deleted: true, revoked: true });
  assert.deepEqual([(await call('GET', '/secrets', { key: next })).status, (await mint(client_id, client_secret)).status], [401, 401]);
});

test('an API key is refused with use_oauth on every verb, and the token of its own client is not', async () => {
  const { text: key, row } = await w.key();
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['GET', '/x'],
    ['PATCH', '/x'],
    ['DELETE', '/x'],
    ['POST', '/x/rotate-secret'],
    ['GET', '/x/grants'],
  ] as const) {
    const answer = await call(method, `/oauth-clients${path}`, { key, ...(method === 'GET' ? {} : { body: {} }) });
    assert.deepEqual([answer.status, answer.body.error?.type], [403, 'use_oauth'], `${method} ${path}`);
  }
  const { body } = await mint(row.key_id, key.slice(row.key_id.length + 1));
  const listed = await call('GET', '/oauth-clients?type=confidential&active=true', { key: body.access_token });
  assert.equal(listed.status, 200, listed.text);
  assert.ok(listed.body.data.some((client: { client_id: string }) => client.client_id === row.key_id));
});
