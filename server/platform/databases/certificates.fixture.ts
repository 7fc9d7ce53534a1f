import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

// A CA of tests and certificates of it, as PEM.

x509.cryptoProvider.set(crypto);
const alg = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const day = 86_400_000;
const pair = async () => (await crypto.subtle.generateKey(alg, true, ['sign', 'verify'])) as CryptoKeyPair;
const caKeys = await pair();
const ca = await x509.X509CertificateGenerator.createSelfSigned({
  name: 'CN=Test CA of databases',
  keys: caKeys,
  signingAlgorithm: alg,
  notBefore: new Date(Date.now() - day),
  notAfter: new Date(Date.now() + day),
  extensions: [new x509.BasicConstraintsExtension(true, 1, true), new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)],
});

export const caPem = ca.toString('pem');

/** A CA that issued nothing. */
export const otherCaPem = (
  await x509.X509CertificateGenerator.createSelfSigned({ name: 'CN=Another CA', keys: await pair(), signingAlgorithm: alg })
).toString('pem');

export async function certificate(...names: string[]): Promise<{ cert: string; key: string }> {
  const keys = await pair();
  const made = await x509.X509CertificateGenerator.create({
    serialNumber: crypto.getRandomValues(new Uint32Array(1))[0]?.toString(16).padStart(8, '1') ?? '01',
    subject: `CN=${names[0]}`,
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: alg,
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + day),
    extensions: [
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
    ],
  });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { cert: made.toString('pem'), key };
}
