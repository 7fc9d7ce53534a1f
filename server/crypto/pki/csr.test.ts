import 'reflect-metadata';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { constants, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import test from 'node:test';
import * as x509 from '@peculiar/x509';
import { SPELLED_OUT_REQUEST } from '../named-curve.fixture.ts';
import { hasUnnamedCurve, UNNAMED_CURVE } from '../named-curve.ts';
import { folder } from './authority.fixture.ts';
import { LONGEST_REQUEST, parseRequest, parseRequestDer } from './csr.ts';
import { bits, context, element, integer, octets, oid, primitive, sequence, set, TAG } from './der.ts';
import { EXTENSION, extension } from './extensions.ts';
import { pemOf } from './pem.ts';
import { subjectName } from './subject.ts';

type Parts = {
  info?: Buffer;
  key?: { publicKey: KeyObject; privateKey: KeyObject };
  method?: Buffer;
  names?: Buffer[];
  signature?: (info: Buffer) => Buffer;
};

const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ECDSA = sequence(oid('1.2.840.10045.4.3.2'));

/** A request, each of whose parts can be another one. */
function request({ key = p256, method = ECDSA, names = [primitive(2, Buffer.from('api.example.com'))], ...parts }: Parts = {}): Buffer {
  const asked = set(sequence(extension(EXTENSION.keyUsage, octets(Buffer.of(1))), extension(EXTENSION.subjectAltName, sequence(...names))));
  const info =
    parts.info ??
    sequence(
      integer(0),
      subjectName({ common_name: 'api.example.com', organization: 'Acme' }),
      key.publicKey.export({ type: 'spki', format: 'der' }),
      context(
        0,
        sequence(oid('1.2.840.113549.1.9.7'), set(element(TAG.utf8, Buffer.from('challenge')))),
        sequence(oid('1.2.840.113549.1.9.14'), asked),
      ),
    );
  const hash = key.privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return sequence(info, method, bits(parts.signature?.(info) ?? sign(hash, info, key.privateKey)));
}
const refused = (der: Buffer, why: string) => {
  const read = parseRequestDer(der);
  assert.equal('refused' in read ? read.refused : 'accepted', why);
};

test('a request gives its key, its subject and the names that it asks for', () => {
  const read = parseRequest(
    pemOf(
      'CERTIFICATE REQUEST',
      request({
        names: [
          primitive(2, Buffer.from('a.example')),
          primitive(7, Buffer.of(10, 0, 0, 1)),
          primitive(7, Buffer.from('20010db8000000000000000000000001', 'hex')),
        ],
      }),
    ),
  );
  assert.deepEqual(read, {
    publicKey: p256.publicKey.export({ type: 'spki', format: 'der' }),
    algorithm: 'ecdsa-p256',
    subject: { common_name: 'api.example.com', organization: 'Acme' },
    sanDns: ['a.example'],
    sanIp: ['10.0.0.1', '2001:db8::1'],
  });
});

test('every kind of key that may ask is recognised, weak and unusual ones are refused', () => {
  const rsa = (modulusLength: number, publicExponent = 65_537) => generateKeyPairSync('rsa', { modulusLength, publicExponent });
  const RSA = sequence(oid('1.2.840.113549.1.1.11'), element(TAG.null));
  const accepted = (parts: Parts) => {
    const read = parseRequestDer(request(parts));
    return 'refused' in read ? read : read.algorithm;
  };
  assert.equal(accepted({ key: generateKeyPairSync('ec', { namedCurve: 'P-384' }) }), 'ecdsa-p384');
  assert.equal(accepted({ key: generateKeyPairSync('ed25519'), method: sequence(oid('1.3.101.112')) }), 'ed25519');
  assert.equal(accepted({ key: rsa(2_048), method: RSA }), 'rsa');
  refused(request({ key: rsa(1_024), method: RSA }), 'weak_key');
  refused(request({ key: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }) }), 'weak_key');
  refused(request({ key: generateKeyPairSync('ec', { namedCurve: 'P-521' }) }), 'weak_key');
  const x25519 = generateKeyPairSync('x25519');
  refused(request({ key: { publicKey: x25519.publicKey, privateKey: p256.privateKey } }), 'weak_key');
  // Exponents of a megabit make one verification last for minutes.
  const { n = '' } = rsa(2_048).publicKey.export({ format: 'jwk' }) as { n?: string };
  const slow = createPublicKey({ key: { kty: 'RSA', n, e: Buffer.alloc(250, 0xff).toString('base64url') }, format: 'jwk' });
  refused(request({ key: { publicKey: slow, privateKey: p256.privateKey }, method: RSA }), 'weak_key');
});

