import assert from 'node:assert/strict';
import { randomBytes, X509Certificate } from 'node:crypto';
import test from 'node:test';
import { runMigrations } from 'graphile-worker';
import { importJWK } from 'jose';
import { binding, clientKey, encoded, signed } from '#server/crypto/acme/jws.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { AcmeClient, csr, proofs } from './acme.fixture.ts';

const places = await proofs();
await testDatabase({ ...places.settings, UPSTREAM_PRIVATE_ALLOWLIST: '10.77.0.0/16' });
const { db } = await import('#server/platform/db.ts');
const { sql } = await import('#server/platform/sql.ts');
const { made, fresh } = await import('#server/testing/factories.ts');
const { memberActor, workspace } = await import('#server/testing/workspace.ts');
const { verified } = await import('#server/testing/step-up.ts');
const { handleAcme } = await import('./handle.ts');
const { validateChallenge } = await import('#server/domain/acme/validation.ts');
test.after(() => places.close());
await runMigrations({ pgPool: sql() });

const w = await workspace();
const key = await w.key();
const live = { ...w.live, actor: { ...w.live.actor, id: key.row.id } } as typeof w.live;
const root = fresh('corp');
const created = await made(live, 'pki.create_root', { name: root, subject: { CN: 'Acme Internal CA' } });
const role = async (rules: Record<string, unknown> = {}) => {
  const { name } = await made(live, 'pki.create_role', { name: root, role_name: fresh('web'), allowed_domains: ['acme.test'], ...rules });
  return { name: root, role: name as string };
};
const web = await role({ allow_wildcards: true });

const mint = (at = web, more: Record<string, unknown> = {}) => made(live, 'acme.create_account', { ...at, label: 'web-1', ...more });
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
const type = (name: string) => `urn:ietf:params:acme:error:${name}`;
const refused = (answer: { status: number; body: { type?: string }; text: string }, status: number, name: string) =>
  assert.deepEqual([answer.status, answer.body?.type], [status, type(name)], answer.text);

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

test('a certificate is ordered, proven by http-01, issued for the request of the client, and listed and audited with the account', async () => {
  const client = await registered();
  const order = await client.order('A.acme.test');
  assert.equal(order.status, 201);
  assert.deepEqual([order.body.status, order.body.identifiers], ['pending', [{ type: 'dns', value: 'a.acme.test' }]]);
  refused(await client.post(order.body.finalize, { csr: await csr(['a.acme.test']) }), 403, 'orderNotReady');
  const [authorization] = order.body.authorizations;
  const before = (await client.post(authorization)).body;
  assert.deepEqual(
    [before.status, before.challenges.map((one: { type: string }) => one.type).sort()],
    ['pending', ['dns-01', 'http-01', 'tls-alpn-01']],
  );
  await prove(client, authorization);
  const after = (await client.post(authorization)).body;
  assert.deepEqual([after.status, after.challenges.length, after.challenges[0].status], ['valid', 1, 'valid']);
  assert.ok(after.challenges[0].validated);
  assert.equal((await client.post(order.url)).body.status, 'ready');

  const done = await client.post(order.body.finalize, { csr: await csr(['a.acme.test'], { cn: 'a.acme.test' }) });
  assert.deepEqual([done.status, done.body.status], [200, 'valid'], done.text);
  const answer = await client.post(done.body.certificate);
  assert.equal(answer.headers.get('content-type'), 'application/pem-certificate-chain');
  const blocks = answer.text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];
  assert.equal(blocks.join(''), answer.text);
  const [leaf, issuer] = blocks.map((pem) => new X509Certificate(pem));
  assert.equal(blocks.length, 2);
  assert.ok(leaf && issuer && leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey));
  assert.ok(issuer.verify(new X509Certificate(created.root.cert_pem).publicKey));
  assert.equal(leaf.subjectAltName, 'DNS:a.acme.test');

  const serial_hex = leaf.serialNumber.toLowerCase();
  const record = await made(live, 'pki.get_certificate', { name: root, serial_hex });
  assert.deepEqual(
    [record.source, record.role_name, record.issued_by.type, record.issued_by.id],
    ['acme', web.role, 'api_key', key.row.id],
  );
  assert.match(record.issued_by.label, /^ACME account web-1, made by /);
  const [entry] = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'pki.leaf.issue', resource_id: record.id } });
  const details = entry?.details as { serial: string; acme_account: string };
  assert.deepEqual([entry?.actor_type, details.serial, details.acme_account], ['api_key', serial_hex, client.kid?.split('/').at(-1)]);
  refused(await client.post(order.body.finalize, { csr: await csr(['a.acme.test']) }), 403, 'orderNotReady');
  assert.deepEqual((await client.post(`${client.kid}/orders`)).body.orders, [order.url]);
});

