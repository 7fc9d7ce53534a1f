import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after } from 'node:test';
import { runMigrations } from 'graphile-worker';
import { testDatabase } from '#server/testing/database.ts';
import { AcmeClient, csr, proofs } from './acme.fixture.ts';

/** A root with the ACME servers of its roles, and clients of it. Call it first in a test file: it sets what the environment says. */
export async function acmeAuthority() {
  const places = await proofs();
  // Nothing on loopback: what isn't mapped there on purpose must not be reached.
  await testDatabase({ ...places.settings, UPSTREAM_PRIVATE_ALLOWLIST: '10.77.0.0/16' });
  after(() => places.close());
  const { db } = await import('#server/platform/db.ts');
  const { sql } = await import('#server/platform/sql.ts');
  const { made, fresh } = await import('#server/testing/factories.ts');
  const { workspace } = await import('#server/testing/workspace.ts');
  const { handleAcme } = await import('./handle.ts');
  const { validateChallenge } = await import('#server/domain/acme/validation.ts');
  await runMigrations({ pgPool: sql() });

  const w = await workspace();
  /** What stands behind the accounts: an account is worth as much as this key. */
  const key = await w.key();
  const live: typeof w.live = { ...w.live, actor: { ...w.live.actor, id: key.row.id } as typeof w.live.actor };
  const root = fresh('corp');
  const created = await made(live, 'pki.create_root', { name: root, subject: { CN: 'Acme Internal CA' } });
  const role = async (rules: Record<string, unknown> = {}) => {
    const { name } = await made(live, 'pki.create_role', { name: root, role_name: fresh('web'), allowed_domains: ['acme.test'], ...rules });
    return { name: root, role: name as string };
  };
  const web = await role({ allow_wildcards: true });

  const mint = (at = web) => made(live, 'acme.create_account', { ...at, label: 'web-1' });
  async function registered(at = web): Promise<AcmeClient> {
    const credential = await mint(at);
    const client = await AcmeClient.of(handleAcme, credential.directory_url);
    const answer = await client.register(credential);
    assert.equal(answer.status, 201, answer.text);
    return client;
  }
  /** What the worker does with a challenge that was answered. */
  const validate = (url: string) => validateChallenge(db(), new Date(), { challenge_id: url.split('/').at(-1) }, []);
  /** Proves a name by http-01. */
  async function prove(client: AcmeClient, authorization: string) {
    const challenge = await client.challenge(authorization, 'http-01');
    places.pages.set(`/.well-known/acme-challenge/${challenge.token}`, challenge.authorization);
    assert.equal((await client.post(challenge.url, {})).body.status, 'processing');
    await validate(challenge.url);
  }
  /** An order whose names are proven. */
  async function ready(client: AcmeClient, ...names: string[]) {
    const order = await client.order(...names);
    assert.equal(order.status, 201, order.text);
    for (const authorization of order.body.authorizations) await prove(client, authorization);
    return order;
  }
  async function issued(client: AcmeClient, name: string, keys?: CryptoKeyPair) {
    const order = await ready(client, name);
    const done = await client.post(order.body.finalize, { csr: await csr([name], keys ? { keys } : {}) });
    assert.equal(done.status, 200, done.text);
    const pem = (await client.post(done.body.certificate)).text;
    return { order, pem, leaf: new X509Certificate(pem) };
  }
  return { created, db, fresh, handleAcme, issued, key, live, made, mint, places, prove, ready, registered, role, root, validate, w, web };
}

export const type = (name: string): string => `urn:ietf:params:acme:error:${name}`;
export const refused = (answer: { status: number; body: { type?: string }; text: string }, status: number, name: string): void =>
  assert.deepEqual([answer.status, answer.body?.type], [status, type(name)], answer.text);