test('a key whose curve is spelled out is refused, however well it fits a known curve', () => {
  const read = parseRequest(SPELLED_OUT_REQUEST);
  assert.ok('refused' in read);
  assert.deepEqual([read.refused, read.message], ['unnamed_curve', UNNAMED_CURVE]);
  // Nor is it left to whoever reads the key.
  const point = p256.publicKey.export({ type: 'spki', format: 'der' }).subarray(-65);
  const implied = sequence(sequence(oid('1.2.840.10045.2.1'), element(TAG.null)), bits(point));
  assert.ok(hasUnnamedCurve(implied) && !hasUnnamedCurve(p256.publicKey.export({ type: 'spki', format: 'der' })));
});

test('a request that is signed with RSA-PSS is verified by its own parameters', () => {
  const key = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const HASH = { sha1: '1.3.14.3.2.26', sha256: '2.16.840.1.101.3.4.2.1', sha512: '2.16.840.1.101.3.4.2.3' };
  type Hash = keyof typeof HASH;
  const algorithm = (hash: Hash) => sequence(oid(HASH[hash]), element(TAG.null));
  const pss = (hash: Hash, salt: number, mask: Hash = hash, ...more: Buffer[]) =>
    sequence(
      oid('1.2.840.113549.1.1.10'),
      sequence(
        context(0, algorithm(hash)),
        context(1, sequence(oid('1.2.840.113549.1.1.8'), algorithm(mask))),
        context(2, integer(salt)),
        ...more,
      ),
    );
  const signed = (hash: Hash, saltLength: number) => (info: Buffer) =>
    sign(hash, info, { key: key.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
  for (const [hash, salt] of [
    ['sha256', 32],
    ['sha512', 64],
    ['sha256', 222],
    ['sha256', 0],
  ] as const) {
    const read = parseRequestDer(request({ key, method: pss(hash, salt), signature: signed(hash, salt) }));
    assert.equal('refused' in read ? read.message : read.algorithm, 'rsa', `${hash} ${salt}`);
  }
  // Another length of the salt than was said, another signature, and the parameters of one on another.
  refused(request({ key, method: pss('sha256', 20), signature: signed('sha256', 32) }), 'wrong_signature');
  refused(request({ key, method: pss('sha256', 32), signature: (info) => sign('sha256', info, key.privateKey) }), 'wrong_signature');
  refused(request({ key, method: pss('sha256', 32), signature: signed('sha512', 32) }), 'wrong_signature');
  refused(request({ key, method: pss('sha1', 20), signature: signed('sha1', 20) }), 'unsupported_signature');
  refused(request({ key, method: pss('sha256', 32, 'sha1'), signature: signed('sha256', 32) }), 'unsupported_signature');
  refused(request({ key, method: pss('sha256', 2_000), signature: signed('sha256', 32) }), 'unsupported_signature');
  const trailer = context(3, integer(2));
  refused(request({ key, method: pss('sha256', 32, 'sha256', trailer), signature: signed('sha256', 32) }), 'unsupported_signature');
  refused(
    request({ key, method: sequence(oid('1.2.840.113549.1.1.10'), sequence()), signature: signed('sha1', 20) }),
    'unsupported_signature',
  );
  // An elliptic key signs otherwise, and a key that is for RSA-PSS alone is another kind of key.
  refused(request({ method: pss('sha256', 32) }), 'unsupported_signature');
  const alone = generateKeyPairSync('rsa-pss', { modulusLength: 2_048 });
  refused(request({ key: alone, method: pss('sha256', 32), signature: signed('sha256', 32) }), 'weak_key');
});

test('who asks must hold the key', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  refused(request({ signature: (info) => sign('sha256', info, other.privateKey) }), 'wrong_signature');
  refused(request({ signature: (info) => sign('sha256', Buffer.concat([info, Buffer.of(0)]), p256.privateKey) }), 'wrong_signature');
  for (const broken of [Buffer.of(), Buffer.alloc(64), Buffer.from('3006020100020100', 'hex')])
    refused(request({ signature: () => broken }), 'wrong_signature');
  refused(
    request({ method: sequence(oid('1.2.840.10045.4.1')), signature: (info) => sign('sha1', info, p256.privateKey) }),
    'unsupported_signature',
  );
  refused(request({ method: sequence(oid('1.3.101.112')) }), 'unsupported_signature');
  refused(request({ key: generateKeyPairSync('ed25519') }), 'unsupported_signature');
  refused(request({ method: sequence(oid('1.2.840.113549.1.1.11')) }), 'unsupported_signature');
});

test('names of other kinds are refused, never left out', () => {
  for (const name of [
    primitive(1, Buffer.from('a@example.com')),
    primitive(6, Buffer.from('https://a.example')),
    context(4, subjectName({ common_name: 'x' })),
    primitive(7, Buffer.alloc(5)),
  ])
    refused(request({ names: [primitive(2, Buffer.from('a.example')), name] }), 'unsupported_name');
});

test('a request that is cut, changed in any byte, or no request, is refused and never throws', () => {
  const whole = request();
  for (let at = 0; at < whole.length; at++) {
    assert.ok('refused' in parseRequestDer(whole.subarray(0, at)));
    for (const flip of [0x01, 0x80, 0xff]) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ flip;
      // Only the key's parameters and the padding of a signature could be spelled otherwise; nothing is, so every change is found.
      assert.ok('refused' in parseRequestDer(changed), `byte ${at}`);
    }
  }
  refused(Buffer.concat([whole, Buffer.of(0)]), 'malformed');
  refused(
    request({ info: sequence(integer(1), subjectName({}), p256.publicKey.export({ type: 'spki', format: 'der' }), context(0)) }),
    'malformed',
  );
  refused(Buffer.from(`3080${'3080'.repeat(4_000)}`, 'hex'), 'malformed');
  refused(Buffer.from('3084ffffffff', 'hex'), 'malformed');
  const text = pemOf('CERTIFICATE REQUEST', whole);
  for (const bad of [
    '',
    'cAnArY',
    text + text,
    text.replace('CERTIFICATE REQUEST', 'CERTIFICATE'),
    text.replace('\nM', '\n!M'),
    `${text}${' '.repeat(LONGEST_REQUEST)}`,
  ]) {
    const read = parseRequest(bad);
    assert.ok('refused' in read && !read.message.includes('cAnArY'), bad.slice(0, 40));
  }
});

