import assert from 'node:assert/strict';
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { startTokenServer } from '#server/custody/connections/token-server.fixture.ts';
import { madeCertificate } from '#server/domain/secrets/certificates/certificate.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from './gateway.fixture.ts';

await testDatabase();
const gateways = [await startGateway(), await startGateway()] as const;
const [gateway] = gateways;
const w = await workspace();
const { text: key } = await w.key();

const secretName = () => fresh('CRM').replaceAll('-', '_');

async function connection(url: string) {
  return made(w.live, 'secrets.create_oauth2', {
    ...{ name: secretName(), provider: 'custom', grant_type: 'client_credentials', token_url: url },
    ...{ client_id: 'an-application', client_secret: 'a client secret nobody may see' },
  });
}
const everywhere = () => Promise.all(gateways.map((one) => served(one, w)));

test('a call carries the access token, and fifty of them on an expired one ask the provider once, whichever gateway they reach', async () => {
  const tokens = await startTokenServer();
  const upstream = await startUpstream();
  const { id, name } = await connection(tokens.url);
  await makeRoute(w, 'crm', upstream.url, { inject_headers_json: { Authorization: `Bearer {{secret:${name}}}` } });
  await everywhere();
  assert.equal((await ask(gateway.port, w.tenant.slug, '/crm', { key })).status, 200);
  assert.equal(upstream.seen[0]?.headers.authorization, 'Bearer access-1');
  assert.equal(tokens.seen.length, 1, 'no call asks for a token that is good');

  await db().secret_environments.updateMany({ where: { secret_id: id }, data: { oauth2_expires_at: new Date(0) } });
  await everywhere();
  tokens.delayMs = 200;
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => ask(gateways[i % 2 === 0 ? 0 : 1].port, w.tenant.slug, '/crm', { key })),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(tokens.seen.length, 2);
  assert.deepEqual(new Set(upstream.seen.slice(1).map(({ headers }) => headers.authorization)), new Set(['Bearer access-2']));
});

test('a token that the upstream refuses is renewed and the call sent once more; the second answer is the answer', async () => {
  const tokens = await startTokenServer();
  let good = 'Bearer access-2';
  const upstream = await startUpstream((req, res) => {
    if (req.headers.authorization === good) res.writeHead(200).end('fine');
    else res.writeHead(401, { 'www-authenticate': 'Bearer' }).end('refused: no such token');
  });
  const { id, name } = await connection(tokens.url);
  await makeRoute(w, 'renewed', upstream.url, { inject_headers_json: { Authorization: `Bearer {{secret:${name}}}` } });
  const old = () =>
    db().secret_environments.updateMany({ where: { secret_id: id }, data: { oauth2_refreshed_at: new Date(Date.now() - 60_000) } });
  await old();
  await everywhere();
  const answer = await ask(gateway.port, w.tenant.slug, '/renewed', {
    key,
    method: 'POST',
    body: 'a body',
    headers: { 'content-type': 'text/plain' },
  });
  assert.deepEqual([answer.status, answer.body], [200, 'fine']);
  assert.deepEqual(
    upstream.seen.map(({ headers, body }) => [headers.authorization, body]),
    [
      ['Bearer access-1', 'a body'],
      ['Bearer access-2', 'a body'],
    ],
  );
  assert.equal(tokens.seen.length, 2);
  // A moment after a refresh the upstream's word stands.
  good = 'nothing';
  await everywhere();
  const refused = await ask(gateway.port, w.tenant.slug, '/renewed', { key });
  assert.deepEqual([refused.status, refused.body], [401, 'refused: no such token']);
  assert.equal(tokens.seen.length, 2);
  // And later it is asked once, never in circles.
  await old();
  await everywhere();
  const before = upstream.seen.length;
  assert.equal((await ask(gateway.port, w.tenant.slug, '/renewed', { key })).status, 401);
  assert.deepEqual([upstream.seen.length - before, tokens.seen.length], [2, 3]);
});

