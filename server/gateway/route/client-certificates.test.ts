import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { hash, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import { request as plainRequest } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { freePort } from '#scripts/ports.ts';
import { createClientCa, issueClientCertificate, openedClientCa } from '#server/crypto/client-certificate.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { generateServer } from '../tls-upstream.fixture.ts';
import { KEY, linesOf, makeSigner, signedHeaders } from './signatures/signing.fixture.ts';

// Callers with real TLS connections to a proxy that ends them, as a deployment has it: one of node and, where it is installed, nginx.

await testDatabase({ TRUSTED_PROXIES: '127.0.0.1', CLIENT_CERT_HEADER: 'x-ssl-client-cert' });
const running = await startGateway();
const upstream = await startUpstream();
const own = await generateServer('localhost');
const proxy = await startProxy();

type Identity = { certificate_pem: string; private_key_pem: string };
type Client = { id: string; name: string };
type Credential = { id: string; data: { thumbprint: string }; reveal: Identity & { ca_chain_pem: string } };

const aClient = (w: Workspace, name: string, ip = '203.0.113.9', space: 'live' | 'test' = 'live') =>
  made(w[space], 'clients.create', { name, ip_address: ip }) as Promise<Client>;
const issued = (w: Workspace, client: Client, more: object = {}, space: 'live' | 'test' = 'live') =>
  made(w[space], 'clients.create_credential', {
    ...{ id: client.id, kind: 'mtls_thumbprint', data: { mode: 'issue' }, ...more },
  }) as unknown as Promise<Credential>;
const registered = (w: Workspace, client: Client, certificate_pem: string) =>
  made(w.live, 'clients.create_credential', { id: client.id, kind: 'mtls_thumbprint', data: { certificate_pem } });
const assigned = (w: Workspace, route: { id: string; environment: { id: string } }, client: Client, sandbox = false) =>
  db().route_client_assignments.create({
    data: { tenant_id: w.tenant.id, sandbox, route_id: route.id, environment_id: route.environment.id, client_id: client.id },
  });

/** A certificate of nobody's authority: chains aren't checked, only what was registered counts. */
async function certificate({ days = 30, from = new Date() } = {}): Promise<Identity> {
  const ca = await createClientCa(newId(), from);
  return issueClientCertificate(openedClientCa(ca.certificate_pem, Buffer.from(ca.private_key_pem)), {
    ...{ client_id: newId(), name: 'caller', ttl_days: days, now: from },
  });
}

/** A TLS connection to the proxy, with or without a certificate, and a call on it. */
function over(port: number, w: Workspace, target: string, identity?: Identity, headers: Record<string, string | string[]> = {}) {
  return new Promise<{ status: number; requestId: string }>((resolve, reject) => {
    const tls = {
      ca: own.ca_pem,
      servername: 'localhost',
      ...(identity && { cert: identity.certificate_pem, key: identity.private_key_pem }),
    };
    const host = hostOf(w);
    const req = request({ ...{ port, host: '127.0.0.1', path: target, agent: false, headers: { host, ...headers } }, ...tls }, (res) => {
      res.resume();
      res.on('end', () => resolve({ status: res.statusCode ?? 0, requestId: String(res.headers['x-svc-request-id']) }));
    });
    req.on('error', reject);
    req.end();
  });
}
const call = async (w: Workspace, identity?: Identity, headers: Record<string, string | string[]> = {}, target = '/r') =>
  (await over(proxy, w, target, identity, headers)).status;

const hostOf = (w: Workspace) => `${w.tenant.slug}.localhost:${running.port}`;
const escaped = (pem: string) => encodeURIComponent(pem);
const headerOf = (identity: Identity) => ({ 'x-ssl-client-cert': escaped(identity.certificate_pem) });
/** What the log says of a call that got through. */
async function logged(w: Workspace, asked: Promise<{ status: number; requestId: string }>) {
  const { status, requestId: request_id } = await asked;
  assert.equal(status, 200);
  await running.flush();
  return db().request_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, request_id } });
}