test('dns-01 is proven by the TXT record, and is the only way to a wildcard', async () => {
  const client = await registered();
  const order = await client.order('*.acme.test', 'acme.test');
  const found = await Promise.all(order.body.authorizations.map(async (url: string) => (await client.post(url)).body));
  const wildcard = found.find((one) => one.wildcard);
  assert.deepEqual([wildcard.identifier.value, wildcard.challenges.map((one: { type: string }) => one.type)], ['acme.test', ['dns-01']]);
  const records: string[] = [];
  for (const authorization of order.body.authorizations) {
    const challenge = await client.challenge(authorization, 'dns-01');
    records.push((await import('#server/crypto/acme/challenge-proof.ts')).dnsDigest(challenge.authorization));
    places.dns.names.set('_acme-challenge.acme.test', { txt: ['other', ...records] });
    await client.post(challenge.url, {});
    assert.deepEqual(await validate(challenge.url), { challenge: challenge.url.split('/').at(-1), status: 'valid' });
  }
  const done = await client.post(order.body.finalize, { csr: await csr(['*.acme.test', 'acme.test']) });
  assert.equal(done.body.status, 'valid', done.text);
});

test('a challenge that is not met ends its authorization and its order, and says why without what was found', async () => {
  const client = await registered();
  const cases: [string, string, string, (token: string) => void][] = [
    [
      'a.acme.test',
      'http-01',
      'unauthorized',
      (token) => places.pages.set(`/.well-known/acme-challenge/${token}`, 'the secret of the intranet'),
    ],
    ['a.acme.test', 'http-01', 'unauthorized', () => undefined],
    [
      'a.acme.test',
      'http-01',
      'connection',
      (token) => places.pages.set(`/.well-known/acme-challenge/${token}`, '-> http://169.254.169.254/latest'),
    ],
    ['a.acme.test', 'http-01', 'connection', (token) => places.pages.set(`/.well-known/acme-challenge/${token}`, '-> http://127.0.0.1/')],
    ['a.acme.test', 'http-01', 'unauthorized', (token) => places.pages.set(`/.well-known/acme-challenge/${token}`, 'x'.repeat(100_000))],
    ['inside.acme.test', 'http-01', 'connection', () => places.dns.names.set('inside.acme.test', { a: ['192.168.7.7'] })],
    ['inside.acme.test', 'tls-alpn-01', 'connection', () => undefined],
    ['none.acme.test', 'dns-01', 'dns', () => undefined],
    ['other.acme.test', 'dns-01', 'unauthorized', () => places.dns.names.set('_acme-challenge.other.acme.test', { txt: ['the secret'] })],
  ];
  for (const [name, kind, problem, prepare] of cases) {
    const order = await client.order(name, 'b.acme.test');
    const authorization = (
      await Promise.all(
        order.body.authorizations.map((url: string) => client.post(url).then(({ body }) => ({ url, name: body.identifier.value }))),
      )
    ).find((one) => one.name === name);
    const challenge = await client.challenge(authorization?.url as string, kind);
    prepare(challenge.token);
    await client.post(challenge.url, {});
    await validate(challenge.url);
    const { body } = await client.post(challenge.url);
    assert.deepEqual([body.status, body.error.type], ['invalid', type(problem)], `${name} ${kind} ${JSON.stringify(body)}`);
    assert.doesNotMatch(JSON.stringify(body), /secret/);
    assert.equal((await client.post(authorization?.url as string)).body.status, 'invalid');
    const ended = (await client.post(order.url)).body;
    assert.deepEqual([ended.status, ended.error.type, ended.error.identifier.value], ['invalid', type(problem), name]);
    refused(await client.post(order.body.finalize, { csr: await csr([name, 'b.acme.test']) }), 403, 'orderNotReady');
    assert.equal((await client.post(challenge.url, {})).body.status, 'invalid', 'it is decided once');
  }
});

