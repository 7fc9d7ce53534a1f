import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import pg from 'pg';
import { proofSigner } from '#server/crypto/dpop.fixture.ts';
import { connection, sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { apiUrls, freshNonce, ProofRefused, rememberProof, useProof } from './dpop.ts';

await ownDatabase();

const [url = ''] = apiUrls('/oauth/token');
const outcome = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'accepted',
    (error: unknown) => (error instanceof ProofRefused ? error.reason : assert.fail(error as Error)),
  );

test('a proof is good once, at either public origin', async () => {
  const client = await proofSigner();
  const now = new Date();
  for (const htu of apiUrls('/oauth/token')) {
    const asked = { header: await client.prove({ method: 'POST', url: htu }), method: 'POST', urls: apiUrls('/oauth/token'), now };
    assert.deepEqual(await useProof(asked), { jkt: client.jkt });
    assert.equal(await outcome(useProof(asked)), 'replay');
  }
});

test('of many uses of one proof at once exactly one wins, also in different processes', async () => {
  const jkt = 'k'.repeat(43);
  const now = new Date();
  const other = new pg.Pool({ ...connection(), max: 4 });
  after(() => other.end());
  // Another process, with its own connections: what it inserts, ours refuses.
  const direct = () =>
    other
      .query(`insert into dpop_jti values ($1, sha256('many'), now() + interval '300 s') on conflict do nothing`, [jkt])
      .then(({ rowCount }) => rowCount === 1);
  const ours = () => outcome(rememberProof(jkt, 'many', now)).then((result) => result === 'accepted');
  const results = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? direct() : ours())));
  assert.equal(results.filter(Boolean).length, 1);
});

test('a proof is forgotten after five minutes, when its time alone refuses it', async () => {
  const now = new Date();
  await rememberProof('a', 'x', now);
  assert.equal(await outcome(rememberProof('a', 'x', new Date(now.getTime() + 299_000))), 'replay');
  assert.equal(await outcome(rememberProof('b', 'x', now)), 'accepted', 'another key has its own');
  assert.equal(await outcome(rememberProof('a', 'x', new Date(now.getTime() + 300_000))), 'accepted');
});

test('a proof that is refused for another reason is not used up', async () => {
  const client = await proofSigner();
  const now = new Date();
  const header = await client.prove({ method: 'POST', url });
  assert.equal(await outcome(useProof({ header, method: 'GET', urls: [url], now })), 'method');
  assert.equal(await outcome(useProof({ header, method: 'POST', urls: [url], now, jkt: 'another' })), 'binding');
  assert.equal(await outcome(useProof({ header, method: 'POST', urls: [url], now, nonce_required: true })), 'nonce');
  assert.equal(await outcome(useProof({ header, method: 'POST', urls: [url], now })), 'accepted');
});

test('the nonce of an answer is good for the next proof', async () => {
  const client = await proofSigner();
  const now = new Date();
  const header = await client.prove({ method: 'POST', url, claims: { nonce: freshNonce(now) } });
  assert.equal(await outcome(useProof({ header, method: 'POST', urls: [url], now, nonce_required: true })), 'accepted');
});

test('without its store no proof is accepted', async () => {
  const client = await proofSigner();
  const header = await client.prove({ method: 'POST', url });
  await sql().query('alter table dpop_jti rename to dpop_jti_away');
  try {
    await assert.rejects(useProof({ header, method: 'POST', urls: [url], now: new Date() }), (error) => !(error instanceof ProofRefused));
  } finally {
    await sql().query('alter table dpop_jti_away rename to dpop_jti');
  }
});
