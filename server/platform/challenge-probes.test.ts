import 'reflect-metadata';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import test, { after } from 'node:test';
import { createServer as createTls } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { nameServer } from './dns-names.fixture.ts';

const dns = await nameServer();
const open: { close(): unknown }[] = [dns];
after(() => {
  for (const one of open) one.close();
});
async function listen<S extends Server>(server: S): Promise<number> {
  open.push(server);
  server.unref();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const alg = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const keys = (await crypto.subtle.generateKey(alg, true, ['sign', 'verify'])) as CryptoKeyPair;
const self = await x509.X509CertificateGenerator.createSelfSigned({ name: 'CN=web.test', keys, signingAlgorithm: alg });
const certificate = {
  cert: self.toString('pem'),
  key: x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
};

const seen: string[] = [];
const answers: RequestListener = (req, res) => {
  seen.push(`${req.headers.host}${req.url}`);
  const [, kind = '', target = ''] = /^\/([a-z]+)(?:\?(.*))?$/.exec(req.url ?? '') ?? [];
  if (kind === 'to') return void res.writeHead(302, { location: decodeURIComponent(target) }).end();
  if (kind === 'large') return void res.end(Buffer.alloc(64 * 1024, 'a'));
  if (kind === 'endless') return void setInterval(() => res.write(Buffer.alloc(4096)), 5).unref();
  if (kind === 'missing') return void res.writeHead(404).end('no');
  if (kind === 'head') return void res.writeHead(200, { 'x-pad': 'a'.repeat(20_000) }).end();
  res.end(`proof of ${req.url}`);
};
const web = await listen(createHttp(answers));
const secure = await listen(createHttps(certificate, answers));
const alpn = await listen(createTls({ ...certificate, ALPNProtocols: ['acme-tls/1'] }, (socket) => socket.end()));
const noAlpn = await listen(createTls(certificate, (socket) => socket.end()));
const garbage = await listen(createHttp().on('connection', (socket) => socket.end('SSH-2.0-OpenSSH\r\n')));

process.env.SVC_TEST_MODE = '1';
process.env.PKI_DNS_RESOLVERS = dns.address;
process.env.SVC_EGRESS_TEST_HOSTS = [
  `web.test:80=127.0.0.1:${web}`,
  `web.test:443=127.0.0.1:${secure}`,
  `alpn.test:443=127.0.0.1:${alpn}`,
  `plain.test:443=127.0.0.1:${noAlpn}`,
  `ssh.test:80=127.0.0.1:${garbage}`,
].join(',');
const { alpnCertificate, fetchProof, txtValues } = await import('./challenge-probes.ts');

const to = (target: string) => `/to?${encodeURIComponent(target)}`;
const fails = (path: string, kind: string, host = 'web.test') =>
  assert.rejects(fetchProof(host, path), { name: 'ProbeFault', kind }, `${host}${path}`);

test('a proof is read over http, also by redirects to https whose certificate nobody knows', async () => {
  const plain = await fetchProof('web.test', '/a');
  assert.deepEqual([plain.status, plain.body.toString()], [200, 'proof of /a']);
  assert.equal((await fetchProof('web.test', to('https://web.test/b'))).body.toString(), 'proof of /b');
  assert.equal((await fetchProof('web.test', to('/c'))).body.toString(), 'proof of /c');
  assert.equal((await fetchProof('web.test', '/missing')).status, 404);
  assert.ok(
    seen.every((url) => url.startsWith('web.test/')),
    'the host is the name that was asked for',
  );
});

test('a name or a redirect that leads inside is not connected to, and reads like a closed port', async () => {
  dns.names.set('inside.test', { a: ['192.168.1.1'] });
  dns.names.set('mixed.test', { a: ['93.184.216.34', '127.0.0.1'] });
  for (const host of ['inside.test', 'mixed.test', 'unknown.test', 'localhost', 'metadata.google.internal'])
    await fails('/a', 'connection', host);
  for (const target of [
    'http://127.0.0.1/',
    'http://169.254.169.254/latest',
    'http://[::1]/',
    'http://0x7f.1/',
    'https://inside.test/',
    '//localhost/',
  ])
    await fails(to(target), 'connection');
  const message = (host: string) => fetchProof(host, '/a').catch((error: Error) => error.message.replace(host, 'H'));
  assert.equal(await message('inside.test'), await message('unknown.test'));
});

test('redirects to other schemes, ports and users are not followed, and none without end', async () => {
  for (const target of [
    'ftp://web.test/',
    'file:///etc/passwd',
    'http://web.test:8080/',
    'https://web.test:80/',
    'http://a:b@web.test/',
    'http://',
  ])
    await fails(to(target), 'redirect');
  let loop = '/a';
  for (let hop = 0; hop < 7; hop++) loop = to(`http://web.test${loop}`);
  await fails(loop, 'redirect');
});

test('an answer that is too large, never ends, or is no HTTP is an error, not a proof', async () => {
  await fails('/large', 'too_large');
  await fails('/endless', 'too_large');
  await fails('/head', 'connection');
  await fails('/a', 'connection', 'ssh.test');
});

test('a certificate for tls-alpn-01 comes from a server that speaks the protocol', async () => {
  assert.deepEqual(Buffer.from(await alpnCertificate('alpn.test')), Buffer.from(self.rawData));
  for (const host of ['plain.test', 'web.test']) await assert.rejects(alpnCertificate(host), { kind: 'tls' }, host);
  await assert.rejects(alpnCertificate('inside.test'), { kind: 'connection' });
});

test('TXT records come from the configured resolvers; that there is none is an answer', async () => {
  dns.names.set('_acme-challenge.web.test', { txt: ['one', 'x'.repeat(300)] });
  assert.deepEqual([...(await txtValues('_acme-challenge.web.test'))].sort(), ['one', 'x'.repeat(300)]);
  assert.deepEqual(await txtValues('_acme-challenge.unknown.test'), []);
});
