import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { createLocalJWKSet } from 'jose';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handlePublicKeys } from './public-keys.ts';

await testDatabase();
const w = await workspace();
const { id, name } = await made(w.live, 'crypto_keys.create', { name: 'signer', key_type: 'ed25519' });
const slug = w.tenant.slug;

const ask = (path: string, init: RequestInit = {}) =>
  handlePublicKeys(new Request(`http://api.test${path}`, init), { space: 'live', ip: null, request_id: randomUUID(), user_agent: null });
const update = (input: object) => made(w.live, 'crypto_keys.update', { name, ...input });

/** Everything about an answer but its own ID. */
async function whole(path: string): Promise<string> {
  const answer = await ask(path);
  answer.headers.delete('x-request-id');
  return JSON.stringify([answer.status, [...answer.headers], await answer.text()]);
}

test('a set that is off, a key that is unknown, deleted, symmetric or of another space, and any other path are the same bare 404', async () => {
  const inTest = await made(w.test, 'crypto_keys.create', { name: 'signer', key_type: 'ed25519' });
  await made(w.test, 'crypto_keys.update', { name: 'signer', jwks_public: true });
  const symmetric = await made(w.live, 'crypto_keys.create', { name: 'aes' });
  const gone = await made(w.live, 'crypto_keys.create', { name: 'gone', key_type: 'ed25519' });
  await made(w.live, 'crypto_keys.update', { name: 'gone', jwks_public: true, deletion_allowed: true });
  assert.equal((await ask(`/pub/${slug}/jwks/${gone.id}.json`)).status, 200);
  await made(w.live, 'crypto_keys.delete', { name: 'gone' });
  const other = await workspace();
  const answers = new Set(
    await Promise.all(
      [
        `/pub/${slug}/jwks/${id}.json`,
        `/pub/${slug}/jwks/${gone.id}.json`,
        `/pub/${slug}/jwks/${inTest.id}.json`,
        `/pub/${slug}/jwks/${symmetric.id}.json`,
        `/pub/${slug}/test/jwks/${id}.json`,
        `/pub/${other.tenant.slug}/test/jwks/${inTest.id}.json`,
        `/pub/nobody/test/jwks/${inTest.id}.json`,
        `/pub/${slug}/test/jwks/${inTest.id}`,
        `/pub/${slug}/test/jwks/${inTest.id}xjson`,
        `/pub/${slug}/test/jwks/signer.json`,
        `/pub/${slug}/jwks/..json`,
        '/pub',
        '/pub/x',
      ].map(whole),
    ),
  );
  assert.equal(answers.size, 1, [...answers].join('\n'));
  assert.match([...answers][0] as string, /^\[404,.*,""\]$/);
  assert.equal((await ask(`/pub/${slug}/test/jwks/${inTest.id}.json`)).status, 200);
});

test('a public set is plain RFC 7517 for anybody, cacheable, with a tag that follows its content', async () => {
  await update({ jwks_public: true });
  const detail = await made(w.live, 'crypto_keys.get', { name });
  const path = new URL(detail.jwks_url).pathname;
  assert.equal(path, `/pub/${slug}/jwks/${id}.json`);
  const first = await ask(path);
  const set = await first.json();
  assert.deepEqual(Object.keys(set), ['keys']);
  assert.deepEqual(
    set.keys.map((k: { kid: string; use: string; alg: string; d?: string }) => [k.kid, k.use, k.alg, k.d]),
    [[`${id}.v1`, 'sig', 'EdDSA', undefined]],
  );
  assert.doesNotThrow(() => createLocalJWKSet(set));
  const read = ['content-type', 'cache-control', 'access-control-allow-origin', 'x-content-type-options'].map((h) => first.headers.get(h));
  assert.deepEqual(read, ['application/jwk-set+json', 'public, max-age=300', '*', 'nosniff']);
  const etag = first.headers.get('etag') as string;
  for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const answer = await ask(path, { headers: { 'if-none-match': tag } });
    assert.deepEqual([answer.status, await answer.text(), answer.headers.get('etag')], [304, '', etag], tag);
  }
  const head = await ask(path, { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text(), head.headers.get('etag')], [200, '', etag]);
  assert.equal((await ask(path, { method: 'OPTIONS' })).status, 204);
  assert.deepEqual(
    [(await ask(path, { method: 'POST' })).status, (await ask(path, { method: 'POST' })).headers.get('allow')],
    [405, 'GET, HEAD, OPTIONS'],
  );

  await made(w.live, 'crypto_keys.rotate', { name });
  const rotated = await ask(path, { headers: { 'if-none-match': etag } });
  assert.equal(rotated.status, 200, 'the new version is published at once');
  assert.deepEqual(
    (await rotated.json()).keys.map((k: { kid: string }) => k.kid),
    [`${id}.v2`, `${id}.v1`],
  );
  await update({ min_decryption_version: 2 });
  assert.deepEqual(
    (await (await ask(path)).json()).keys.map((k: { kid: string }) => k.kid),
    [`${id}.v2`],
  );
  await update({ jwks_public: false });
  assert.equal((await ask(path)).status, 404);
});

test('the sets of a deleted workspace are gone', async () => {
  await update({ jwks_public: true });
  const path = `/pub/${slug}/jwks/${id}.json`;
  assert.equal((await ask(path)).status, 200);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { deleted_at: new Date() } });
  assert.equal((await ask(path)).status, 404);
});

test('nobody reaches it around the front door', async () => {
  assert.equal((await handlePublicKeys(new Request('http://api.test/pub/x'), undefined)).status, 404);
});
