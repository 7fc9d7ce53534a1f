import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { createClientCa, issueClientCertificate, openedClientCa } from '#server/crypto/client-certificate.ts';
import { readPfx } from '#server/crypto/pfx.ts';
import { pkcs12Of } from './pkcs12.ts';

const now = new Date();
const ca = await createClientCa('1de1a7f0-0000-7000-8000-000000000001', now);
const issued = await issueClientCertificate(openedClientCa(ca.certificate_pem, Buffer.from(ca.private_key_pem)), {
  ...{ client_id: '1de1a7f0-0000-7000-8000-000000000002', name: 'api.internal', ttl_days: 90, now },
});
const content = {
  private_key_pem: issued.private_key_pem,
  cert_pem: issued.certificate_pem,
  // As an issue answers it: the intermediate, then the root.
  ca_chain_pem: issued.ca_chain_pem + ca.certificate_pem,
  name: 'api.internal',
};
const PASSPHRASE = 'korrekt Pferd ✓ Batterie';

test('a file opens with its passphrase and with no other, by our own reader', async () => {
  const file = Buffer.from(await pkcs12Of({ ...content, passphrase: PASSPHRASE }));
  const { certificates, private_keys } = readPfx(file, PASSPHRASE);
  const ders = [content.cert_pem, issued.ca_chain_pem, ca.certificate_pem].map((pem) => new X509Certificate(pem).raw);
  assert.deepEqual(certificates, ders);
  assert.deepEqual(private_keys, [createPrivateKey(content.private_key_pem).export({ type: 'pkcs8', format: 'der' })]);
  assert.throws(() => readPfx(file, 'another'));
  assert.ok(!file.includes(new X509Certificate(content.cert_pem).raw), 'the certificates are encrypted too');
  const again = Buffer.from(await pkcs12Of({ ...content, passphrase: PASSPHRASE }));
  assert.notDeepEqual(file, again, 'salts are fresh');
});

const absent = (() => {
  try {
    execFileSync('openssl', ['version']);
    return false;
  } catch {
    return 'the openssl command is not installed';
  }
})();

test('OpenSSL reads key, certificate and chain, and checks the integrity', { skip: absent }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pkcs12-'));
  after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'one.p12');
  for (const passphrase of ['twelve letters', PASSPHRASE]) {
    fs.writeFileSync(file, await pkcs12Of({ ...content, passphrase }), { mode: 0o600 });
    const read = (password: string) =>
      execFileSync('openssl', ['pkcs12', '-in', file, '-nodes', '-passin', 'stdin', '-info'], {
        input: `${password}\n`,
        stdio: ['pipe', 'pipe', 'pipe'],
      }).toString();
    const text = read(passphrase);
    assert.equal(text.match(/BEGIN CERTIFICATE/g)?.length, 3);
    assert.match(text, /friendlyName: api\.internal/);
    const key = createPrivateKey(text.slice(text.indexOf('-----BEGIN PRIVATE KEY')));
    assert.ok(new X509Certificate(content.cert_pem).checkPrivateKey(key));
    assert.throws(() => read('wrong'));
  }
});
