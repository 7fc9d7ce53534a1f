import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import test from 'node:test';
import { importJWK } from 'jose';
import { clientKey } from '#server/crypto/acme/jws.fixture.ts';
import { verified } from '#server/testing/step-up.ts';
import { memberActor } from '#server/testing/workspace.ts';
import { AcmeClient, csr } from './acme.fixture.ts';
import { acmeAuthority, refused } from './authority.fixture.ts';

const { created, db, fresh, handleAcme, issued, key, live, made, ready, registered, role, root, w, web } = await acmeAuthority();

test('what belongs to another account is not there, whoever asks and however', async () => {
  const [mine, other] = [await registered(), await registered()];
  const { order } = await issued(mine, 'a.acme.test');
  const challenge = await mine.challenge((await mine.order('b.acme.test')).body.authorizations[0], 'http-01');
  const unknown = '019ab1c4-7f6e-7c3a-9d52-3f0a6f1e2b4c';
  const request = { csr: await csr(['a.acme.test']) };
  const cases: [string, unknown][] = [
    [order.url, undefined],
    [`${order.url}/finalize`, request],
    [order.url.replace('/order/', '/cert/'), undefined],
    [order.body.authorizations[0], undefined],
    [order.body.authorizations[0], { status: 'deactivated' }],
    [challenge.url, undefined],
    [challenge.url, {}],
    [mine.kid as string, undefined],
    [mine.kid as string, { status: 'deactivated' }],
    [`${mine.kid}/orders`, undefined],
  ];
  for (const [url, payload] of cases) {
    const foreign = await other.post(url, payload);
    refused(foreign, url.endsWith('finalize') ? 404 : 404, 'malformed');
    const missing = await other.post(url.replace(/[0-9a-f-]{36}(?=[^-]*$|\/finalize$|\/orders$)/, unknown), payload);
    assert.equal(missing.text, foreign.text, url);
  }
  assert.equal((await mine.post(challenge.url)).body.status, 'pending');
});

test('an account gets nothing more once the credential that made it ends or may no longer sign', async () => {
  const other = await w.key();
  const ctx = { ...w.live, actor: { ...w.live.actor, id: other.row.id } } as typeof w.live;
  const credential = await made(ctx, 'acme.create_account', web);
  const unused = await made(ctx, 'acme.create_account', web);
  const client = await AcmeClient.of(handleAcme, credential.directory_url);
  assert.equal((await client.register(credential)).status, 201);
  const order = await ready(client, 'a.acme.test');
  const refuses = async () => {
    refused(await client.order('a.acme.test'), 403, 'unauthorized');
    refused(await client.post(order.body.finalize, { csr: await csr(['a.acme.test']) }), 403, 'unauthorized');
    refused(await (await AcmeClient.of(handleAcme, credential.directory_url)).register(unused), 403, 'unauthorized');
  };
  await db().api_keys.update({ where: { id: other.row.id }, data: { scoped: true, scopes: ['routes:read'] } });
  await refuses();
  await db().api_keys.update({ where: { id: other.row.id }, data: { scoped: false, active: false } });
  await refuses();
  await db().api_keys.update({ where: { id: other.row.id }, data: { active: true } });
  assert.equal((await client.post(order.body.finalize, { csr: await csr(['a.acme.test']) })).body.status, 'valid');
});

test('a policy that denies signing under the role, to the credential behind the account, denies it to the account', async () => {
  const at = await role();
  const client = await registered(at);
  const order = await ready(client, 'a.acme.test');
  const owner = { ...live, actor: memberActor('owner') };
  await verified(owner, 'policy.change');
  const policy = { name: 'No signing', actions: ['pki:sign'], subjects: { api_key_ids: [key.row.id] }, resources: [`${root}/${at.role}`] };
  const { id } = await made(owner, 'policies.create', policy);
  refused(await client.post(order.body.finalize, { csr: await csr(['a.acme.test']) }), 403, 'unauthorized');
  await verified(owner, 'policy.change');
  await made(owner, 'policies.delete', { id });
  assert.equal((await client.post(order.body.finalize, { csr: await csr(['a.acme.test']) })).body.status, 'valid');
});

