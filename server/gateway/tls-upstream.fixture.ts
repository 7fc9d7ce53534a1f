import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY = 86_400_000;

/** The certificate of a server from a private authority, in PEM; one that ended if told so. */
export async function generateServer(name: string, notAfter = new Date(Date.now() + DAY)) {
  const pair = async () => (await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as CryptoKeyPair;
  const [caKeys, keys] = [await pair(), await pair()];
  const validity = { notBefore: new Date(Date.now() - 2 * DAY), notAfter: new Date(Date.now() + DAY) };
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    // Of its own name: a verifier finds the issuer of a certificate by that.
    name: `CN=Private CA ${crypto.randomUUID()}`,
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true), new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)],
  });
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: '0a',
    subject: `CN=${name}`,
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    ...validity,
    notAfter,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
  });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { ca_pem: ca.toString('pem'), cert: leaf.toString('pem'), key };
}