test('without a connection a call is refused with the next step, and nothing is sent', async () => {
  const tokens = await startTokenServer();
  const upstream = await startUpstream();
  const { id, name } = await connection(tokens.url);
  await makeRoute(w, 'lost', upstream.url, { inject_headers_json: { Authorization: `Bearer {{secret:${name}}}` } });
  await made(w.live, 'secrets.disconnect', { id });
  await everywhere();
  const lost = await ask(gateway.port, w.tenant.slug, '/lost', { key });
  assert.deepEqual([lost.status, lost.headers['x-svc-error']], [424, 'oauth2_not_connected']);
  assert.match(lost.body, /Connect it/);
  await made(w.live, 'secrets.reconnect', { id });
  await everywhere();
  assert.equal((await ask(gateway.port, w.tenant.slug, '/lost', { key })).status, 200);
  tokens.answer = (_, res) => res.writeHead(503).end();
  await db().secret_environments.updateMany({ where: { secret_id: id }, data: { oauth2_expires_at: new Date(0) } });
  await everywhere();
  const down = await ask(gateway.port, w.tenant.slug, '/lost', { key });
  assert.deepEqual([down.status, down.headers['x-svc-error']], [502, 'oauth2_token_unavailable']);
  assert.equal(upstream.seen.length, 1);
});

/** An upstream that takes only clients with a certificate of its authority, and says whose it is. */
async function mutualUpstream(trusted: string) {
  // The certificate of a server, from an authority of its own.
  const { generateServer } = await import('./tls-upstream.fixture.ts');
  const { ca_pem, cert, key: serverKey } = await generateServer('localhost');
  const seen: (string | undefined)[] = [];
  const server = createTls({ cert, key: serverKey, ca: trusted, requestCert: true, rejectUnauthorized: true }, (req, res) => {
    const serial = (req.socket as TLSSocket).getPeerCertificate().serialNumber;
    seen.push(serial);
    res.end('hello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, ca_pem, seen };
}

test('an upstream that wants a client certificate gets it, and a replaced one with the next call', async () => {
  const client = await madeCertificate();
  const upstream = await mutualUpstream(client.ca_pem);
  const certificate = { certificate_content: client.certificate_pem, private_key: client.private_key_pem };
  const presented = await made(w.live, 'secrets.create_certificate', { name: secretName(), ...certificate });
  const authority = await made(w.live, 'secrets.create_certificate', { name: secretName(), certificate_content: upstream.ca_pem });
  const config = { mtls_certificate_id: presented.id, upstream_ca_certificate_id: authority.id };
  await makeRoute(w, 'mutual', upstream.url, config);
  await makeRoute(w, 'untrusted', upstream.url, { mtls_certificate_id: presented.id });
  await makeRoute(w, 'anonymous', upstream.url, { upstream_ca_certificate_id: authority.id });
  await served(gateway, w);
  const call = (route: string) => ask(gateway.port, w.tenant.slug, `/${route}`, { key });
  const first = await call('mutual');
  assert.deepEqual([first.status, first.body], [200, 'hello'], first.body);
  assert.equal((await call('untrusted')).status, 502, 'the authority is not trusted without being named');
  assert.equal((await call('anonymous')).status, 502, 'nothing is presented without being named');

  // One of another authority.
  const other = await madeCertificate();
  await made(w.live, 'secrets.update_certificate', {
    id: presented.id,
    certificate_content: other.certificate_pem,
    private_key: other.private_key_pem,
  });
  await served(gateway, w);
  assert.equal((await call('mutual')).status, 502, 'the old connection does not serve under a certificate that was replaced');

  // What is presented must be a certificate with a key, and what is trusted one without.
  const route = { name: fresh('route'), target_base_url: 'https://api.example.com' };
  const plain = await made(w.live, 'secrets.create', { name: secretName(), value: 'x' });
  for (const wrong of [
    { mtls_certificate_id: authority.id },
    { upstream_ca_certificate_id: presented.id },
    { mtls_certificate_id: plain.id },
  ])
    await assert.rejects(made(w.live, 'routes.create', { ...route, ...wrong }), { type: 'validation_error' });
  await made(w.live, 'routes.create', { ...route, slug: fresh('r'), mtls_certificate_id: presented.id });
  await assert.rejects(made(w.live, 'secrets.delete', { id: presented.id }), { type: 'in_use' });
});
