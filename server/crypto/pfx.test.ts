import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { type CertificateUpload, readCertificate } from './certificates.ts';

// PFX files as the openssl command makes them, which is no code of ours.

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pfx-'));
after(() => fs.rmSync(folder, { recursive: true }));
const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
const absent = (() => {
  try {
    execFileSync('openssl', ['version']);
    return false;
  } catch {
    return 'the openssl command is not installed';
  }
})();

const PASSPHRASE = 'pässphrase of a file';
const KINDS = { rsa: ['-newkey', 'rsa:2048'], ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] } as const;

/** An authority, and for each kind of key a certificate that it signed. */
function makeCertificates(): void {
  const request = ['req', '-nodes', '-batch'];
  openssl(...request, '-x509', ...KINDS.ec, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=a private CA', '-days', '30');
  for (const kind of ['rsa', 'ec'] as const) {
    openssl(...request, '-new', ...KINDS[kind], '-keyout', `${kind}.key`, '-out', `${kind}.csr`, '-subj', `/CN=${kind} client`);
    openssl(
      'x509',
      '-req',
      '-in',
      `${kind}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '30',
      '-out',
      `${kind}.pem`,
    );
  }
}

/** Base64 of `openssl pkcs12 -export`. */
function exported(kind: 'rsa' | 'ec', options: readonly string[] = [], passphrase = PASSPHRASE): string {
  const files = ['-in', `${kind}.pem`, '-inkey', `${kind}.key`, '-certfile', 'ca.pem'];
  return openssl('pkcs12', '-export', ...files, '-passout', `pass:${passphrase}`, ...options).toString('base64');
}
const read = (content: string, more: Partial<CertificateUpload> = {}) =>
  readCertificate({ content, format: 'pfx', passphrase: PASSPHRASE, ...more });
const refused = (content: string, more: Partial<CertificateUpload>, field: string, message: RegExp) =>
  assert.throws(
    () => read(content, more),
    (error: Error & { field?: string }) => error.name === 'CertificateProblem' && error.field === field && message.test(error.message),
    JSON.stringify(more),
  );

test('PFX files give leaf, chain and key, with the encryption of today and of yesterday', { skip: absent }, () => {
  makeCertificates();
  const SUITES = [
    [],
    ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-256-CBC', '-macalg', 'SHA512', '-iter', '5000'],
    ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'SHA1'],
    ['-keypbe', 'NONE', '-certpbe', 'NONE'],
    ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-RC2-40', '-macalg', 'SHA1', '-legacy'],
    ['-nomac'],
  ];
  for (const kind of ['rsa', 'ec'] as const) {
    const leaf = fs.readFileSync(path.join(folder, `${kind}.pem`), 'utf8');
    for (const options of kind === 'ec' ? SUITES : SUITES.slice(0, 3)) {
      const { certificate_pem, private_key_pem, facts } = read(exported(kind, options), { format: kind === 'ec' ? 'p12' : 'pfx' });
      const what = `${kind} ${options.join(' ')}`;
      assert.deepEqual([facts.subject, facts.chain_length, facts.has_private_key], [`CN=${kind} client`, 2, true], what);
      assert.equal(new X509Certificate(certificate_pem).fingerprint256, new X509Certificate(leaf).fingerprint256, what);
      assert.equal(private_key_pem, fs.readFileSync(path.join(folder, `${kind}.key`), 'utf8'), what);
    }
  }
  const unprotected = exported('ec', [], '');
  assert.equal(read(unprotected, { passphrase: undefined }).facts.subject, 'CN=ec client');
  const trusted = openssl('pkcs12', '-export', '-nokeys', '-in', 'ca.pem', '-passout', `pass:${PASSPHRASE}`).toString('base64');
  assert.deepEqual([read(trusted).facts.subject, read(trusted).private_key_pem], ['CN=a private CA', null]);
});

test('a wrong passphrase, a file that asks for too much work and what is no PFX file are told apart', { skip: absent }, () => {
  const file = exported('ec');
  refused(file, { passphrase: 'wrong' }, 'passphrase', /does not open the file/);
  refused(file, { passphrase: undefined }, 'passphrase', /is required/);
  refused(exported('ec', ['-nomac']), { passphrase: 'wrong' }, 'passphrase', /does not open the file/);
  refused(file, { private_key: 'a key' }, 'private_key', /must be left out/);
  refused(file, { format: 'pem' }, 'certificate_content', /is a PFX file: send certificate_type pfx/);

  // The count of the MAC stands at the end of the file: a file that claims more rounds costs nothing.
  const greedy = Buffer.from(file, 'base64');
  const at = greedy.lastIndexOf(Buffer.from([0x02, 0x02, 0x08, 0x00]));
  assert.ok(at > 0);
  greedy.set([0x02, 0x02, 0x7f, 0xff], at);
  refused(greedy.toString('base64'), {}, 'passphrase', /does not open the file/);
  refused(exported('ec', ['-iter', '210000']), {}, 'certificate_content', /too many iterations/);

  for (const content of [file.slice(0, -40), Buffer.from('no file').toString('base64'), 'MIIB', 'AA==', `MIAC${'A'.repeat(4_000)}`])
    refused(content, {}, 'certificate_content', /must be base64|must be PEM/);
  // Sequences in sequences, deeper than any stack.
  const deep = Buffer.concat([
    Buffer.from([0x30, 0x80, 0x02, 0x01, 0x03]),
    ...Array.from({ length: 60_000 }, () => Buffer.from([0x30, 0x80])),
  ]);
  refused(deep.toString('base64'), {}, 'certificate_content', /must be base64/);
});
