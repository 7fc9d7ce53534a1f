import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { madeCertificate } from '#server/domain/secrets/certificates/certificate.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway } from './gateway.fixture.ts';
import { generateServer } from './tls-upstream.fixture.ts';

await testDatabase();

const absent = (() => {
  try {
    execFileSync('openssl', ['version']);
    return false;
  } catch {
    return 'the openssl command is not installed';
  }
})();

/** `openssl s_server`, which demands a client certificate of this authority and answers with what it saw of the connection. */
async function startServer(folder: string, trusted: string) {
  const { ca_pem, cert, key } = await generateServer('localhost');
  const file = (name: string, text: string) => {
    fs.writeFileSync(path.join(folder, name), text, { mode: 0o600 });
    return path.join(folder, name);
  };
  const own = ['-cert', file('server.pem', cert), '-key', file('server.key', key), '-CAfile', file('clients.pem', trusted)];
  const server = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', ...own, '-Verify', '2', '-verify_return_error', '-www']);
  after(() => server.kill());
  let printed = '';
  while (!/ACCEPT \S*:\d+/.test(printed)) printed += String((await once(server.stdout, 'data'))[0]);
  server.stdout.resume();
  server.stderr.resume();
  return { url: `https://localhost:${/ACCEPT \S*:(\d+)/.exec(printed)?.[1]}`, ca_pem };
}

test('OpenSSL as the upstream takes a certificate that came as a PFX file, and nothing but one of its authority', {
  skip: absent,
}, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 's-server-'));
  after(() => fs.rmSync(folder, { recursive: true }));
  const client = await madeCertificate();
  const upstream = await startServer(folder, client.ca_pem);
  const gateway = await startGateway();
  const w = await workspace();
  const { text: key } = await w.key();
  fs.writeFileSync(path.join(folder, 'client.pem'), client.certificate_pem + client.private_key_pem, { mode: 0o600 });
  const pfx = execFileSync('openssl', ['pkcs12', '-export', '-in', path.join(folder, 'client.pem'), '-passout', 'pass:a passphrase']);
  const presented = await made(w.live, 'secrets.create', {
    ...{ secret_type: 'certificate', name: 'PRESENTED', certificate_type: 'pfx' },
    ...{ certificate_content: pfx.toString('base64'), passphrase: 'a passphrase' },
  });
  const stranger = await madeCertificate();
  const other = await made(w.live, 'secrets.create_certificate', {
    ...{ name: 'STRANGER', certificate_content: stranger.certificate_pem, private_key: stranger.private_key_pem },
  });
  const authority = await made(w.live, 'secrets.create_certificate', { name: 'AUTHORITY', certificate_content: upstream.ca_pem });
  const trust = { upstream_ca_certificate_id: authority.id };
  await makeRoute(w, 'known', upstream.url, { ...trust, mtls_certificate_id: presented.id });
  await makeRoute(w, 'stranger', upstream.url, { ...trust, mtls_certificate_id: other.id });
  await makeRoute(w, 'nobody', upstream.url, trust);
  await makeRoute(w, 'untrusting', upstream.url, { mtls_certificate_id: presented.id });
  await served(gateway, w);
  const call = (slug: string) => ask(gateway.port, w.tenant.slug, `/${slug}`, { key });
  const answer = await call('known');
  assert.equal(answer.status, 200, answer.body);
  assert.match(answer.body, /Client certificate[\s\S]*CN ?= ?partner client/);
  assert.match(answer.body, /TLSv1\.[23]/);
  for (const slug of ['stranger', 'nobody', 'untrusting']) assert.equal((await call(slug)).status, 502, slug);
});
