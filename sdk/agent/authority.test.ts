import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { test } from 'node:test';
import { connect, createServer, type SecureContext } from 'node:tls';
import { createAuthority, createLeaves } from './authority.ts';

const authority = createAuthority('build-7.example');

test('the authority signs servers only, and no further authority', () => {
  const certificate = new X509Certificate(authority.certificate);
  assert.equal(certificate.ca, true);
  assert.equal(certificate.verify(certificate.publicKey), true);
  assert.match(certificate.subject, /^CN=Sallyport agent on build-7\.example$/);
  assert.ok(new Date(certificate.validTo).getTime() - Date.now() > 4 * 365 * 86_400_000);
});

test('a client that trusts the authority, and no other, accepts the certificate of an intercepted host', async (t) => {
  const leaf = createLeaves(authority);
  const server = createServer({
    SNICallback: (name: string, done: (error: Error | null, context: SecureContext) => void) => done(null, leaf(name)),
  });
  server.on('secureConnection', (socket) => socket.end('hello'));
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const greeted = (servername: string, ca?: string) =>
    new Promise<string>((resolve) => {
      const socket = connect({ socket: connectTcp(port, '127.0.0.1'), servername, ...(ca ? { ca } : {}) });
      socket.on('data', (bytes) => resolve(bytes.toString()));
      socket.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? error.message));
    });
  assert.equal(await greeted('api.example.com', authority.certificate), 'hello');
  assert.equal(await greeted('other.example.org', authority.certificate), 'hello');
  assert.notEqual(await greeted('api.example.com'), 'hello');
  assert.notEqual(await greeted('api.example.com', createAuthority('another').certificate), 'hello');
});
