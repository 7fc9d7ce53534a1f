import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import type { Answer } from '#server/testing/calls.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made, operationById } from '#server/testing/factories.ts';
import { ownerOf } from '#server/testing/owner.ts';
import { enrolled } from '#server/testing/step-up.ts';
import { refusedUnconfirmed } from '#server/testing/suites/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { confirmedScopes } from './confirmed-scopes.ts';
import { handle, MANAGEMENT_API } from './handle.ts';
import { perform } from './perform.ts';

await testDatabase();

/** A crypto key that may be deleted, and the token of an Owner who has a factor and whose login was not confirmed. */
async function unlatched(space: 'live' | 'test') {
  const w = await workspace();
  const { name } = await made(w[space], 'crypto_keys.create', { name: fresh('key') });
  await made(w[space], 'crypto_keys.update', { name, deletion_allowed: true });
  const person = await ownerOf(w);
  await enrolled(person.id);
  const { text } = await w.token({ space, person });
  const left = () => db().crypto_keys.findMany({ where: { tenant_id: w.tenant.id, deleted_at: null } });
  return { w, name, text, left, person };
}

/** DELETE of the key through a row that somebody has changed. */
async function deleteBy(row: AnyOperation, name: string, key: string, space: 'live' | 'test'): Promise<Answer> {
  const request = new Request(`http://api.test/v1/crypto/keys/${name}`, { method: 'DELETE', headers: { authorization: `Bearer ${key}` } });
  const edge = { space, ip: '127.0.0.1', request_id: randomUUID(), user_agent: 'test' } as const;
  const response = await handle(request, edge, { ...MANAGEMENT_API, match: () => ({ op: row, params: { name } }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

for (const space of ['live', 'test'] as const) {
  test(`the suite notices a row in ${space} whose check is bypassed`, async () => {
    const row = operationById('crypto_keys.delete');
    const honest = await unlatched(space);
    await refusedUnconfirmed(() => deleteBy(row, honest.name, honest.text, space), honest.left);
    const { step_up: _, ...planted } = row;
    const bypassed = await unlatched(space);
    await assert.rejects(
      refusedUnconfirmed(() => deleteBy(planted as AnyOperation, bypassed.name, bypassed.text, space), bypassed.left),
      assert.AssertionError,
    );
    assert.deepEqual(await bypassed.left(), [], 'the planted row let the token through');
  });

  test(`a stolen login of ${space} destroys no key, revokes no root and makes neither clients nor keys`, async () => {
    const { w, name, left, person } = await unlatched(space);
    const { root } = await made(w[space], 'pki.create_root', { name: 'root', subject: { CN: 'Root' } });
    const { text } = await w.token({ space, person, login_at: new Date(Date.now() - 13 * 3_600_000) });
    const attempts: [string, string, object?][] = [
      ['DELETE', `/crypto/keys/${name}`],
      ['DELETE', `/crypto/keys/${name}/versions/1`],
      ['PATCH', `/pki/roots/${root.name}`, { status: 'revoked' }],
      ['POST', '/oauth-clients', { name: 'mine', allowed_scopes: ['routes:write'] }],
      ['POST', '/api-keys', { name: 'mine' }],
    ];
    for (const [method, path, body] of attempts) {
      const answer = await call(method, path, { key: text, ...(body ? { body } : {}) });
      assert.deepEqual([answer.status, answer.body.error?.type], [403, 'step_up_required'], `${method} ${path}: ${answer.text}`);
      assert.match(answer.body.error.message, /service-cli login/);
    }
    assert.equal((await left()).length, 1);
    assert.equal(await db().oauth_clients.count({ where: { tenant_id: w.tenant.id, name: 'mine' } }), 0);
    assert.equal(await db().api_keys.count({ where: { tenant_id: w.tenant.id, name: 'mine' } }), 0);
    const today = await w.token({ space, person });
    assert.equal((await call('POST', '/api-keys', { key: today.text, body: { name: 'mine' } })).status, 201, 'a login of today makes keys');
  });
}

test('a verb that asks in single cases refuses such a change to an unconfirmed login, and no other', async () => {
  const w = await workspace();
  const client = await w.client('live', { name: 'before', allowed_scopes: ['routes:read'] });
  const person = await ownerOf(w);
  await enrolled(person.id);
  const { text } = await w.token({ person });
  const patch = (body: object) => call('PATCH', `/oauth-clients/${client.id}`, { key: text, body });
  const stored = () => db().oauth_clients.findUniqueOrThrow({ where: { id: client.id } });
  await refusedUnconfirmed(() => patch({ allowed_scopes: ['routes:read', 'routes:write'] }), stored);
  assert.equal((await patch({ name: 'after' })).status, 200);
});

for (const space of ['live', 'test'] as const)
  test(`a login of ${space} of an account without a factor loosens while it is recent, as the person does, and is told what helps`, async () => {
    const w = await workspace();
    const person = await ownerOf(w);
    const { id } = await made(w[space], 'routes.create', { name: fresh('route'), target_base_url: 'http://127.0.0.1:9' });
    const loosen = async (hours: number) => {
      await made(w[space], 'routes.update', { id, require_signature: true });
      const { text } = await w.token({ space, person, login_at: new Date(Date.now() - hours * 3_600_000) });
      return call('PATCH', `/routes/${id}`, { key: text, body: { require_signature: false } });
    };
    assert.equal((await loosen(1)).status, 200);
    const old = await loosen(13);
    assert.deepEqual([old.status, old.body.error?.type], [403, 'step_up_required'], old.text);
    assert.match(old.body.error.message, /more than 12 hours old\. Run service-cli login,/);
    await enrolled(person.id);
    const unconfirmed = await loosen(1);
    assert.deepEqual([unconfirmed.status, unconfirmed.body.error?.type], [403, 'step_up_required'], unconfirmed.text);
    assert.match(unconfirmed.body.error.message, /service-cli login --confirm/);
  });

test('a login of an account without a factor is told where to add one, as no login of it can be confirmed before', async () => {
  const w = await workspace();
  const { text } = await w.token({ person: await ownerOf(w) });
  const client = await w.client('live', { name: 'before', allowed_scopes: ['routes:read'] });
  const allowed_scopes = ['routes:read', 'routes:write'];
  for (const [method, path] of [
    ['POST', '/oauth-clients'], // its row asks in every case
    ['PATCH', `/oauth-clients/${client.id}`], // its verb does
  ] as const) {
    const { status, body } = await call(method, path, { key: text, body: { name: 'mine', allowed_scopes } });
    assert.deepEqual([status, body.error?.type], [403, 'mfa_required'], JSON.stringify(body));
    assert.match(body.error.message, /http\S+\/me\/security, then run service-cli login --confirm/);
  }
  assert.equal(await db().oauth_clients.count({ where: { tenant_id: w.tenant.id, name: 'mine' } }), 0);
});

test('machines are judged by their scopes', async () => {
  const { name, w } = await unlatched('live');
  const { text } = await w.token({ scopes: ['transit:destroy'] });
  assert.equal((await call('DELETE', `/crypto/keys/${name}`, { key: text })).status, 200);
});

test('a verb that forgets the confirmation fails for a confirmed login too', async () => {
  const w = await workspace();
  const forgetful: AnyOperation = { ...operationById('crypto_keys.delete'), run: async () => ({ deleted: true }) };
  const actor = {
    ...({ type: 'oauth_token', id: randomUUID(), client_id: 'c', token_id: 't', source_key: null, label: 'An application' } as const),
    ...{ user_id: randomUUID(), person: { email: 'a@example.test', role: 'owner' as const }, family_id: randomUUID(), scopes: [] },
    ...{ step_up_at: new Date(), capabilities: new Set(['transit:destroy'] as const) },
  };
  await assert.rejects(perform(forgetful, w.ctx('live', actor), { name: 'k' }), /did not use the verification/);
});

test('scopes of which a part takes a confirmed login are those of the table', () => {
  const scopes = [...confirmedScopes()];
  for (const scope of ['transit:destroy', 'oauth_clients:write']) assert.ok(scopes.includes(scope), scope);
  assert.ok(!scopes.includes('routes:read'));
});
