import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { binding, clientKey, encoded, signed } from '#server/crypto/acme/jws.fixture.ts';
import { AcmeClient } from './acme.fixture.ts';
import { acmeAuthority, refused } from './authority.fixture.ts';

const { created, db, fresh, handleAcme, live, made, mint, registered, role, web } = await acmeAuthority();

test('a directory names its resources and asks for an external account; what leads nowhere is a bare 404', async () => {
  const client = await AcmeClient.of(handleAcme, (await mint()).directory_url);
  const { status, body, headers } = await client.send(client.directory);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), ['newNonce', 'newAccount', 'newOrder', 'revokeCert', 'keyChange', 'meta']);
  assert.equal(body.meta.externalAccountRequired, true);
  assert.equal(headers.get('replay-nonce'), null);
  const before = client.base.slice(0, client.base.indexOf('/pki/'));
  for (const path of [
    client.directory.replace('/pub/', '/pub/x'),
    client.directory.replace('/pki/', '/test/pki/'),
    client.directory.replace(created.root.id, '019ab1c4-7f6e-7c3a-9d52-3f0a6f1e2b4c'),
    client.directory.replace(web.role, 'other'),
    `${client.base}/other`,
    `${client.base}/order/x`,
    `${before}/pki`,
  ]) {
    const answer = await client.send(path);
    assert.deepEqual([answer.status, answer.text], [404, ''], path);
  }
  assert.equal((await client.send(client.directory, { method: 'POST', body: 'x' })).status, 405);
  assert.equal((await client.send(`${client.base}/new-order`)).status, 405);
  const [head, get] = [await client.send(`${client.base}/new-nonce`, { method: 'HEAD' }), await client.send(`${client.base}/new-nonce`)];
  assert.deepEqual([head.status, get.status], [200, 204]);
  assert.notEqual(head.headers.get('replay-nonce'), get.headers.get('replay-nonce'));
  assert.equal(head.headers.get('link'), `<${client.directory}>;rel="index"`);
  assert.equal(head.headers.get('cache-control'), 'no-store');
});

test('a root that is not published has no directory, and hands out no keys for one', async () => {
  const quiet = fresh('quiet');
  await made(live, 'pki.create_root', { name: quiet, subject: { CN: 'Quiet' } });
  const { name } = await made(live, 'pki.create_role', { name: quiet, role_name: 'web', allowed_domains: ['acme.test'] });
  const { directory_url } = await mint({ name: quiet, role: name });
  await made(live, 'pki.update_root', { name: quiet, publish: false });
  await assert.rejects(mint({ name: quiet, role: name }), { type: 'conflict' });
  const client = await AcmeClient.of(handleAcme, directory_url);
  assert.equal((await client.send(directory_url)).status, 404);
});

test('a client registers once with a key that was handed out; its account is found by its key afterwards', async () => {
  const credential = await mint();
  const client = await AcmeClient.of(handleAcme, credential.directory_url);
  const url = `${client.base}/new-account`;
  refused(await client.post(url, { onlyReturnExisting: true }), 400, 'accountDoesNotExist');
  refused(await client.post(url, {}), 403, 'externalAccountRequired');
  const answer = await client.register(credential, { contact: ['mailto:ops@example.com'], termsOfServiceAgreed: true });
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.body, { status: 'valid', contact: ['mailto:ops@example.com'], orders: `${client.kid}/orders` });
  const row = await db().acme_accounts.findUniqueOrThrow({ where: { id: credential.id } });
  assert.deepEqual([row.status, row.value_ct, row.cek_wrapped, row.tmk_version], ['valid', null, null, null], 'the HMAC key is erased');
  const known = new AcmeClient(handleAcme, credential.directory_url, client.key);
  const again = await known.post(url, { onlyReturnExisting: true });
  assert.deepEqual([again.status, again.headers.get('location')], [200, client.kid]);
  const second = await AcmeClient.of(handleAcme, credential.directory_url);
  refused(await second.register(credential), 403, 'unauthorized');
});

