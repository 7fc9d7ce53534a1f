import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createServer as createHttp } from 'node:http';
import { createServer as createTcp } from 'node:net';
import test from 'node:test';
import { createServer as createTls } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { call, keyOf, listen, poolsOf } from './upstream.fixture.ts';
import type { PoolKey } from './upstream-pool.ts';

x509.cryptoProvider.set(crypto);
const alg = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const pem = async (key: CryptoKey) => x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
const caKeys = (await crypto.subtle.generateKey(alg, true, ['sign', 'verify'])) as CryptoKeyPair;
const day = 86_400_000;
const ca = await x509.X509CertificateGenerator.createSelfSigned({
  name: 'CN=Test CA',
  keys: caKeys,
  signingAlgorithm: alg,
  notBefore: new Date(Date.now() - day),
  notAfter: new Date(Date.now() + day),
  extensions: [new x509.BasicConstraintsExtension(true, 1, true), new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)],
});
async function leaf(name: string, notAfter = new Date(Date.now() + day)) {
  const keys = (await crypto.subtle.generateKey(alg, true, ['sign', 'verify'])) as CryptoKeyPair;
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: Math.floor(Math.random() * 1e9).toString(16),
    subject: `CN=${name}`,
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: alg,
    notBefore: new Date(Date.now() - 2 * day),
    notAfter,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
  });
  return { cert: cert.toString('pem'), key: await pem(keys.privateKey) };
}

async function tlsServer(name: string, more: Parameters<typeof createTls>[0] = {}, notAfter?: Date) {
  const names: (string | false)[] = [];
  const server = createTls({ ...(await leaf(name, notAfter)), ...more }, (socket) => {
    names.push((socket as { servername?: string }).servername ?? false);
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  });
  server.on('tlsClientError', () => undefined);
  return { port: await listen(server), names };
}
const tlsKey = (port: number, more: Partial<PoolKey> = {}) =>
  keyOf(port, { scheme: 'https', host: 'api.example.com', tls: { ca: ca.toString('pem') }, identity: 'ca:1', ...more });

test('a certificate for the right name under the configured CA is accepted, with the name in SNI', async () => {
  const { port, names } = await tlsServer('api.example.com');
  const pools = poolsOf();
  assert.equal((await call(pools, tlsKey(port))).body, 'ok');
  assert.deepEqual(names, ['api.example.com']);
});

test('wrong name, expired, unknown CA, TLS 1.1 and plain text are upstream_tls_error', async () => {
  const wrong = await tlsServer('other.example.com');
  const expired = await tlsServer('api.example.com', {}, new Date(Date.now() - day / 2));
  const good = await tlsServer('api.example.com');
  const old = await tlsServer('api.example.com', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
  const plain = await listen(createHttp((_, res) => res.end('x')));
  const silent = await listen(createTcp((socket) => socket.destroy()));
  const cases: PoolKey[] = [
    tlsKey(wrong.port),
    tlsKey(expired.port),
    tlsKey(good.port, { tls: undefined, identity: '' }),
    tlsKey(old.port),
    tlsKey(plain),
    tlsKey(silent),
  ];
  for (const [index, key] of cases.entries()) {
    const outcome = await call(poolsOf(), key);
    assert.deepEqual([outcome.fault?.type, outcome.fault?.phase], ['upstream_tls_error', 'connect'], `case ${index}`);
    assert.doesNotMatch(outcome.fault?.message ?? '', /other\.example|127\.0\.0\.1|self|CA/);
  }
});

test('a client certificate is presented when configured; missing it fails, an unusable one is route_misconfigured', async () => {
  const { port } = await tlsServer('api.example.com', { requestCert: true, rejectUnauthorized: true, ca: ca.toString('pem') });
  const client = await leaf('client');
  const tls = { ca: ca.toString('pem'), ...client };
  assert.equal((await call(poolsOf(), tlsKey(port, { tls, identity: 'cert:1' }))).body, 'ok');
  // With TLS 1.3 the server says no after the handshake, by alert or by hanging up.
  const without = (await call(poolsOf(), tlsKey(port))).fault;
  assert.ok(without?.type === 'upstream_tls_error' || without?.type === 'upstream_unreachable');
  const broken = { ...tls, key: 'not a key' };
  assert.equal((await call(poolsOf(), tlsKey(port, { tls: broken, identity: 'cert:2' }))).fault?.type, 'route_misconfigured');
});

test('a reset on a fresh TLS socket is not taken for a stale one', async () => {
  let reset = false;
  const server = createTls(await leaf('api.example.com'), (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => (reset ? socket.destroy() : socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')));
  });
  const port = await listen(server);
  const pools = poolsOf();
  assert.equal((await call(pools, tlsKey(port))).body, 'ok');
  reset = true;
  const stale = await call(pools, tlsKey(port), { method: 'POST', body: Buffer.from('x') });
  assert.deepEqual([stale.fault?.type, stale.fault?.reused], ['upstream_unreachable', true]);
  const fresh = await call(pools, tlsKey(port), { method: 'POST', body: Buffer.from('x') });
  assert.deepEqual([fresh.fault?.type, fresh.fault?.reused], ['upstream_unreachable', false]);
});

test('what comes behind an answer never becomes the next one, also in a record of its own', async () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 16300\r\nX-Fill: ';
  // A record carries 16 KiB: the answer is the first, and all of what is behind it the second.
  const answer = `${head}${'x'.repeat(16_384 - head.length - 4 - 16_300)}\r\n\r\n${'a'.repeat(16_300)}`;
  assert.equal(answer.length, 16_384);
  let n = 0;
  const server = createTls(await leaf('api.example.com'), (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      if (n++ === 0) socket.write(`${answer}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`);
      else setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown'), 30);
    });
  });
  server.on('tlsClientError', () => undefined);
  const [pools, key] = [poolsOf({ connections: 1 }), tlsKey(await listen(server))];
  const [first, second] = await Promise.all([call(pools, key), call(pools, key)]);
  assert.deepEqual([first.body.length, second.body], [16_300, 'own']);
});
