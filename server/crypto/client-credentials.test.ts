import assert from 'node:assert/strict';
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hash,
  sign,
  verify,
  X509Certificate,
} from 'node:crypto';
import test from 'node:test';
import { type ClientCa, createClientCa, issueClientCertificate, openedClientCa } from './client-certificate.ts';
import { ed25519Key } from './client-credentials.fixture.ts';
import {
  generateEd25519,
  generateHmacSecret,
  importHmacSecret,
  parseEd25519,
  parseThumbprint,
  readClientCertificate,
} from './client-credentials.ts';

const now = new Date('2026-06-01T12:00:00.000Z');
const client_id = '33333333-3333-4333-8333-333333333333';

async function clientCa(ttlDays?: number): Promise<ClientCa> {
  const made = await createClientCa('11111111-1111-4111-8111-111111111111', now, ttlDays);
  return openedClientCa(made.certificate_pem, Buffer.from(made.private_key_pem));
}

test('an issued client certificate follows the documented profile and verifies under its authority', async () => {
  const ca = await clientCa();
  const issued = await issueClientCertificate(ca, { client_id, name: 'billing worker', ttl_days: 365, now });
  const certificate = new X509Certificate(issued.certificate_pem);
  const authority = new X509Certificate(issued.ca_chain_pem);
  assert.ok(certificate.verify(authority.publicKey));
  assert.ok(certificate.checkIssued(authority));
  assert.equal(certificate.subject, 'CN=billing worker');
  assert.equal(certificate.subjectAltName, `URI:urn:svc:client:${client_id}`);
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.equal(certificate.ca, false);
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  assert.ok(certificate.checkPrivateKey(createPrivateKey(issued.private_key_pem)));
  assert.equal(new Date(certificate.validFrom).toISOString(), '2026-06-01T11:59:00.000Z');
  assert.equal(issued.not_after.toISOString(), '2027-06-01T12:00:00.000Z');
  assert.equal(new Date(certificate.validTo).getTime(), issued.not_after.getTime());
  assert.match(certificate.serialNumber, /^[4-7][0-9A-F]{31}$/);
  assert.ok(authority.ca);
});

test('two issues share neither key nor serial, and another authority did not sign them', async () => {
  const [ca, other] = await Promise.all([clientCa(), clientCa()]);
  const [one, two] = await Promise.all([1, 2].map(() => issueClientCertificate(ca, { client_id, name: 'x', ttl_days: 1, now })));
  const [a, b] = [new X509Certificate(one?.certificate_pem ?? ''), new X509Certificate(two?.certificate_pem ?? '')];
  assert.notEqual(a.serialNumber, b.serialNumber);
  assert.notEqual(a.fingerprint256, b.fingerprint256);
  assert.equal(a.verify(new X509Certificate(other.certificate_pem).publicKey), false);
});

test('a certificate never outlives its authority', async () => {
  const issued = await issueClientCertificate(await clientCa(30), { client_id, name: 'x', ttl_days: 825, now });
  assert.equal(issued.not_after.toISOString(), '2026-07-01T12:00:00.000Z');
});

test('a hostile client name stays one common name of at most 64 characters', async () => {
  const ca = await clientCa();
  for (const name of ['a, O=Other, CN=root', 'x+CN=y', '#0500', '"quoted\\"', 'Ünïcødé 名', '𝒳'.repeat(100)]) {
    const certificate = new X509Certificate((await issueClientCertificate(ca, { client_id, name, ttl_days: 1, now })).certificate_pem);
    const { CN, ...rest } = certificate.toLegacyObject().subject;
    assert.equal(CN, [...name].slice(0, 64).join(''));
    assert.deepEqual(Object.keys(rest), []);
  }
});