test('a binding with a wrong MAC, of an unknown, expired or deleted key, of another role or for another account key is one refusal', async () => {
  const credential = await mint();
  const client = await AcmeClient.of(handleAcme, credential.directory_url);
  const elsewhere = await mint(await role());
  const expired = await mint();
  await db().acme_accounts.update({ where: { id: expired.id }, data: { expires_at: new Date(Date.now() - 1) } });
  const gone = await mint();
  await made(live, 'acme.delete_account', { ...web, id: gone.id });
  const texts = new Set<string>();
  for (const wrong of [
    { kid: credential.kid, hmac_key: randomBytes(32).toString('base64url') },
    { kid: '019ab1c4-7f6e-7c3a-9d52-3f0a6f1e2b4c', hmac_key: credential.hmac_key },
    { kid: 'x', hmac_key: credential.hmac_key },
    elsewhere,
    expired,
    gone,
  ]) {
    const answer = await client.register(wrong);
    refused(answer, 403, 'unauthorized');
    texts.add(answer.text);
  }
  assert.equal(texts.size, 1);
  const url = `${client.base}/new-account`;
  const hmac = Buffer.from(credential.hmac_key, 'base64url');
  const other = await clientKey();
  refused(await client.post(url, { externalAccountBinding: await binding(hmac, credential.kid, url, other.jwk) }), 400, 'malformed');
  refused(
    await client.post(url, { externalAccountBinding: await binding(hmac, credential.kid, `${url}x`, client.key.jwk) }),
    403,
    'unauthorized',
  );
  const none = {
    ...(await binding(hmac, credential.kid, url, client.key.jwk)),
    protected: encoded({ alg: 'none', kid: credential.kid, url }),
  };
  refused(await client.post(url, { externalAccountBinding: none }), 400, 'badSignatureAlgorithm');
  assert.equal((await client.register(credential)).status, 201, 'none of it used the key up');
});

test('two clients that register with one key at once get one account', async () => {
  const credential = await mint();
  const clients = await Promise.all([1, 2, 3].map(() => AcmeClient.of(handleAcme, credential.directory_url)));
  const answers = await Promise.all(clients.map((client) => client.register(credential)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 403, 403]);
});

test('a request is refused for its nonce, its URL, its algorithm, its signer and its form, and says so', async () => {
  const client = await registered();
  const url = client.kid as string;
  const nonce = await client.nonce();
  assert.equal((await client.post(url, undefined, { nonce })).status, 200);
  const replayed = await client.post(url, undefined, { nonce });
  refused(replayed, 400, 'badNonce');
  assert.equal(
    (await client.post(url, undefined, { nonce: replayed.headers.get('replay-nonce') as string })).status,
    200,
    'the refusal has a nonce',
  );
  refused(await client.post(url, undefined, { nonce: null }), 400, 'badNonce');
  refused(await client.post(url, undefined, { nonce: 'AAAA' }), 400, 'badNonce');
  const elsewhere = await AcmeClient.of(handleAcme, (await mint(await role())).directory_url);
  refused(await client.post(url, undefined, { nonce: await elsewhere.nonce() }), 400, 'badNonce');
  refused(await client.post(url, undefined, { url: `${url}/` }), 403, 'unauthorized');
  refused(await client.post(url, undefined, { key: await clientKey() }), 403, 'unauthorized');
  refused(
    await client.post(url, undefined, { header: { kid: `${client.base}/account/019ab1c4-7f6e-7c3a-9d52-3f0a6f1e2b4c` } }),
    400,
    'accountDoesNotExist',
  );
  refused(await client.post(url, undefined, { header: { kid: 'https://evil.test/account/1' } }), 400, 'accountDoesNotExist');
  refused(await client.post(url, undefined, { header: { jwk: client.key.jwk } }), 400, 'malformed');
  refused(await client.post(url, undefined, { header: { kid: undefined, jwk: client.key.jwk } }), 400, 'malformed');
  refused(await client.post(url, undefined, { type: 'application/json' }), 415, 'malformed');
  refused(await client.post(url, undefined, { raw: 'x'.repeat(200_000) }), 413, 'malformed');
  refused(await client.post(url, undefined, { raw: '{' }), 400, 'malformed');
  for (const alg of ['none', 'HS256']) {
    const raw = JSON.stringify({ protected: encoded({ alg, kid: url, nonce: await client.nonce(), url }), payload: '', signature: '' });
    const answer = await client.post(url, undefined, { raw });
    refused(answer, 400, 'badSignatureAlgorithm');
    assert.deepEqual(answer.body.algorithms, ['ES256', 'ES384', 'RS256', 'EdDSA']);
  }
});