test('an issued certificate admits its client over TLS; none, another and a foreign one admit nobody', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { requires_clients: true });
  const client = await aClient(w, 'billing');
  await assigned(w, route, client);
  const { reveal, id } = await issued(w, client);
  await served(running, w);
  const row = await logged(w, over(proxy, w, '/r', reveal));
  assert.deepEqual([row.identification_method, row.matched_client_id], ['mtls_thumbprint', client.id]);
  assert.equal(upstream.seen.at(-1)?.headers['x-ssl-client-cert'], undefined, 'the certificate is not told to the upstream');
  assert.equal(await call(w), 401);
  assert.equal(await call(w, await certificate()), 401);
  assert.ok((await db().credential_usage.findUniqueOrThrow({ where: { id } })).last_used_at);

  const other = await workspace();
  const theirs = await makeRoute(other, 'r', upstream.url, { requires_clients: true });
  const stranger = await aClient(other, 'stranger');
  await assigned(other, theirs, stranger);
  await issued(other, stranger);
  await served(running, other);
  assert.equal(await call(other, reveal), 401, 'a certificate of another workspace');
});

test('a registered certificate of any authority admits, by PEM and by thumbprint', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { requires_clients: true });
  const client = await aClient(w, 'partner');
  await assigned(w, route, client);
  const [one, two] = [await certificate(), await certificate()];
  await registered(w, client, one.certificate_pem);
  await made(w.live, 'clients.create_credential', {
    ...{ id: client.id, kind: 'mtls_thumbprint', data: { thumbprint: new X509Certificate(two.certificate_pem).fingerprint256 } },
  });
  await served(running, w);
  assert.deepEqual([await call(w, one), await call(w, two)], [200, 200]);
});

test('a signature goes before a certificate, and a certificate before an address', async () => {
  const w = await workspace();
  await makeRoute(w, 'open', upstream.url);
  const route = await makeRoute(w, 'r', upstream.url, { requires_clients: true });
  await makeRoute(w, 'signed', upstream.url, { require_signature: true });
  const { text: key } = await w.key();
  const byAddress = await aClient(w, 'by address', '198.51.100.0/24');
  const byCertificate = await aClient(w, 'by certificate');
  const { client: bySignature } = await makeSigner(w, { hmac: KEY });
  const { reveal } = await issued(w, byCertificate);
  await assigned(w, route, byAddress);
  await served(running, w);
  const from = { 'x-svc-key': key, 'x-forwarded-for': '198.51.100.7' };
  const matched = async (target: string, more: Record<string, string> = {}) =>
    (await logged(w, over(proxy, w, target, reveal, { ...from, ...more }))).matched_client_id;
  assert.equal(await matched('/open'), byCertificate.id);
  // Where clients are required, one that isn't assigned doesn't stand in the way of one that is.
  assert.equal(await matched('/r'), byAddress.id);
  await assigned(w, route, byCertificate);
  await served(running, w);
  assert.equal(await matched('/r'), byCertificate.id);
  const lines = linesOf({ host: hostOf(w).split(':')[0] ?? '', route: 'signed', path: '/x' });
  assert.equal(await matched('/signed/x', signedHeaders(lines)), bySignature.id);
});

test('a certificate counts between its own dates only, and while its credential and client are good', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { requires_clients: true });
  const client = await aClient(w, 'billing');
  await assigned(w, route, client);
  const day = 86_400_000;
  const ended = await certificate({ days: 1, from: new Date(Date.now() - 3 * day) });
  const future = await certificate({ from: new Date(Date.now() + day) });
  for (const { certificate_pem } of [ended, future]) await registered(w, client, certificate_pem);
  const good = await issued(w, client);
  const late = await issued(w, client, { expires_at: new Date(Date.now() + 2_500).toISOString() });
  await served(running, w);
  assert.deepEqual([await call(w, ended), await call(w, future), await call(w, good.reveal)], [401, 401, 200]);
  assert.equal(await call(w, late.reveal), 200);
  await until(async () => (await call(w, late.reveal)) === 401);
  const set = (input: Record<string, unknown>, operation = 'clients.update_credential') => made(w.live, operation, input);
  await set({ id: client.id, credentialId: good.id, enabled: false });
  await until(async () => (await call(w, good.reveal)) === 401);
  await set({ id: client.id, credentialId: good.id, enabled: true });
  await until(async () => (await call(w, good.reveal)) === 200);
  await set({ id: client.id, enabled: false }, 'clients.update');
  await until(async () => (await call(w, good.reveal)) === 401);
  await set({ id: client.id, enabled: true }, 'clients.update');
  await until(async () => (await call(w, good.reveal)) === 200);
  await set({ id: client.id, credentialId: good.id }, 'clients.delete_credential');
  await until(async () => (await call(w, good.reveal)) === 401);
});

