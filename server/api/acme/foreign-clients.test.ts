import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { freePorts } from '#scripts/ports.ts';
import { nameServer } from '#server/platform/dns-names.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';

// Clients by other people enrol, renew and revoke against the ACME server with the real worker behind it, over TLS with a certificate of this very
// authority. LEGO names the program when it isn't on PATH.

const LEGO = process.env.LEGO ?? 'lego';
const has = (program: string) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
const lego = has(LEGO) ? false : 'lego is not installed: set LEGO to its path';
const certbot = has('certbot') ? false : 'certbot is not installed';

const [front = 0, http = 0, tls = 0] = await freePorts(3);
const dns = await nameServer();
const folder = mkdtempSync(path.join(tmpdir(), 'acme-clients-'));
const names = ['lego', 'renewed', 'certbot', 'two', 'rsa'].map((host) => `${host}.acme.test`);
await testDatabase({
  SVC_TEST_MODE: '1',
  PUBLIC_API_URL: `https://localhost:${front}`,
  PKI_DNS_RESOLVERS: dns.address,
  SVC_EGRESS_TEST_HOSTS: [...names.map((name) => `${name}:80=127.0.0.1:${http}`), `alpn.acme.test:443=127.0.0.1:${tls}`].join(','),
});
const { made, fresh } = await import('#server/testing/factories.ts');
const { workspace } = await import('#server/testing/workspace.ts');
const { startWorker } = await import('#server/jobs/worker.ts');
const { onFileEnd } = await import('#server/testing/file-end.ts');
const { env } = await import('#server/platform/env.ts');
const { rootKeys } = await import('#server/platform/keys.ts');
const { frontDoorToken } = await import('#server/crypto/derive.ts');
const { planeOf } = await import('#server/gateway/core/hosts.ts');
const { inspectHead } = await import('#server/gateway/core/listener.ts');
const { createFrontDoor } = await import('#server/gateway/front-door/front-door.ts');
const { createWebForward } = await import('#server/gateway/front-door/web-forward.ts');
const { handleAcme } = await import('./handle.ts');

const w = await workspace();
const key = await w.key();
const live = { ...w.live, actor: { ...w.live.actor, id: key.row.id } } as typeof w.live;
const name = fresh('corp');
const { root } = await made(live, 'pki.create_root', { name, subject: { CN: 'Acme Internal CA', O: 'Acme' } });
const { name: role } = await made(live, 'pki.create_role', {
  name,
  role_name: 'web',
  allowed_domains: ['acme.test', 'localhost'],
  allow_wildcards: true,
});
const server = await made(live, 'pki.issue', { name, role, subject: { CN: 'localhost' }, san_ip: ['127.0.0.1'] });
const ca = path.join(folder, 'ca.pem');
writeFileSync(ca, root.cert_pem);

// The front door of the gateway behind TLS, and behind it what stands for the web process: only the framework between the two is missing.
const requests: string[] = [];
const web = createHttp(async (req, res) => {
  const body = await bytesOf(req);
  const { method = 'GET', headers } = req;
  const request = new Request(`http://web${req.url}`, {
    method,
    headers: Object.fromEntries(Object.entries(headers).filter((one): one is [string, string] => typeof one[1] === 'string')),
    ...(body.length > 0 ? { body } : {}),
  });
  const answer = await handleAcme(request);
  res.writeHead(answer.status, Object.fromEntries(answer.headers));
  res.end(Buffer.from(await answer.arrayBuffer()));
});
const socketPath = path.join(folder, 'web.sock');
await once(web.listen(socketPath), 'listening');
const forward = createWebForward({ socketPath });
const frontDoor = createFrontDoor({
  web: forward,
  token: frontDoorToken(rootKeys().current),
  trustedProxies: [],
  onChanged: async () => undefined,
});
const { PUBLIC_API_URL: apiUrl, PUBLIC_SANDBOX_API_URL: sandboxUrl, PUBLIC_ADMIN_URL: adminUrl, PUBLIC_HOOKS_URL: hooksUrl } = env;
const hosts = { apiUrl, sandboxUrl, adminUrl, hooksUrl, baseHost: 'localhost', pathMode: true };
const door = createHttps({ key: server.private_key_pem, cert: server.cert_pem + server.ca_chain_pem }, (req, res) => {
  requests.push(`${req.method} ${req.url}`);
  const head = inspectHead(req);
  const match = head.ok ? planeOf({ portPlane: 'api', host: head.host, target: head.target }, hosts) : undefined;
  if (!head.ok || match?.plane !== 'api') return void res.writeHead(404).end();
  frontDoor.serve(req, res, { match, head, requestId: randomUUID() });
});
await listen(door, front);
/** Where the hook of a DNS provider says what the record is. */
const records = createHttp(async (req, res) => {
  const { record, value } = JSON.parse((await bytesOf(req)).toString());
  dns.names.set(record.replace(/\.$/, '').toLowerCase(), { txt: [value] });
  res.end();
});
const recordsPort = await listen(records, 0);
const worker = startWorker();
onFileEnd(() => worker.stop(20_000));
await worker.started;
after(() => {
  forward.close();
  for (const one of [door, records, web]) {
    one.closeAllConnections();
    one.close();
  }
  dns.close();
  rmSync(folder, { recursive: true, force: true });
});

