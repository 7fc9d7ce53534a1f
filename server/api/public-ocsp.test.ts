import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import { BasicOCSPResponse, OCSPResponse } from '@peculiar/asn1-ocsp';
import { AsnParser } from '@peculiar/asn1-schema';
import { certificateParts } from '#server/crypto/pki/certificate-parts.ts';
import { context, element, integer, octets, oid, sequence, TAG } from '#server/crypto/pki/der.ts';
import { publicKeyBits } from '#server/crypto/pki/extensions.ts';
import { MOST_QUESTIONS } from '#server/crypto/pki/ocsp.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { workspace } from '#server/testing/workspace.ts';
import { askPublic, publicEdge, servePublic } from './public-pki.fixture.ts';

await testDatabase();
const w = await workspace();

const newRoot = async (input: Record<string, unknown> = {}, ctx = w.live) => {
  const { root } = await made(ctx, 'pki.create_root', { name: fresh('root'), subject: { CN: 'Questions', O: 'Acme', C: 'US' }, ...input });
  await made(ctx, 'pki.create_role', { name: root.name, role_name: 'any', allowed_domains: ['*'] });
  return root as { id: string; name: string; cert_pem: string; public_url: string };
};
type Issued = { serial_hex: string; cert_pem: string; ca_chain_pem: string; private_key_pem: string };
const issue = (root: { name: string }, CN = 'api.example.com', ctx = w.live): Promise<Issued> =>
  made(ctx, 'pki.issue', { name: root.name, role: 'any', subject: { CN } });
const revoke = (root: { name: string }, serial_hex: string, reason = 'key_compromise') =>
  made(w.live, 'pki.revoke', { name: root.name, serial_hex, reason });

const root = await newRoot();
const leaf = await issue(root);
const issuerOf = ({ ca_chain_pem }: Issued) => new X509Certificate(ca_chain_pem).raw;
const issuer = issuerOf(leaf);
const place = (one: { id: string }) => `http://api.test/pub/${w.tenant.slug}/pki/${one.id}/ocsp`;

const SHA1 = oid('1.3.14.3.2.26');
const SHA256 = oid('2.16.840.1.101.3.4.2.1');
const NONCE = '1.3.6.1.5.5.7.48.1.2';

/** A question about a serial number of an issuer (DER). */
function question(serial: string, from: Buffer = issuer, hash: 'sha1' | 'sha256' = 'sha1'): Buffer {
  const { subject, publicKey } = certificateParts(from);
  const digest = (data: Buffer) => octets(createHash(hash).update(data).digest());
  const algorithm = sequence(hash === 'sha1' ? SHA1 : SHA256, element(TAG.null));
  return sequence(sequence(algorithm, digest(subject.der), digest(publicKeyBits(publicKey.der)), integer(Buffer.from(serial, 'hex'))));
}
const request = (questions: Buffer[], nonce?: Buffer) =>
  sequence(sequence(sequence(...questions), ...(nonce ? [context(2, sequence(sequence(oid(NONCE), octets(octets(nonce)))))] : [])));

const ask = (body: Uint8Array, url = place(root)) =>
  askPublic(url, { method: 'POST', body: new Uint8Array(body), headers: { 'content-type': 'application/ocsp-request' } });
/** What an answer says, read by @peculiar/asn1-ocsp. */
async function read(answer: Response) {
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/ocsp-response');
  const whole = AsnParser.parse(await answer.arrayBuffer(), OCSPResponse);
  const inner = whole.responseBytes && AsnParser.parse(whole.responseBytes.response, BasicOCSPResponse);
  return { status: whole.responseStatus, data: inner?.tbsResponseData, certs: inner?.certs };
}
const statusOf = async (body: Uint8Array, url?: string) => {
  const { status, data } = await read(await ask(body, url));
  const [one] = data?.responses ?? [];
  return status === 0 ? (one?.certStatus.revoked ?? (one?.certStatus.good === null ? 'good' : 'unknown')) : status;
};
const MALFORMED = 1;
const UNAUTHORIZED = 6;