test('the thumbprint is SHA-256 over the DER, read from a certificate or pasted in any usual form', async () => {
  const { certificate_pem } = await issueClientCertificate(await clientCa(), { client_id, name: 'reader', ttl_days: 10, now });
  const read = readClientCertificate(`\n${certificate_pem}`);
  assert.ok(typeof read === 'object');
  const { raw, fingerprint256 } = new X509Certificate(certificate_pem);
  assert.equal(read.thumbprint, hash('sha256', raw, 'hex'));
  assert.equal(read.thumbprint, parseThumbprint(fingerprint256));
  assert.equal(read.thumbprint, parseThumbprint(` ${fingerprint256.toLowerCase()} `));
  assert.equal(read.subject, 'CN=reader');
  assert.equal(read.not_after.toISOString(), '2026-06-11T12:00:00.000Z');
  for (const text of ['', 'ab', 'g'.repeat(64), 'a'.repeat(63), 'a'.repeat(65)]) assert.equal(parseThumbprint(text), undefined);
});

test('what is not exactly one certificate is refused', async () => {
  const issued = await issueClientCertificate(await clientCa(), { client_id, name: 'x', ttl_days: 10, now });
  const body = issued.certificate_pem;
  for (const text of [
    '',
    'pem',
    issued.private_key_pem,
    body + issued.private_key_pem,
    body + issued.ca_chain_pem,
    body.slice(0, -60),
    body.replace('MII', 'AII'),
    body.replace('CERTIFICATE', 'TRUSTED CERTIFICATE'),
    `comment\n${body}`,
  ]) {
    assert.equal(readClientCertificate(text), undefined, text.slice(0, 40));
  }
});

test('a generated signing secret is 32 bytes shown as base64url; an imported one needs 32 bytes', () => {
  const { secret, material } = generateHmacSecret();
  assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(Buffer.from(secret, 'base64url'), material);
  assert.equal(importHmacSecret('x'.repeat(31)), undefined);
  assert.equal(importHmacSecret('é'.repeat(16))?.length, 32);
});

test('the published request signatures verify under keys of this form', () => {
  const body = hash('sha256', '{"amount":2000,"currency":"usd"}', 'hex');
  const text = [
    'v1',
    '1767225600',
    '9f2c6a1e-5b7d-4c1a-8a55-0d4b2f6f7e11',
    'acme.example.com',
    'orders-api',
    'staging',
    'POST',
    '/v1/charges',
    'expand=customer&limit=10',
    body,
  ].join('\n');
  const key = createSecretKey(Buffer.from(Array.from({ length: 32 }, (_, i) => i)));
  assert.equal(createHmac('sha256', key).update(text).digest('hex'), '755688ec1c4ec706f35c63d3947b3fe240e27e2c62f0ff1d06ab59427c9aa6d5');
  const publicKey = parseEd25519('A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg');
  assert.ok(publicKey);
  const signature = Buffer.from('YCwHBIJsc93kWlttsJ1ww5Ggx8Fme72Vp-fm-IgcYh8SRV917HCx_gPnIyu2H9Qvndb8AJRoZyoVkOgKBpdPCg', 'base64url');
  assert.ok(verify(null, Buffer.from(text), ed25519Key(publicKey), signature));
  assert.equal(verify(null, Buffer.from(`${text} `), ed25519Key(publicKey), signature), false);
});

test('an Ed25519 public key is the same key as PEM and as 32 bytes', () => {
  const { public_key, private_key_pem } = generateEd25519();
  const privateKey = createPrivateKey(private_key_pem);
  const pem = createPublicKey(private_key_pem).export({ type: 'spki', format: 'pem' }).toString();
  assert.equal(parseEd25519(pem), public_key);
  assert.equal(parseEd25519(` ${public_key}\n`), public_key);
  const signature = sign(null, Buffer.from('message'), privateKey);
  assert.ok(verify(null, Buffer.from('message'), ed25519Key(public_key), signature));
});

test('private keys, other curves, damaged texts and keys of small order are no public keys', () => {
  const { public_key, private_key_pem } = generateEd25519();
  const p256 = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const x25519 = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const order8 = Buffer.from('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', 'hex');
  const negative = Buffer.from(order8).fill(0xfa, 31);
  for (const text of [
    '',
    private_key_pem,
    p256.publicKey,
    x25519,
    public_key.slice(1),
    `${public_key}=`,
    `${public_key}A`,
    'A'.repeat(43),
    order8.toString('base64url'),
    negative.toString('base64url'),
    '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
  ]) {
    assert.equal(parseEd25519(text), undefined, text.slice(0, 50));
  }
});