test('a certificate of the Test space never matches a Live call', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { requires_clients: true });
  const live = await aClient(w, 'live');
  await assigned(w, route, live);
  const client = await aClient(w, 'test', '203.0.113.9', 'test');
  const { reveal } = await issued(w, client, {}, 'test');
  await issued(w, live);
  await served(running, w);
  assert.equal(await call(w, reveal), 401);
});

test('the header counts from a trusted proxy only, once, and holding exactly one certificate', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { requires_clients: true });
  const client = await aClient(w, 'billing');
  await assigned(w, route, client);
  const { reveal, data } = await issued(w, client);
  await served(running, w);
  const straight = (headers: Record<string, string | string[]>) => ask(running.port, w.tenant.slug, '/r', { headers });
  // From the proxy's address, as a proxy would send it.
  assert.equal((await straight(headerOf(reveal))).status, 200);
  const pem = reveal.certificate_pem;
  const forged: [string, Record<string, string | string[]>][] = [
    ['twice', { 'x-ssl-client-cert': [escaped(pem), escaped(pem)] }],
    ['after an empty one', { 'x-ssl-client-cert': ['', escaped(pem)] }],
    ['joined', { 'x-ssl-client-cert': `${escaped(pem)}, ${escaped(pem)}` }],
    ['two certificates', { 'x-ssl-client-cert': escaped(pem + pem) }],
    ['with its chain', { 'x-ssl-client-cert': escaped(pem + reveal.ca_chain_pem) }],
    ['a thumbprint', { 'x-ssl-client-cert': data.thumbprint }],
    ['a thumbprint as PEM', { 'x-ssl-client-cert': escaped(asPem(Buffer.from(data.thumbprint, 'hex'))) }],
    ['the same key and names, signed by nobody', { 'x-ssl-client-cert': escaped(asPem(changed(pem))) }],
    ['bytes after it', { 'x-ssl-client-cert': escaped(asPem(Buffer.concat([new X509Certificate(pem).raw, Buffer.alloc(1)]))) }],
    ['a broken escape', { 'x-ssl-client-cert': `%${escaped(pem)}` }],
    ['underscores', { x_ssl_client_cert: escaped(pem) }],
    ['another header', { 'x-forwarded-client-cert': escaped(pem), 'x-client-cert': escaped(pem) }],
    ['nothing', { 'x-ssl-client-cert': '' }],
  ];
  for (const [what, headers] of forged) assert.equal((await straight(headers)).status, 401, what);
  assert.equal(await fromAddress('127.0.0.2', w, headerOf(reveal)), 401, 'a caller that is no trusted proxy');
  assert.equal(await fromAddress('127.0.0.2', w, { ...headerOf(reveal), 'x-forwarded-for': '127.0.0.1' }), 401);
  assert.equal(await fromAddress('127.0.0.1', w, headerOf(reveal)), 200);
  // What a caller sends of it is replaced by the proxy.
  assert.equal(await call(w, undefined, headerOf(reveal)), 401);
  assert.equal(await call(w, await certificate(), headerOf(reveal)), 401);
});

test('a certificate is registered but is not X.509 to us: it matches nobody', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { requires_clients: true });
  const client = await aClient(w, 'odd');
  await assigned(w, route, client);
  const bytes = Buffer.from('not a certificate');
  const thumbprint = hash('sha256', bytes, 'hex');
  await made(w.live, 'clients.create_credential', { id: client.id, kind: 'mtls_thumbprint', data: { thumbprint } });
  await served(running, w);
  const headers = { 'x-ssl-client-cert': escaped(asPem(bytes)) };
  assert.equal((await ask(running.port, w.tenant.slug, '/r', { headers })).status, 401);
});

