import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import test from 'node:test';
import { importJWK } from 'jose';
import { SPELLED_OUT_REQUEST } from '#server/crypto/named-curve.fixture.ts';
import { derOf } from '#server/crypto/pki/pem.ts';
import { csr } from './acme.fixture.ts';
import { acmeAuthority, refused, type } from './authority.fixture.ts';

const { created, db, key, live, made, places, prove, ready, registered, role, root, validate, w, web } = await acmeAuthority();

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
  const spelledOut = derOf('CERTIFICATE REQUEST', SPELLED_OUT_REQUEST)?.toString('base64url');
  const answer = await client.post(order.body.finalize, { csr: spelledOut });
  refused(answer, 400, 'badCSR');
  assert.match(answer.body.detail, /must name its elliptic curve.*RFC 5480 §2\.1\.1/);
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

test('a deactivated authorization ends its order', async () => {
  const client = await registered();
  const order = await ready(client, 'a.acme.test');
  const [authorization] = order.body.authorizations;
  assert.equal((await client.post(authorization, { status: 'deactivated' })).body.status, 'deactivated');
  assert.equal((await client.post(order.url)).body.status, 'invalid');
  refused(await client.post(order.body.finalize, { csr: await csr(['a.acme.test']) }), 403, 'orderNotReady');
});