test('a deleted account is unknown at its next request; a retired root issues nothing and revokes all the same', async () => {
  const client = await registered();
  await made(live, 'acme.delete_account', { ...web, id: client.kid?.split('/').at(-1) });
  refused(await client.post(client.kid as string), 400, 'accountDoesNotExist');

  const name = fresh('retiring');
  await made(live, 'pki.create_root', { name, subject: { CN: 'Retiring' } });
  const at = { name, role: (await made(live, 'pki.create_role', { name, role_name: 'web', allowed_domains: ['acme.test'] })).name };
  const still = await registered(at);
  const { leaf } = await issued(still, 'a.acme.test');
  const order = await ready(still, 'a.acme.test');
  await made(live, 'pki.update_root', { name, status: 'retired' });
  refused(await still.post(order.body.finalize, { csr: await csr(['a.acme.test']) }), 403, 'unauthorized');
  assert.equal((await still.post(`${still.base}/revoke-cert`, { certificate: leaf.raw.toString('base64url') })).status, 200);
});

test('a certificate is revoked by its account, by one with all its names, or by its key, and by nobody else', async () => {
  const [mine, other] = [await registered(), await registered()];
  const url = `${mine.base}/revoke-cert`;
  const of = ({ leaf }: { leaf: X509Certificate }, more: Record<string, unknown> = {}) => ({
    certificate: leaf.raw.toString('base64url'),
    ...more,
  });
  const status = async (leaf: X509Certificate) => made(live, 'pki.get_certificate', { name: root, serial_hex: leaf.serialNumber });

  const first = await issued(mine, 'a.acme.test');
  refused(await other.post(url, of(first)), 403, 'unauthorized');
  refused(await mine.post(url, of(first, { reason: 6 })), 400, 'badRevocationReason');
  refused(await mine.post(url, of(first, { reason: 2 })), 400, 'badRevocationReason');
  refused(await mine.post(url, { certificate: 'AAAA' }), 400, 'malformed');
  const changed = Buffer.from(first.leaf.raw);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  refused(await mine.post(url, { certificate: changed.toString('base64url') }), 404, 'malformed');
  refused(await mine.post(url, { certificate: new X509Certificate(created.root.cert_pem).raw.toString('base64url') }), 404, 'malformed');
  assert.equal((await mine.post(url, of(first, { reason: 1 }))).status, 200);
  const { status: state, revocation_reason } = await status(first.leaf);
  assert.deepEqual([state, revocation_reason], ['revoked', 'key_compromise']);
  refused(await mine.post(url, of(first)), 400, 'alreadyRevoked');

  const second = await issued(mine, 'a.acme.test');
  await ready(other, 'a.acme.test');
  assert.equal((await other.post(url, of(second))).status, 200);

  const holder = await clientKey();
  const publicKey = await importJWK({ ...holder.jwk, ext: true } as never, 'ES256', { extractable: true });
  const third = await issued(mine, 'a.acme.test', { privateKey: holder.privateKey, publicKey } as unknown as CryptoKeyPair);
  const stranger = new AcmeClient(handleAcme, mine.directory, await clientKey());
  refused(await stranger.post(url, of(third)), 403, 'unauthorized');
  const bearer = new AcmeClient(handleAcme, mine.directory, holder);
  assert.equal((await bearer.post(url, of(third))).status, 200);
  assert.equal((await status(third.leaf)).status, 'revoked');
});

test('challenge tokens, order and account are of one space: Test has directories of its own', async () => {
  const name = fresh('sandbox');
  await made(w.test, 'pki.create_root', { name, subject: { CN: 'Sandbox' } });
  const { name: roleName } = await made(w.test, 'pki.create_role', { name, role_name: 'web', allowed_domains: ['acme.test'] });
  const testKey = await w.key('test');
  const ctx = { ...w.test, actor: { ...w.test.actor, id: testKey.row.id } } as typeof w.test;
  const credential = await made(ctx, 'acme.create_account', { name, role: roleName });
  assert.match(credential.directory_url, new RegExp(`/pub/${w.tenant.slug}/test/pki/`));
  const client = await AcmeClient.of(handleAcme, credential.directory_url);
  assert.equal((await client.register(credential)).status, 201);
  const { leaf } = await issued(client, 'a.acme.test');
  assert.ok(leaf.validToDate.getTime() - leaf.validFromDate.getTime() < 31 * 86_400_000);
  const outside = new AcmeClient(handleAcme, credential.directory_url.replace('/test/', '/'), client.key);
  assert.equal((await outside.send(outside.directory)).status, 404);
});
