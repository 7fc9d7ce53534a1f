import 'reflect-metadata';
import assert from 'node:assert/strict';
import { hash, webcrypto } from 'node:crypto';
import test from 'node:test';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { Extension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { alpnFault, dnsDigest, isHttpProof, keyAuthorization } from './challenge-proof.ts';

const authorization = keyAuthorization('evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA', 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs');
const keys = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);

async function certificate({
  names = ['a.example'],
  digest = hash('sha256', authorization, 'buffer'),
  critical = true,
  oid = '1.3.6.1.5.5.7.1.31',
} = {}) {
  const proof = AsnConvert.serialize(new OctetString(digest));
  const made = await X509CertificateGenerator.createSelfSigned({
    keys: keys as CryptoKeyPair,
    extensions: [
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value }))),
      new Extension(oid, critical, proof),
    ],
  });
  return new Uint8Array(made.rawData);
}

test('the body of http-01 is the key authorization, perhaps with whitespace after it', () => {
  for (const body of [authorization, `${authorization}\n`, `${authorization}\r\n \t`])
    assert.ok(isHttpProof(Buffer.from(body), authorization));
  for (const body of ['', ` ${authorization}`, `${authorization}x`, authorization.slice(1), `${authorization}\0`, '<html>'])
    assert.equal(isHttpProof(Buffer.from(body), authorization), false, body);
});

test('the record of dns-01 is the SHA-256 of the key authorization', () => {
  assert.equal(dnsDigest(authorization), hash('sha256', authorization, 'base64url'));
  assert.match(dnsDigest(authorization), /^[A-Za-z0-9_-]{43}$/);
});

test('a certificate proves a name by tls-alpn-01 with the one name and the critical digest, and not otherwise', async () => {
  assert.equal(alpnFault(await certificate(), 'a.example', authorization), null);
  assert.equal(alpnFault(await certificate({ names: ['A.Example'] }), 'a.example', authorization), null);
  const faults = [
    await certificate({ names: ['b.example'] }),
    await certificate({ names: ['a.example', 'b.example'] }),
    await certificate({ digest: hash('sha256', 'other', 'buffer') }),
    await certificate({ digest: Buffer.alloc(31) }),
    await certificate({ critical: false }),
    await certificate({ oid: '1.3.6.1.5.5.7.1.30' }),
    new Uint8Array([0x30, 0x00]),
    new Uint8Array(),
  ];
  for (const der of faults) assert.equal(typeof alpnFault(der, 'a.example', authorization), 'string');
});