const missing = (command: string, ...args: string[]) => {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return false;
  } catch {
    return `the command ${command} is not installed`;
  }
};

test('nginx in front, as the documentation sets it up, and openssl s_client as the caller', {
  skip: missing('nginx', '-v') || missing('openssl', 'version'),
}, async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { requires_clients: true });
  const client = await aClient(w, 'billing');
  await assigned(w, route, client);
  const { reveal } = await issued(w, client);
  await served(running, w);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'client-certificates-'));
  after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string) => {
    fs.writeFileSync(path.join(folder, name), text, { mode: 0o600 });
    return path.join(folder, name);
  };
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  const config = file(
    'nginx.conf',
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {}
    http { access_log off; ${temporary}
      server { listen 127.0.0.1:${port} ssl; ssl_certificate ${file('cert.pem', own.cert)}; ssl_certificate_key ${file('key.pem', own.key)};
        ssl_verify_client optional_no_ca;
        location / { proxy_pass http://127.0.0.1:${running.port}; proxy_http_version 1.1; proxy_set_header Host $http_host;
          proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-SSL-Client-Cert $ssl_client_escaped_cert; } } }`,
  );
  const nginx = spawn('nginx', ['-c', config, '-e', path.join(folder, 'error.log')], { stdio: 'ignore' });
  after(() => nginx.kill());
  await until(() =>
    over(port, w, '/r').then(
      () => true,
      () => false,
    ),
  );
  assert.equal((await over(port, w, '/r', reveal)).status, 200);
  assert.equal((await over(port, w, '/r', undefined, headerOf(reveal))).status, 401, 'nginx drops what the caller sends');
  assert.equal((await over(port, w, '/r', await certificate(), headerOf(reveal))).status, 401);
  const identity = ['-cert', file('client.pem', reveal.certificate_pem), '-key', file('client.key', reveal.private_key_pem)];
  const s_client = (...more: string[]) =>
    new Promise<string>((resolve, reject) => {
      const ours = ['s_client', '-quiet', '-ign_eof', '-connect', `127.0.0.1:${port}`, ...more];
      const run = execFile('openssl', ours, { timeout: 20_000 }, (error, stdout) => (stdout ? resolve(stdout) : reject(error)));
      run.stdin?.end(`GET /r HTTP/1.1\r\nHost: ${hostOf(w)}\r\nConnection: close\r\n\r\n`);
    });
  assert.match(await s_client(...identity), /^HTTP\/1\.1 200 /m);
  assert.match(await s_client(), /^HTTP\/1\.1 401 /m);
});

/** Ends TLS, asks for a certificate without demanding one, and tells the gateway in place of what the caller says. */
async function startProxy(): Promise<number> {
  const server = createServer({ cert: own.cert, key: own.key, requestCert: true, rejectUnauthorized: false }, (req, res) => {
    const der = (req.socket as TLSSocket).getPeerCertificate(true).raw as Buffer | undefined;
    const headers = { 'x-forwarded-for': '203.0.113.200', ...req.headers, connection: 'close' } as unknown as Record<string, string>;
    delete headers['x-ssl-client-cert'];
    if (der) headers['x-ssl-client-cert'] = escaped(asPem(der));
    const onward = plainRequest(
      { port: running.port, host: '127.0.0.1', path: req.url, method: req.method, headers, agent: false },
      (got) => {
        res.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(res);
      },
    );
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const asPem = (der: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;
/** The same certificate with one bit of its signature flipped. */
const changed = (pem: string) => {
  const der = Buffer.from(new X509Certificate(pem).raw);
  der.writeUInt8(der.readUInt8(der.length - 1) ^ 1, der.length - 1);
  return der;
};

/** A call from an address of its own; the gateway sees it as the peer. */
function fromAddress(localAddress: string, w: Workspace, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const host = hostOf(w);
    const req = plainRequest(
      { port: running.port, host: '127.0.0.1', localAddress, path: '/r', agent: false, headers: { host, ...headers } },
      (res) => {
        res.resume();
        res.on('end', () => resolve(res.statusCode ?? 0));
      },
    );
    req.on('error', reject);
    req.end();
  });
}
