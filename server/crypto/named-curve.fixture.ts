import { generateKeyPairSync } from 'node:crypto';
import { newSerial, signedCertificate } from './pki/authority.ts';
import { inside, integer, octets, only, sequence, TAG } from './pki/der.ts';
import { derOf, pemOf } from './pki/pem.ts';
import { subjectName } from './pki/subject.ts';

/** A request for a.corp.example of OpenSSL, whose key on P-256 has the parameters of its curve instead of the name. */
export const SPELLED_OUT_REQUEST = `
-----BEGIN CERTIFICATE REQUEST-----
MIIB3DCCAYICAQAwADCCAUswggEDBgcqhkjOPQIBMIH3AgEBMCwGByqGSM49AQEC
IQD/////AAAAAQAAAAAAAAAAAAAAAP///////////////zBbBCD/////AAAAAQAA
AAAAAAAAAAAAAP///////////////AQgWsY12Ko6k+ez671VdpiGvGUdBrDMU7D2
O848PifSYEsDFQDEnTYIhucEk2pmeOETnSa3gZ9+kARBBGsX0fLhLEJH+Lzm5WOk
QPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/
UfUCIQD/////AAAAAP//////////vOb6racXnoTzucrC/GMlUQIBAQNCAASdi/26
P10Zg64ChA/ZQpcfnIYBbbjREM4fRIxZSWU5LKOlczfgEpZyjnnhgBqJZHrv9Xcv
jTcFmDeflRZiM10MoCwwKgYJKoZIhvcNAQkOMR0wGzAZBgNVHREEEjAQgg5hLmNv
cnAuZXhhbXBsZTAKBggqhkjOPQQDAgNIADBFAiEAoUAaGviUxaUVOVwjEclO0V5z
+GwJ5mfgr0ku6seCsKYCIEUT99KAj4No0AJohW1lT95SexJ8HGKrjSB0DlSwJShh
-----END CERTIFICATE REQUEST-----
`;

/** The algorithm of its key: id-ecPublicKey with a SpecifiedECDomain. */
function spelledOutAlgorithm(): Buffer {
  const request = only(derOf('CERTIFICATE REQUEST', SPELLED_OUT_REQUEST) as Buffer);
  const [, , publicKey] = inside(inside(request, TAG.sequence)[0], TAG.sequence);
  return inside(publicKey, TAG.sequence)[0]?.der as Buffer;
}

/** A fresh pair of that kind in PEM, with a self-signed certificate: `named` is the same pair on the named curve. */
export function spelledOutPair(now = new Date()) {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = pair.publicKey.export({ type: 'spki', format: 'der' });
  const [, point] = inside(only(spki), TAG.sequence);
  const [, , key] = inside(only(pair.privateKey.export({ type: 'pkcs8', format: 'der' })), TAG.sequence);
  const algorithm = spelledOutAlgorithm();
  const name = subjectName({ common_name: 'spelled out' });
  const times = { serial: newSerial(), notBefore: new Date(now.getTime() - 60_000), notAfter: new Date(now.getTime() + 86_400_000) };
  const certificate = (publicKey: Buffer) =>
    pemOf('CERTIFICATE', signedCertificate({ ...times, issuer: name, subject: name, publicKey, signer: pair.privateKey }, []));
  return {
    certificate_pem: certificate(sequence(algorithm, point?.der as Buffer)),
    private_key_pem: pemOf('PRIVATE KEY', sequence(integer(0), algorithm, octets(key?.content as Buffer))),
    named: { certificate_pem: certificate(spki), private_key_pem: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
  };
}
