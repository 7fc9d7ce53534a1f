import 'reflect-metadata';
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { promisify } from 'node:util';
import * as x509 from '@peculiar/x509';
import { days, folder, newChain, newLeaf } from './authority.fixture.ts';
import { newKeyPair, newSerial } from './authority.ts';
import { certificateRevocationList } from './crl.ts';
import { responderCertificate } from './ocsp.ts';
import { pemOf } from './pem.ts';

// Certificates and lists of ours are judged by programs of other authors. A program that isn't on the machine skips its tests: `openssl`, `go`, and `zlint`,
// which the variable ZLINT names where it isn't on the path.

const run = promisify(execFile);
const zlint = process.env.ZLINT ?? 'zlint';
const missing = (command: string, ...args: string[]) => {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 60_000 });
    return false;
  } catch {
    return `${command} isn't on this machine`;
  }
};
const noOpenssl = missing('openssl', 'version');
const noGo = missing('go', 'version');
const noZlint = missing(zlint, '-list-lints-source');

const { at, write, pem } = folder();
const { root, intermediate } = newChain();
const leaf = newLeaf(intermediate, {
  sanDns: ['api.example.com', '*.apps.example.com', 'xn--bcher-kva.example'],
  sanIp: ['192.0.2.1', '2001:db8::1'],
});
const unnamed = newLeaf(intermediate, { subject: {}, sanDns: ['only-san.example.com'] });
const client = newLeaf(intermediate, {
  subject: { common_name: 'a client' },
  sanDns: [],
  sanUri: ['urn:svc:client:1'],
  usages: ['clientAuth'],
  urls: {},
});
const plain = newLeaf(intermediate, { subject: { common_name: 'Jane Doe' }, sanDns: [], notAfter: days(20) });
const [rootFile, intermediateFile] = [pem('root.pem', root.certificate), pem('intermediate.pem', intermediate.certificate)];
/** For requests, whose keys may be of other types. */
const spki = { type: 'spki', format: 'der' } as const;
const requested = {
  p384: generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export(spki),
  ed25519: generateKeyPairSync('ed25519').publicKey.export(spki),
  rsa: generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export(spki),
};
/** As it signs answers of OCSP. */
const responder = responderCertificate({
  ...{ issuer: intermediate, publicKey: newKeyPair().publicKey, subject: { common_name: 'OCSP responder' } },
  ...{ serial: newSerial(), notBefore: days(-1), notAfter: days(7) },
});
const files = [
  ...Object.entries({ leaf, unnamed, client, plain }).map(([name, { der }]) => pem(`${name}.pem`, der)),
  ...Object.entries(requested).map(([name, publicKey]) => pem(`${name}.pem`, newLeaf(intermediate, { publicKey }).der)),
];

const list = (issuer: typeof root, number: number, entries: Parameters<typeof certificateRevocationList>[0]['entries'] = []) =>
  pemOf(
    'X509 CRL',
    certificateRevocationList({ issuer, number, thisUpdate: new Date(days(0).getTime() - 60_000), nextUpdate: days(7), entries }),
  );

test('openssl verifies every kind of leaf, strictly, for what it may be used', { skip: noOpenssl }, async () => {
  const verify = (file: string, ...more: string[]) =>
    run('openssl', ['verify', '-x509_strict', '-CAfile', rootFile, '-untrusted', intermediateFile, ...more, file]);
  for (const file of files) assert.match((await verify(file)).stdout, /OK/);
  await verify(`${at}/leaf.pem`, '-purpose', 'sslserver', '-verify_hostname', 'x.apps.example.com');
  await verify(`${at}/leaf.pem`, '-purpose', 'sslclient', '-verify_ip', '2001:db8::1');
  await verify(`${at}/client.pem`, '-purpose', 'sslclient');
  await verify(pem('responder.pem', responder), '-purpose', 'ocsphelper');
  await assert.rejects(
    verify(`${at}/client.pem`, '-purpose', 'sslserver'),
    /unsuitable certificate purpose|unsupported certificate purpose/,
  );
  await assert.rejects(verify(`${at}/leaf.pem`, '-verify_hostname', 'evil.example'), /hostname mismatch/i);
  const other = pem('other-root.pem', newChain().root.certificate);
  await assert.rejects(
    run('openssl', ['verify', '-CAfile', other, '-untrusted', intermediateFile, `${at}/leaf.pem`]),
    /verification failed/,
  );
});

