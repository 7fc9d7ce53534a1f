import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import test from 'node:test';
import { readCertificate } from './certificates.ts';
import { readClientCertificate } from './client-credentials.ts';
import { spelledOutPair } from './named-curve.fixture.ts';
import { isOnUnnamedCurve, UNNAMED_CURVE } from './named-curve.ts';
import { certificatePem } from './saml.ts';
import { sshPrivateKey } from './ssh-private-key.ts';

const { certificate_pem, private_key_pem, named } = spelledOutPair();

test('a key on a curve that is spelled out is known as such, public, private and in a certificate', () => {
  const privateKey = createPrivateKey(private_key_pem);
  for (const key of [privateKey, createPublicKey(privateKey), new X509Certificate(certificate_pem).publicKey]) {
    assert.equal(key.asymmetricKeyDetails?.namedCurve, 'prime256v1', 'OpenSSL takes it for the known curve');
    assert.equal(isOnUnnamedCurve(key), true);
  }
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  for (const key of [createPrivateKey(named.private_key_pem), new X509Certificate(named.certificate_pem).publicKey, rsa.publicKey])
    assert.equal(isOnUnnamedCurve(key), false);
});

test('wherever a certificate or key is taken, one on a curve that is spelled out is refused, and the same on the named curve is not', () => {
  const upload = (content: string, format: 'pem' | 'key', private_key?: string) => readCertificate({ content, format, private_key });
  assert.throws(() => upload(certificate_pem, 'pem'), { field: 'certificate_content', message: UNNAMED_CURVE });
  assert.throws(() => upload(private_key_pem, 'key'), { field: 'private_key', message: UNNAMED_CURVE });
  assert.throws(() => upload(named.certificate_pem, 'pem', private_key_pem), { field: 'private_key', message: UNNAMED_CURVE });
  assert.equal(upload(named.certificate_pem, 'pem', named.private_key_pem).facts.has_private_key, true);

  assert.equal(readClientCertificate(certificate_pem), 'unnamed_curve');
  assert.ok(typeof readClientCertificate(named.certificate_pem) === 'object');
  assert.deepEqual([certificatePem(certificate_pem), certificatePem(named.certificate_pem)?.slice(0, 10)], [undefined, '-----BEGIN']);
  assert.throws(() => sshPrivateKey(private_key_pem), { message: `The private key ${UNNAMED_CURVE}.` });
  assert.equal(sshPrivateKey(named.private_key_pem).type, 'ecdsa');
});