test('of many requests with one nonce one is answered', async () => {
  const client = await registered();
  const nonce = await client.nonce();
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.post(client.kid as string, undefined, { nonce })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(400)]);
});

test('an account moves to a new key, which must sign for this very account and have none of its own', async () => {
  const client = await registered();
  const taken = await registered();
  const next = await clientKey('EdDSA');
  const url = `${client.base}/key-change`;
  const change = { account: client.kid, oldKey: client.key.jwk };
  const inner = (payload: unknown, by = next, header: Record<string, unknown> = {}) => signed(by, payload, { jwk: by.jwk, url, ...header });
  refused(await client.post(url, await inner({ ...change, account: taken.kid })), 400, 'malformed');
  refused(await client.post(url, await inner({ ...change, oldKey: next.jwk })), 400, 'malformed');
  refused(await client.post(url, await inner(change, next, { url: `${url}x` })), 403, 'unauthorized');
  refused(await client.post(url, await inner(change, next, { nonce: await client.nonce() })), 400, 'malformed');
  refused(await client.post(url, await inner(change, next, { jwk: client.key.jwk })), 400, 'badSignatureAlgorithm');
  refused(await client.post(url, { ...(await inner(change)), payload: encoded({ ...change, extra: 1 }) }), 403, 'unauthorized');
  refused(await client.post(url, change), 400, 'malformed');
  const conflict = await client.post(url, await inner(change, taken.key));
  assert.deepEqual([conflict.status, conflict.headers.get('location')], [409, taken.kid]);
  assert.equal((await client.post(client.kid as string)).status, 200, 'the old key is still good');

  assert.equal((await client.post(url, await inner(change))).status, 200);
  const old = await client.post(client.kid as string);
  assert.equal(old.status, 400, 'the algorithm of the new key is another');
  client.key = next;
  assert.equal((await client.post(client.kid as string)).status, 200);
});

test('contacts are addresses of mail; a deactivated account and what it had open are over', async () => {
  const client = await registered();
  const url = client.kid as string;
  assert.deepEqual((await client.post(url, { contact: ['mailto:a@example.com'] })).body.contact, ['mailto:a@example.com']);
  refused(await client.post(url, { contact: ['tel:+1'] }), 400, 'unsupportedContact');
  for (const contact of ['mailto:a@example.com,b@example.com', 'mailto:a@example.com?subject=x', 'mailto:', 'mailto:a\u0000@example.com'])
    refused(await client.post(url, { contact: [contact] }), 400, 'invalidContact');
  refused(await client.post(url, { status: 'revoked' }), 400, 'malformed');
  const order = await client.order('a.acme.test');
  assert.equal((await client.post(url, { status: 'deactivated' })).body.status, 'deactivated');
  const after = await client.post(url);
  refused(after, 401, 'unauthorized');
  const again = new AcmeClient(handleAcme, client.directory, client.key);
  refused(await again.post(`${client.base}/new-account`, { onlyReturnExisting: true }), 403, 'unauthorized');
  const row = await db().acme_orders.findUniqueOrThrow({ where: { id: order.url.split('/').at(-1) as string } });
  assert.equal(row.status, 'invalid');
});