test('openssl reads names, extensions and times as the profile has them', { skip: noOpenssl }, async () => {
  const shown = async (file: string) =>
    (await run('openssl', ['x509', '-in', file, '-noout', '-text', '-nameopt', 'RFC2253,-esc_msb,utf8'])).stdout;
  const top = await shown(rootFile);
  assert.match(top, /Subject: CN=Acme Röot\\, \\"1\\" CA,O=Acme = #1,L=Åre,ST=Jämtland,C=US/);
  assert.match(top, /Basic Constraints: critical\s+CA:TRUE, pathlen:1\s+X509v3 Key Usage: critical\s+Certificate Sign, CRL Sign\s/);
  assert.doesNotMatch(top, /Authority Key Identifier|CRL Distribution|Authority Information/);
  const middle = await shown(intermediateFile);
  assert.match(middle, /CA:TRUE, pathlen:0/);
  assert.match(middle, /URI:http:\/\/pki\.example\.com\/1\.crl/);
  const end = await shown(`${at}/leaf.pem`);
  assert.match(
    end,
    /CA:FALSE\s+X509v3 Key Usage: critical\s+Digital Signature\s+X509v3 Extended Key Usage:\s+TLS Web Server Authentication, TLS Web Client/,
  );
  assert.match(end, /OCSP - URI:http:\/\/pki\.example\.com\/ocsp\s+CA Issuers - URI:http:\/\/pki\.example\.com\/1\.crt/);
  assert.match(end, new RegExp(leaf.serial.replace(/..(?!$)/g, '$&:')));
  assert.match(await shown(`${at}/unnamed.pem`), /Subject Alternative Name: critical\s+DNS:only-san\.example\.com/);
  const late = newLeaf(intermediate, { notAfter: new Date('2050-01-01T00:00:00.999Z') });
  const early = newLeaf(intermediate, { notAfter: new Date('2049-12-31T23:59:59.999Z') });
  const types = async (der: Buffer) =>
    (await run('openssl', ['asn1parse', '-in', pem('times.pem', der)])).stdout.match(/(UTCTIME|GENERALIZEDTIME) +:\S+/g)?.[1];
  assert.match((await types(late.der)) ?? '', /GENERALIZEDTIME +:20500101000000Z/);
  assert.match((await types(early.der)) ?? '', /UTCTIME +:491231235959Z/);
});

test('openssl finds a certificate good before its revocation and revoked after, and the number of the list rising', {
  skip: noOpenssl,
}, async () => {
  const check = (...entries: Parameters<typeof list>[2] & object) => {
    const all = write('all.crl', list(intermediate, 41 + entries.length, entries) + list(root, 1));
    return run('openssl', [
      'verify',
      '-crl_check_all',
      '-CAfile',
      rootFile,
      '-untrusted',
      intermediateFile,
      '-CRLfile',
      all,
      `${at}/leaf.pem`,
    ]);
  };
  assert.match((await check()).stdout, /OK/);
  const revoked = { serial: leaf.serial, revokedAt: days(-1), reason: 'key_compromise' } as const;
  const other = { serial: unnamed.serial, revokedAt: days(-1), reason: 'unspecified' } as const;
  assert.match((await check(other)).stdout, /OK/);
  await assert.rejects(check(other, revoked), /certificate revoked/);
  const { stdout } = await run('openssl', ['crl', '-in', `${at}/all.crl`, '-noout', '-text', '-CAfile', intermediateFile]);
  assert.match(stdout, /Version 2 \(0x1\).*ecdsa-with-SHA256.*X509v3 CRL Number:\s+43\s/s);
  assert.equal(stdout.match(/CRL entry extensions/gi)?.length, 1);
  assert.match(stdout, /X509v3 CRL Reason Code:\s+Key Compromise/);
  const forRoot = write('root.crl', list(root, 2, [{ serial: newLeaf(root).serial, revokedAt: days(-1), reason: 'ca_compromise' }]));
  await run('openssl', ['crl', '-in', forRoot, '-noout', '-CAfile', rootFile, '-verify']);
});

test('s_server serves a leaf and s_client trusts it for its names only', { skip: noOpenssl }, async (t) => {
  const port = await serve(
    t,
    pem('chain.pem', leaf.der, intermediate.certificate),
    write('leaf.key', pemOf('PRIVATE KEY', leaf.key.privateKey)),
  );
  const connect = async (host: string) => {
    const asked = run('openssl', [
      's_client',
      '-connect',
      `127.0.0.1:${port}`,
      '-CAfile',
      rootFile,
      '-verify_return_error',
      '-verify_hostname',
      host,
    ]);
    asked.child.stdin?.end();
    return (await asked).stdout;
  };
  assert.match(await connect('api.example.com'), /Verify return code: 0 \(ok\)/);
  assert.match(await connect('b.apps.example.com'), /Verification: OK/);
  await assert.rejects(connect('evil.example'), /hostname mismatch/i);
});

/** An openssl s_server with this certificate, on a port of its own choice. */
async function serve(t: TestContext, certificate: string, key: string): Promise<string> {
  const child = spawn(
    'openssl',
    ['s_server', '-accept', '127.0.0.1:0', '-cert', certificate, '-cert_chain', intermediateFile, '-key', key, '-www'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  t.after(() => child.kill());
  let said = '';
  for await (const [chunk] of on(child.stdout)) {
    said += chunk;
    const port = /ACCEPT [^\n]*:(\d+)/.exec(said)?.[1];
    if (port) return port;
  }
  return assert.fail('s_server told no port');
}

async function* on(stream: import('node:stream').Readable): AsyncGenerator<[string]> {
  while (!stream.readableEnded) yield [String((await once(stream, 'data'))[0])];
}

const goProgram = `package main

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"time"
)

func read(name string) *x509.Certificate {
	data, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	block, _ := pem.Decode(data)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		panic(err)
	}
	return certificate
}

func main() {
	root, intermediate := read("root.pem"), read("intermediate.pem")
	roots, middle := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(root)
	middle.AddCert(intermediate)
	verify := func(name, host string, usage x509.ExtKeyUsage) string {
		_, err := read(name).Verify(x509.VerifyOptions{Roots: roots, Intermediates: middle, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage}})
		return fmt.Sprint(err)
	}
	data, _ := os.ReadFile("all.crl")
	block, _ := pem.Decode(data)
	list, err := x509.ParseRevocationList(block.Bytes)
	if err != nil {
		panic(err)
	}
	answer := map[string]any{
		"host":     verify("leaf.pem", "api.example.com", x509.ExtKeyUsageServerAuth),
		"wildcard": verify("leaf.pem", "z.apps.example.com", x509.ExtKeyUsageServerAuth),
		"address":  verify("leaf.pem", "2001:db8::1", x509.ExtKeyUsageServerAuth),
		"unnamed":  verify("unnamed.pem", "only-san.example.com", x509.ExtKeyUsageClientAuth),
		"client":   verify("client.pem", "", x509.ExtKeyUsageClientAuth),
		"server":   verify("client.pem", "", x509.ExtKeyUsageServerAuth),
		"p384":     verify("p384.pem", "api.example.com", x509.ExtKeyUsageServerAuth),
		"ed25519":  verify("ed25519.pem", "api.example.com", x509.ExtKeyUsageClientAuth),
		"rsa":      verify("rsa.pem", "api.example.com", x509.ExtKeyUsageServerAuth),
		"evil":     verify("leaf.pem", "evil.example", x509.ExtKeyUsageServerAuth),
		"list":     fmt.Sprint(list.CheckSignatureFrom(intermediate)),
		"number":   list.Number.String(),
		"revoked":  len(list.RevokedCertificateEntries),
		"reason":   list.RevokedCertificateEntries[0].ReasonCode,
		"next":     list.NextUpdate.Sub(list.ThisUpdate) > 7*24*time.Hour,
		"critical": len(read("leaf.pem").UnhandledCriticalExtensions),
		"path":     []any{root.MaxPathLen, intermediate.MaxPathLen, intermediate.MaxPathLenZero},
	}
	json.NewEncoder(os.Stdout).Encode(answer)
}
`;

test("Go's crypto/x509 verifies chains, names and usages, and reads the list", { skip: noGo }, async () => {
  write('all.crl', list(intermediate, 7, [{ serial: leaf.serial, revokedAt: days(-1), reason: 'superseded' }]));
  write('judge.go', goProgram);
  const { stdout } = await run('go', ['run', 'judge.go'], {
    cwd: at,
    env: { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' },
    timeout: 300_000,
  });
  const { server, evil, ...answer } = JSON.parse(stdout) as Record<string, unknown>;
  assert.match(String(server), /incompatible key usage/);
  assert.match(String(evil), /not evil\.example/);
  const fine = '<nil>';
  assert.deepEqual(answer, {
    ...{ host: fine, wildcard: fine, address: fine, unnamed: fine, client: fine, list: fine },
    ...{ p384: fine, ed25519: fine, rsa: fine },
    ...{ number: '7', revoked: 1, reason: 4, next: true, critical: 0, path: [1, 0, true] },
  });
});

test('zlint finds no error by any RFC in any kind of certificate, nor in a list', { skip: noZlint }, async () => {
  const sources = 'RFC5280,RFC5480,RFC5891,RFC8813,Community';
  const empty = write('empty.crl', list(intermediate, 1));
  const filled = write('filled.crl', list(intermediate, 2, [{ serial: leaf.serial, revokedAt: days(-1), reason: 'privilege_withdrawn' }]));
  for (const file of [rootFile, intermediateFile, pem('responder.pem', responder), ...files, empty, filled]) {
    const { stdout } = await run(zlint, ['-includeSources', sources, '-format', 'pem', file], { maxBuffer: 1 << 22 });
    const results = Object.entries(JSON.parse(stdout) as Record<string, { result: string }>);
    assert.ok(
      results.filter(([, { result }]) => result === 'pass').length > (file.endsWith('crl') ? 3 : 20),
      `${file}: ${results.length} lints`,
    );
    const bad = results.filter(([, { result }]) => result === 'error' || result === 'fatal' || result === 'warn').map(([lint]) => lint);
    assert.deepEqual(bad, [], file);
  }
});

test('@peculiar/x509 reads from a certificate what was put in', async () => {
  const read = new x509.X509Certificate(new Uint8Array(leaf.der));
  assert.equal(read.serialNumber, leaf.serial);
  assert.equal(await read.verify({ publicKey: new x509.X509Certificate(new Uint8Array(intermediate.certificate)).publicKey }), true);
  assert.deepEqual(
    read
      .getExtension(x509.SubjectAlternativeNameExtension)
      ?.names.toJSON()
      .map(({ type, value }) => `${type} ${value}`),
    ['dns api.example.com', 'dns *.apps.example.com', 'dns xn--bcher-kva.example', 'ip 192.0.2.1', 'ip 2001:db8::1'],
  );
  const made = new x509.X509Crl(
    new Uint8Array(certificateRevocationList({ issuer: root, number: 300, thisUpdate: days(0), nextUpdate: days(30), entries: [] })),
  );
  assert.equal(made.entries.length, 0);
  assert.equal(await made.verify({ publicKey: new x509.X509Certificate(new Uint8Array(root.certificate)).publicKey }), true);
});