test('a leaf is good, unknown when it was never issued, and revoked with day and reason at once', async () => {
  const one = await issue(root);
  const asked = request([question(one.serial_hex)]);
  assert.equal(await statusOf(asked), 'good');
  assert.equal(await statusOf(request([question(one.serial_hex, issuer, 'sha256')])), 'good');
  assert.equal(await statusOf(request([question('40'.padEnd(32, '0'))])), 'unknown');
  assert.equal(await statusOf(request([question('01')])), 'unknown');
  await revoke(root, one.serial_hex, 'superseded');
  const revoked = await statusOf(asked);
  assert.ok(typeof revoked === 'object' && revoked.revocationReason?.reason === 4);
  assert.ok(Math.abs(revoked.revocationTime.getTime() - Date.now()) < 60_000);
  const other = await issue(root);
  await revoke(root, other.serial_hex, 'unspecified');
  const silent = await statusOf(request([question(other.serial_hex)]));
  assert.ok(typeof silent === 'object' && silent.revocationReason === undefined);
});

test('an answer is valid for an hour, echoes the nonce, and answers each question in turn', async () => {
  const nonce = randomBytes(32);
  const answer = await ask(request([question(leaf.serial_hex), question('40'.padEnd(32, '0'))], nonce));
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const { data, certs } = await read(answer);
  assert.deepEqual(
    data?.responses.map(({ certStatus }) => certStatus.good === null),
    [true, false],
  );
  const [first] = data?.responses ?? [];
  const lasts = (first?.nextUpdate?.getTime() ?? 0) - (data?.producedAt.getTime() ?? 0);
  assert.ok(lasts === 3_600_000, `${lasts} ms`);
  assert.deepEqual(Buffer.from(data?.responseExtensions?.[0]?.extnValue.buffer ?? new ArrayBuffer(0)), octets(nonce));
  assert.equal(certs?.length, 1);
  const plain = await read(await ask(request([question(leaf.serial_hex)])));
  assert.equal(plain.data?.responseExtensions, undefined);
});

test('the responder is a delegated one of seven days at most, kept until a day is left', async () => {
  const own = await newRoot();
  const { serial_hex, ca_chain_pem } = await issue(own);
  const asked = request([question(serial_hex, new X509Certificate(ca_chain_pem).raw)]);
  const responders = () =>
    db().pki_responders.findMany({
      where: { intermediate: { ca_root_id: own.id } },
      select: { id: true, serial_hex: true, not_after: true, certificate: true },
    });
  await Promise.all(Array.from({ length: 4 }, () => statusOf(asked, place(own))));
  const [made, ...more] = await responders();
  assert.ok(made && more.length === 0, 'one responder, however many ask at once');
  const days = (made.not_after.getTime() - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days <= 7, `${days} days`);
  const certificate = new X509Certificate(made.certificate);
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.9']);
  assert.equal(certificate.ca, false);
  assert.ok(Buffer.from(made.certificate).includes(Buffer.from('06092b0601050507300105', 'hex')), 'ocsp-nocheck');
  assert.equal(await statusOf(asked, place(own)), 'good');
  assert.equal((await responders())[0]?.id, made.id);
  await db().pki_responders.update({ where: { id: made.id }, data: { not_after: new Date(Date.now() + 23 * 3_600_000) } });
  assert.equal(await statusOf(asked, place(own)), 'good');
  const [next] = await responders();
  assert.notEqual(next?.id, made.id);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: own.id, action: 'rotate' } });
  assert.deepEqual(
    entries.map(({ details }) => (details as { responder?: string }).responder).sort(),
    [made.serial_hex, next?.serial_hex].sort(),
  );
  await revokeIntermediate(own);
  assert.deepEqual(await responders(), []);
  assert.equal(await statusOf(asked, place(own)), UNAUTHORIZED);
});

async function revokeIntermediate(own: { name: string }): Promise<void> {
  const { intermediate } = await made(w.live, 'pki.get_root', { name: own.name });
  await made(w.live, 'pki.revoke_intermediate', { name: own.name, id: intermediate.id, reason: 'key_compromise' });
}