test('a request without attributes asks for no names', () => {
  const read = parseRequestDer(
    request({
      info: sequence(
        integer(0),
        subjectName({ common_name: 'a.example' }),
        p256.publicKey.export({ type: 'spki', format: 'der' }),
        context(0),
      ),
    }),
  );
  assert.deepEqual('refused' in read ? read : [read.sanDns, read.sanIp, read.subject], [[], [], { common_name: 'a.example' }]);
});

test('requests that @peculiar/x509 makes are read', async () => {
  const keys = (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-384' }, true, ['sign', 'verify'])) as CryptoKeyPair;
  const made = await x509.Pkcs10CertificateRequestGenerator.create({
    ...{ name: 'CN=a.example, O=Acme', keys, signingAlgorithm: { name: 'ECDSA', hash: 'SHA-384' } },
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'a.example' },
        { type: 'ip', value: '192.0.2.1' },
      ]),
    ],
  });
  const read = parseRequest(made.toString('pem'));
  assert.deepEqual('refused' in read ? read : [read.algorithm, read.subject, read.sanDns, read.sanIp], [
    'ecdsa-p384',
    { common_name: 'a.example', organization: 'Acme' },
    ['a.example'],
    ['192.0.2.1'],
  ]);
});

const noOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return false;
  } catch {
    return "openssl isn't on this machine";
  }
})();

test('requests that openssl makes are read', { skip: noOpenssl }, () => {
  const { at } = folder();
  for (const [kind, algorithm] of [
    ['rsa:2048', 'rsa'],
    ['ed25519', 'ed25519'],
    ['ec -pkeyopt ec_paramgen_curve:P-256', 'ecdsa-p256'],
  ] as const) {
    const args = `req -new -newkey ${kind} -nodes -keyout ${at}/key -subj /C=US/O=Acme/CN=b.example -addext subjectAltName=DNS:b.example,IP:::1`;
    const read = parseRequest(execFileSync('openssl', args.split(' '), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    assert.deepEqual('refused' in read ? read : [read.algorithm, read.sanDns, read.sanIp, read.subject], [
      algorithm,
      ['b.example'],
      ['::1'],
      { country: 'US', organization: 'Acme', common_name: 'b.example' },
    ]);
  }
});