async function listen(one: Server, port: number): Promise<number> {
  await once(one.listen(port, '127.0.0.1'), 'listening');
  return (one.address() as AddressInfo).port;
}
async function bytesOf(req: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

type Run = { code: number; output: string };
const run = (program: string, args: readonly string[], env: Record<string, string> = {}): Promise<Run> =>
  new Promise((resolve) => {
    execFile(program, [...args], { env: { ...process.env, ...env }, timeout: 240_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: `${stdout}\n${stderr}` });
    });
  });
const credential = (): Promise<{ id: string; kid: string; hmac_key: string; directory_url: string }> =>
  made(live, 'acme.create_account', { name, role, label: 'foreign client' });
const record = (certificate: X509Certificate) => made(live, 'pki.get_certificate', { name, serial_hex: certificate.serialNumber });

/** The certificate of a file, after OpenSSL has followed its chain to the root. */
function verified(file: string): X509Certificate {
  const { status, stdout, stderr } = spawnSync('openssl', ['verify', '-CAfile', ca, '-untrusted', file, file], { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return new X509Certificate(readFileSync(file));
}

type LegoOptions = {
  at?: string;
  account?: { kid: string; hmac_key: string; directory_url: string };
  how?: string[];
  env?: Record<string, string>;
};
async function legoWith(
  command: string[],
  domains: readonly string[],
  { at = 'lego', account, how = ['--http', '--http.port', `127.0.0.1:${http}`], env = {} }: LegoOptions,
) {
  const { directory_url } = account ?? (await credential());
  const eab = account ? ['--eab', '--kid', account.kid, '--hmac', account.hmac_key] : [];
  const args = ['--server', directory_url, '--accept-tos', '--email', 'ops@example.com', '--path', path.join(folder, at), ...eab, ...how];
  return run(LEGO, [...args, ...domains.flatMap((domain) => ['--domains', domain]), ...command], { LEGO_CA_CERTIFICATES: ca, ...env });
}
const legoFile = (domain: string, at = 'lego') => path.join(folder, at, 'certificates', `${domain.replace('*', '_')}.crt`);

test('lego enrols by http-01, renews with a new certificate, and revokes', { skip: lego }, async () => {
  const account = await credential();
  const first = await legoWith(['run'], ['lego.acme.test', 'two.acme.test'], { account });
  assert.equal(first.code, 0, first.output);
  const before = verified(legoFile('lego.acme.test'));
  assert.equal(before.subjectAltName, 'DNS:lego.acme.test, DNS:two.acme.test');
  assert.deepEqual((await record(before)).source, 'acme');

  const renewed = await legoWith(['renew', '--days', '90', '--no-random-sleep'], ['lego.acme.test', 'two.acme.test'], { account });
  assert.equal(renewed.code, 0, renewed.output);
  const now = verified(legoFile('lego.acme.test'));
  assert.notEqual(now.serialNumber, before.serialNumber);
  assert.equal((await record(now)).status, 'valid');
  assert.deepEqual(now.subjectAltName, before.subjectAltName);

  const revoked = await legoWith(['revoke', '--reason', '4'], ['lego.acme.test'], { account });
  assert.equal(revoked.code, 0, revoked.output);
  const { status, revocation_reason } = await record(now);
  assert.deepEqual([status, revocation_reason], ['revoked', 'superseded']);
  assert.equal((await record(before)).status, 'valid');
  const [listed] = (await made(live, 'acme.list_accounts', { name, role })).filter(({ id }: { id: string }) => id === account.id);
  assert.deepEqual([listed.status, listed.contact], ['valid', ['mailto:ops@example.com']]);
});

test('lego enrols for a wildcard by dns-01', { skip: lego }, async () => {
  const hook = path.join(folder, 'hook.mjs');
  const text = `#!${process.execPath}
const [, , action, record, value] = process.argv;
if (action === 'present') await fetch('http://127.0.0.1:${recordsPort}', { method: 'POST', body: JSON.stringify({ record, value }) });
`;
  writeFileSync(hook, text, { mode: 0o700 });
  // Releases before 4.19 have no fixed wait; they can only leave out the look at the name's own servers, of which there are none.
  const wait = spawnSync(LEGO, ['--help'], { encoding: 'utf8' }).stdout.includes('--dns.propagation-wait');
  const how = ['--dns', 'exec', '--dns.resolvers', dns.address, ...(wait ? ['--dns.propagation-wait', '1s'] : ['--dns.disable-cp'])];
  const done = await legoWith(['run'], ['*.acme.test'], {
    at: 'wild',
    account: await credential(),
    how,
    env: { EXEC_PATH: hook, EXEC_POLLING_INTERVAL: '1' },
  });
  assert.equal(done.code, 0, done.output);
  assert.equal(verified(legoFile('*.acme.test', 'wild')).subjectAltName, 'DNS:*.acme.test');
});

test('lego enrols by tls-alpn-01', { skip: lego }, async () => {
  const how = ['--tls', '--tls.port', `127.0.0.1:${tls}`];
  const done = await legoWith(['run'], ['alpn.acme.test'], { at: 'alpn', account: await credential(), how });
  assert.equal(done.code, 0, done.output);
  assert.equal(verified(legoFile('alpn.acme.test', 'alpn')).subjectAltName, 'DNS:alpn.acme.test');
});

test('lego with keys of other types for account and certificate', { skip: lego }, async () => {
  for (const [type, expected] of [
    ['rsa2048', 'rsa'],
    ['ec384', 'ec'],
  ] as const) {
    const how = ['--http', '--http.port', `127.0.0.1:${http}`, '--key-type', type];
    const done = await legoWith(['run'], ['rsa.acme.test'], { at: type, account: await credential(), how });
    assert.equal(done.code, 0, done.output);
    assert.equal(verified(legoFile('rsa.acme.test', type)).publicKey.asymmetricKeyType, expected);
  }
});

test('lego is told why it gets nothing: a wrong key, a key that was used, and a name that the role does not allow', {
  skip: lego,
}, async () => {
  const account = await credential();
  const wrong = await legoWith(['run'], ['lego.acme.test'], {
    at: 'wrong',
    account: { ...account, hmac_key: randomBytes(32).toString('base64url') },
  });
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.output, /urn:ietf:params:acme:error:unauthorized :: The external account binding is not valid/);
  const name = await legoWith(['run'], ['lego.example.com'], { at: 'name', account });
  assert.notEqual(name.code, 0);
  assert.match(name.output, /rejectedIdentifier :: The role web does not allow the name/);
  const used = await legoWith(['run'], ['lego.acme.test'], { at: 'used', account });
  assert.notEqual(used.code, 0);
  assert.match(used.output, /external account binding is not valid/);
});

test('certbot enrols by http-01, renews with a new certificate, and revokes with its account and with the key', {
  skip: certbot,
}, async () => {
  const { kid, hmac_key, directory_url } = await credential();
  const folders = ['config', 'work', 'logs'].flatMap((one) => [`--${one}-dir`, path.join(folder, 'certbot', one)]);
  const bot = (...args: string[]) => run('certbot', [...args, '--non-interactive', ...folders], { REQUESTS_CA_BUNDLE: ca });
  const account = ['--server', directory_url, '--agree-tos', '--email', 'ops@example.com', '--eab-kid', kid, '--eab-hmac-key', hmac_key];
  const standalone = ['--standalone', '--http-01-address', '127.0.0.1', '--http-01-port', String(http)];
  const first = await bot('certonly', ...account, ...standalone, '-d', 'certbot.acme.test', '-d', 'two.acme.test');
  assert.equal(first.code, 0, first.output);
  const live_ = path.join(folder, 'certbot', 'config', 'live', 'certbot.acme.test');
  const before = verified(path.join(live_, 'fullchain.pem'));
  assert.equal(before.subjectAltName, 'DNS:certbot.acme.test, DNS:two.acme.test');

  const renewed = await bot('renew', '--force-renewal', '--no-random-sleep-on-renew');
  assert.equal(renewed.code, 0, renewed.output);
  const now = verified(path.join(live_, 'fullchain.pem'));
  assert.notEqual(now.serialNumber, before.serialNumber);

  const byAccount = await bot(
    'revoke',
    '--server',
    directory_url,
    '--cert-path',
    path.join(live_, 'cert.pem'),
    '--reason',
    'keycompromise',
    '--no-delete-after-revoke',
  );
  assert.equal(byAccount.code, 0, byAccount.output);
  const { status, revocation_reason } = await record(now);
  assert.deepEqual([status, revocation_reason], ['revoked', 'key_compromise']);

  const archive = path.join(folder, 'certbot', 'config', 'archive', 'certbot.acme.test');
  assert.ok(readdirSync(archive).includes('privkey1.pem'));
  const files = ['--cert-path', path.join(archive, 'cert1.pem'), '--key-path', path.join(archive, 'privkey1.pem')];
  const byKey = await bot('revoke', '--server', directory_url, ...files, '--no-delete-after-revoke');
  assert.equal(byKey.code, 0, byKey.output);
  assert.equal((await record(before)).status, 'revoked');
});

test('clients asked for nothing that is not served', { skip: lego && certbot }, () => {
  assert.ok(requests.length > 0);
  assert.deepEqual(
    requests.filter((one) => !/ \/pub\/[^/]+\/pki\/[^/]+\/acme\/web\//.test(one)),
    [],
  );
});