test('names that the role does not allow, and identifiers that are no names, are refused each by itself', async () => {
  const client = await registered(await role());
  refused(await client.order('evil.example'), 403, 'rejectedIdentifier');
  refused(await client.order('*.acme.test'), 403, 'rejectedIdentifier');
  refused(await client.order('a..acme.test'), 400, 'malformed');
  refused(await client.order('10.0.0.1'), 400, 'malformed');
  const url = `${client.base}/new-order`;
  const several = await client.post(url, {
    identifiers: ['a.acme.test', 'evil.example', 'bad example'].map((value) => ({ type: 'dns', value })),
  });
  refused(several, 400, 'malformed');
  assert.deepEqual(
    several.body.subproblems.map((one: { identifier: { value: string }; type: string }) => [one.identifier.value, one.type]),
    [
      ['evil.example', type('rejectedIdentifier')],
      ['bad example', type('malformed')],
    ],
  );
  refused(await client.post(url, { identifiers: [{ type: 'ip', value: '10.0.0.1' }] }), 400, 'unsupportedIdentifier');
  for (const payload of [
    undefined,
    {},
    { identifiers: [] },
    { identifiers: 'x' },
    { identifiers: Array.from({ length: 101 }, (_, i) => ({ type: 'dns', value: `n${i}.acme.test` })) },
  ])
    refused(await client.post(url, payload), 400, 'malformed');
  refused(
    await client.post(url, { identifiers: [{ type: 'dns', value: 'a.acme.test' }], notAfter: '2027-01-01T00:00:00Z' }),
    400,
    'malformed',
  );
});

test('a request for other names than those of the order, with an address, with the key of the account, or that proves nothing is refused, and the order stays', async () => {
  const client = await registered();
  const order = await ready(client, 'a.acme.test', 'b.acme.test');
  const names = ['a.acme.test', 'b.acme.test'];
  const accountKeys = {
    privateKey: client.key.privateKey,
    publicKey: await importJWK({ ...client.key.jwk, ext: true } as never, 'ES256', { extractable: true }),
  } as unknown as CryptoKeyPair;
  const forged = Buffer.from(await csr(names), 'base64url');
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
  for (const request of [
    await csr(['a.acme.test']),
    await csr([...names, 'c.acme.test']),
    await csr(['a.acme.test', 'evil.example']),
    await csr(names, { cn: 'evil.example' }),
    await csr(names, { cn: 'A person' }),
    await csr(names, { ips: ['10.0.0.1'] }),
    await csr([]),
    await csr(names, { keys: accountKeys }),
    forged.toString('base64url'),
    Buffer.from('not DER').toString('base64url'),
  ])
    refused(await client.post(order.body.finalize, { csr: request }), 400, 'badCSR');
  for (const request of ['', 'a+b', 7, undefined, '-----BEGIN CERTIFICATE REQUEST-----'])
    refused(await client.post(order.body.finalize, { csr: request }), 400, 'malformed');
  assert.equal((await client.post(order.url)).body.status, 'ready');
  assert.equal((await client.post(order.body.finalize, { csr: await csr(['B.acme.test', 'a.acme.test']) })).body.status, 'valid');
});

test('of two requests to finalize one order at once one is issued', async () => {
  const client = await registered();
  const order = await ready(client, 'a.acme.test');
  const request = await csr(['a.acme.test']);
  const answers = await Promise.all([1, 2, 3].map(() => client.post(order.body.finalize, { csr: request })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403]);
});

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

test('a deactivated authorization ends its order', async () => {
  const client = await registered();
  const order = await ready(client, 'a.acme.test');
  const [authorization] = order.body.authorizations;
  assert.equal((await client.post(authorization, { status: 'deactivated' })).body.status, 'deactivated');
  assert.equal((await client.post(order.url)).body.status, 'invalid');
  refused(await client.post(order.body.finalize, { csr: await csr(['a.acme.test']) }), 403, 'orderNotReady');
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