test('a retired intermediate still answers for its leaves', async () => {
  const own = await newRoot();
  const before = await issue(own);
  await made(w.live, 'pki.rotate_intermediate', { name: own.name });
  const after = await issue(own);
  assert.notDeepEqual(issuerOf(before), issuerOf(after));
  for (const one of [before, after]) assert.equal(await statusOf(request([question(one.serial_hex, issuerOf(one))]), place(own)), 'good');
  const mixed = request([question(before.serial_hex, issuerOf(before)), question(after.serial_hex, issuerOf(after))]);
  assert.equal(await statusOf(mixed, place(own)), UNAUTHORIZED);
  assert.equal(await statusOf(request([question(before.serial_hex, issuerOf(after))]), place(own)), 'unknown');
});

test('questions about other authorities are unauthorized', async () => {
  const other = await newRoot();
  const theirs = await issue(other);
  assert.equal(await statusOf(request([question(theirs.serial_hex, issuerOf(theirs))])), UNAUTHORIZED);
  // The root's own certificates have a list and no responder: its key signs intermediates and that list alone.
  assert.equal(await statusOf(request([question(leaf.serial_hex, new X509Certificate(root.cert_pem).raw)])), UNAUTHORIZED);
  const half = sequence(
    sequence(
      sequence(SHA1),
      octets(createHash('sha1').update(certificateParts(issuer).subject.der).digest()),
      octets(Buffer.alloc(20)),
      integer(Buffer.from(leaf.serial_hex, 'hex')),
    ),
  );
  assert.equal(await statusOf(request([half])), UNAUTHORIZED);
  const md5 = sequence(sequence(sequence(oid('1.2.840.113549.2.5')), octets(Buffer.alloc(16)), octets(Buffer.alloc(16)), integer(1)));
  assert.equal(await statusOf(request([md5])), UNAUTHORIZED);
});

test('what is no request is malformed, and what is too large is not read', async () => {
  const whole = request([question(leaf.serial_hex)], randomBytes(16));
  for (const body of [
    Buffer.of(),
    Buffer.from('cAnArY'),
    Buffer.concat([whole, Buffer.of(0)]),
    Buffer.from(`30${'80'.repeat(4_000)}`, 'hex'),
    Buffer.from('3084ffffffff', 'hex'),
    request([]),
    request(Array.from({ length: MOST_QUESTIONS + 1 }, () => question(leaf.serial_hex))),
    request([question(leaf.serial_hex)], Buffer.of()),
    request([question(leaf.serial_hex)], randomBytes(129)),
  ])
    assert.equal(await statusOf(body), MALFORMED, body.toString('hex').slice(0, 60));
  for (let at = 0; at < whole.length; at += 3) assert.equal(await statusOf(whole.subarray(0, at)), MALFORMED, `cut at ${at}`);
  const large = await ask(Buffer.alloc(8_193, 0x30));
  assert.deepEqual([large.status, (await large.arrayBuffer()).byteLength], [413, 0]);
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(65_536)) });
  assert.equal((await askPublic(place(root), { method: 'POST', body: endless, duplex: 'half' } as RequestInit)).status, 413);
});

test('GET takes the request in base64, escaped or not, and may be kept for minutes', async () => {
  const der = request([question(leaf.serial_hex)]);
  const text = der.toString('base64');
  for (const part of [encodeURIComponent(text), text.replaceAll('+', '%2B'), text]) {
    const answer = await askPublic(`${place(root)}/${part}`);
    assert.match(answer.headers.get('cache-control') ?? '', /^public, max-age=300/);
    assert.equal((await read(answer)).data?.responses[0]?.certStatus.good, null);
  }
  const nonced = await askPublic(
    `${place(root)}/${encodeURIComponent(request([question(leaf.serial_hex)], randomBytes(8)).toString('base64'))}`,
  );
  assert.equal(nonced.headers.get('cache-control'), 'no-store');
  assert.equal((await read(await askPublic(`${place(root)}/cAnArY`))).status, MALFORMED);
  assert.equal((await read(await askPublic(`${place(root)}/%zz`))).status, MALFORMED);
  const head = await askPublic(`${place(root)}/${encodeURIComponent(text)}`, { method: 'HEAD' });
  assert.deepEqual([head.status, (await head.arrayBuffer()).byteLength], [200, 0]);
  assert.equal((await askPublic(place(root))).status, 405);
  assert.equal((await askPublic(place(root), { method: 'PUT', body: 'x' })).status, 405);
});

