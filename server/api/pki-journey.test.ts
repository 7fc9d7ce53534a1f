import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, { after, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '#scripts/ports.ts';
import { signStaleCrls } from '#server/domain/pki/schedules.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { servePublic } from './public-pki.fixture.ts';

// The first journey of a certificate authority, over real sockets and with programs that people have: nginx serves what we issued, curl trusts it until it is
// revoked. A machine without nginx, curl or openssl skips it.

const run = promisify(execFile);
const nginx = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx', '/opt/homebrew/bin/nginx'].find((file) => fs.existsSync(file));
const missing = [...(nginx ? [] : ['nginx']), ...['curl', 'openssl'].filter((tool) => !works(tool))];
const skip = missing.length > 0 && `${missing.join(' and ')} not on this machine`;

function works(tool: string): boolean {
  try {
    execFileSync(tool, [tool === 'curl' ? '--version' : 'version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('nginx serves an issued certificate, curl trusts it by the root alone, and after its revocation CRL and OCSP say so', {
  skip,
}, async (t) => {
  await testDatabase();
  const { key } = await workspace();
  const { text } = await key();
  const api = async (method: string, at: string, body?: unknown) => {
    const answer = await call(method, at, { key: text, body });
    assert.ok(answer.status < 300, `${method} ${at}: ${answer.status} ${answer.text}`);
    return answer;
  };
  const created = (await api('POST', '/pki/roots', { name: 'corp', subject: { CN: 'Acme Internal CA', O: 'Acme', C: 'US' } })).body.data;
  await api('POST', '/pki/roots/corp/roles', { role_name: 'services', allowed_domains: ['example.com'] });
  const issued = (await api('POST', '/pki/roots/corp/issue/services', { subject: { CN: 'api.example.com' }, san_ip: ['127.0.0.1'] })).body
    .data;
  assert.equal(created.root.intermediate.id.length, 36);

  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pki-journey-'));
  after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const put = (name: string, content: string) => {
    fs.writeFileSync(path.join(folder, name), content, { mode: 0o600 });
    return path.join(folder, name);
  };
  // The root as a relying party fetches it, and as the address in the certificate names it.
  const root = put('root.pem', (await api('GET', '/pki/roots/corp/cert')).text);
  const chain = put(
    'chain.pem',
    issued.cert_pem + issued.ca_chain_pem.slice(0, issued.ca_chain_pem.indexOf('-----END') + '-----END CERTIFICATE-----\n'.length),
  );
  const issuer = put('issuer.pem', new X509Certificate(issued.ca_chain_pem).toString());
  const port = await startNginx(t, folder, chain, put('leaf.key', issued.private_key_pem));

  const resolve = ['--resolve', `api.example.com:${port}:127.0.0.1`, '--resolve', `evil.example:${port}:127.0.0.1`];
  const curl = (url: string, ...more: string[]) =>
    run('curl', ['-sS', '-m', '20', '--cacert', root, ...resolve, ...more, url]).then(({ stdout }) => stdout);
  assert.equal(await curl(`https://api.example.com:${port}/`), 'served with our certificate');
  assert.equal(await curl(`https://127.0.0.1:${port}/`), 'served with our certificate');
  await assert.rejects(curl(`https://evil.example:${port}/`), /no alternative certificate subject name|does not match/);
  await assert.rejects(run('curl', ['-sS', ...resolve, `https://api.example.com:${port}/`]), /certificate/);

  const origin = await servePublic();
  const named = new X509Certificate(issued.cert_pem);
  const addresses = [...(named.infoAccess ?? '').matchAll(/URI:(\S+)/g)].map(([, url]) => url ?? '');
  const local = (url: string) => origin + new URL(url).pathname;
  const ocspUrl = addresses.find((url) => url.endsWith('/ocsp')) ?? assert.fail('no address of OCSP in the certificate');
  const caUrl = addresses.find((url) => url.endsWith('.crt')) ?? assert.fail('no address of the issuer in the certificate');
  await run('curl', ['-sSf', '-m', '20', '-o', path.join(folder, 'issuer.der'), local(caUrl)]);
  assert.ok(fs.readFileSync(path.join(folder, 'issuer.der')).equals(new X509Certificate(issued.ca_chain_pem).raw));
  const crlUrl =
    /URI:(\S+\.crl)/.exec((await run('openssl', ['x509', '-in', chain, '-noout', '-ext', 'crlDistributionPoints'])).stdout)?.[1] ?? '';
  const listAt = async () => {
    await run('curl', ['-sSf', '-m', '20', '-o', path.join(folder, 'crl.der'), local(crlUrl)]);
    const { stdout } = await run('openssl', ['crl', '-inform', 'DER', '-in', path.join(folder, 'crl.der'), '-noout', '-text']);
    return { number: Number(/CRL Number:\s+(\d+)/.exec(stdout)?.[1]), revoked: stdout.includes('Revoked Certificates:') };
  };
  const verify = async () => {
    const lists = put('all.crl', (await api('GET', '/pki/roots/corp/crl')).text);
    return run('openssl', ['verify', '-crl_check_all', '-CAfile', root, '-untrusted', issuer, '-CRLfile', lists, chain]).then(
      ({ stdout }) => stdout,
    );
  };
  const withList = () => curl(`https://api.example.com:${port}/`, '--crlfile', path.join(folder, 'all.crl'));
  const ocsp = async () =>
    (
      await run('openssl', [
        'ocsp',
        '-timeout',
        '20',
        '-issuer',
        issuer,
        '-CAfile',
        root,
        '-verify_other',
        issuer,
        '-cert',
        chain,
        '-url',
        local(ocspUrl),
      ])
    ).stdout;

  const first = await listAt();
  assert.equal(first.revoked, false);
  assert.match(await verify(), /OK/);
  assert.equal(await withList(), 'served with our certificate');
  assert.match(await ocsp(), /: good/);

  const { body } = await api('POST', '/pki/roots/corp/revoke', { serial_hex: named.serialNumber, reason: 'key_compromise' });
  assert.deepEqual(body.data, { revoked: true });
  assert.match(await ocsp(), /: revoked.*Reason: keyCompromise/s);
  await signStaleCrls(db(), new Date(Date.now() + 20_000)); // what the worker does within seconds
  const second = await listAt();
  assert.ok(second.revoked && second.number > first.number, `${first.number}, then ${second.number}`);
  await assert.rejects(verify(), /certificate revoked/);
  await assert.rejects(withList(), /certificate revoked|revoked/);
});

/** nginx with this certificate, on a free port. It ends with the test. */
async function startNginx(t: TestContext, folder: string, chain: string, key: string): Promise<number> {
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ');
  const config = path.join(folder, 'nginx.conf');
  fs.writeFileSync(
    config,
    `${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http { ${temporary} access_log off; server { listen 127.0.0.1:${port} ssl; ssl_certificate ${chain}; ssl_certificate_key ${key};
  location / { default_type text/plain; return 200 'served with our certificate'; } } }\n`,
  );
  const child = spawn(nginx ?? 'nginx', ['-p', folder, '-e', `${folder}/error.log`, '-c', config], { stdio: 'ignore' });
  t.after(() => child.kill('SIGTERM'));
  await until(() => {
    if (child.exitCode !== null) assert.fail(`nginx ended: ${fs.readFileSync(`${folder}/error.log`, 'utf8')}`);
    return listens(port);
  }, 'nginx listens');
  return port;
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
