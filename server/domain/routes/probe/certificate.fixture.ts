import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(crypto);
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const keys = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair;
const certificate = await x509.X509CertificateGenerator.createSelfSigned({ name: 'CN=127.0.0.1', keys, signingAlgorithm: algorithm });

/** A certificate nobody else signed. */
export const selfSigned = {
  cert: certificate.toString('pem'),
  key: x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
};