test('a root that is unknown, of the other space, or not published, is the same bare 404', async () => {
  const inTest = await newRoot({}, w.test);
  const hidden = await newRoot({ publish: false });
  const shown = await issue(hidden);
  assert.doesNotMatch(new X509Certificate(shown.cert_pem).toString(), /ocsp/);
  assert.equal(new X509Certificate(shown.cert_pem).infoAccess, undefined);
  const asked = request([question(leaf.serial_hex)]);
  const whole = async (url: string) => {
    const answer = await ask(asked, url);
    answer.headers.delete('x-request-id');
    return JSON.stringify([answer.status, [...answer.headers], await answer.text()]);
  };
  const answers = new Set(
    await Promise.all(
      [
        place(hidden),
        place(inTest),
        place(root).replace(w.tenant.slug, 'nobody'),
        place({ id: crypto.randomUUID() }),

        place(root).replace('/pki/', '/test/pki/'),
      ].map(whole),
    ),
  );
  assert.equal(answers.size, 1, [...answers].join('\n'));
  assert.match([...answers][0] ?? '', /^\[404,.*,""\]$/);
  assert.equal((await ask(asked, place(inTest).replace('/pki/', '/test/pki/'))).status, 200);
});

test('one address may ask so often a minute', async (t) => {
  stillClock(t);
  const edge = publicEdge('192.0.2.77');
  const asked = { method: 'POST', body: new Uint8Array(Buffer.of(0)) };
  let status = 200;
  for (let n = 0; n < 1_300 && status === 200; n++) status = (await askPublic(place(root), asked, edge)).status;
  assert.equal(status, 429);
});

const run = promisify(execFile);
const noOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return false;
  } catch {
    return "openssl isn't on this machine";
  }
})();

test('openssl ocsp trusts the answers, by the URL that the certificate names', { skip: noOpenssl }, async () => {
  const at = fs.mkdtempSync(path.join(os.tmpdir(), 'ocsp-'));
  after(() => fs.rmSync(at, { recursive: true, force: true }));
  const origin = await servePublic();
  const named = /OCSP - URI:(\S+)/.exec(new X509Certificate(leaf.cert_pem).infoAccess ?? '')?.[1] ?? '';
  assert.equal(named, `${root.public_url}/ocsp`);
  const write = (name: string, text: string) => fs.writeFileSync(path.join(at, name), text);
  write('root.pem', root.cert_pem);
  write('issuer.pem', new X509Certificate(leaf.ca_chain_pem).toString());
  const doomed = await issue(root, 'doomed.example.com');
  write('leaf.pem', leaf.cert_pem);
  write('doomed.pem', doomed.cert_pem);
  const url = named.replace(new URL(env.PUBLIC_API_URL).origin, origin).replace(/^https?:\/\/[^/]+/, origin);
  const asked = (...more: string[]) =>
    run(
      'openssl',
      ['ocsp', '-issuer', 'issuer.pem', '-CAfile', 'root.pem', '-verify_other', 'issuer.pem', '-url', url, '-timeout', '20', ...more],
      { cwd: at },
    );
  const before = await asked('-cert', 'leaf.pem', '-cert', 'doomed.pem');
  assert.match(before.stderr, /Response verify OK/);
  assert.match(before.stdout, /leaf\.pem: good.*doomed\.pem: good/s);
  assert.doesNotMatch(before.stderr, /nonce/i);
  await revoke(root, doomed.serial_hex);
  const revoked = await asked('-cert', 'doomed.pem', '-sha256', '-cert', 'leaf.pem', '-text');
  assert.match(revoked.stderr, /Response verify OK/);
  assert.match(revoked.stdout, /doomed\.pem: revoked.*Reason: keyCompromise/s);
  assert.match(revoked.stdout, /leaf\.pem: good/);
  assert.match((await asked('-no_nonce', '-serial', '0x4000')).stdout, /0x4000: unknown/);
});
