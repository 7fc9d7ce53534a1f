import { createPrivateKey } from 'node:crypto';
import { type Issuer, leafCertificate, newKeyPair, newSerial, openIssuer, rootCertificate } from './pki/authority.ts';
import { derOf, pemOf } from './pki/pem.ts';

/** A certificate authority that can sign: its certificate, and what it signs with. */
export type ClientCa = { certificate_pem: string; issuer: Issuer };

export type ClientCertificateRequest = {
  client_id: string;
  /** The client's name; the first 64 characters become the CN. */
  name: string;
  ttl_days: number;
  now: Date;
};

/** Shown once; nothing but the thumbprint is kept. */
export type IssuedClientCertificate = { certificate_pem: string; private_key_pem: string; ca_chain_pem: string; not_after: Date };

const day = 86_400_000;
/** Clocks of two machines differ; a certificate must be good at once. */
const backdating = 60_000;

/** The self-signed root `svc-mtls` of one tenant, ten years by default. Its key (PKCS #8 PEM) is to be sealed at once. */
export async function createClientCa(
  tenantId: string,
  now: Date,
  ttlDays = 3_650,
): Promise<{ certificate_pem: string; private_key_pem: string }> {
  const key = newKeyPair();
  const subject = { organization: tenantId, common_name: 'svc-mtls' };
  const certificate = rootCertificate({ key, subject, serial: newSerial(), ...validity(now, ttlDays) });
  return { certificate_pem: pemOf('CERTIFICATE', certificate), private_key_pem: taken(key.privateKey) };
}

/** An authority as it is stored: its certificate and its opened key (PKCS #8 PEM), which stays the caller's to wipe. */
export function openedClientCa(certificatePem: string, privateKeyPem: Buffer): ClientCa {
  const certificate = derOf('CERTIFICATE', certificatePem);
  if (!certificate) throw new TypeError('a stored authority has one certificate');
  const key = createPrivateKey(privateKeyPem).export({ type: 'pkcs8', format: 'der' });
  try {
    return { certificate_pem: certificatePem, issuer: openIssuer(certificate, key) };
  } finally {
    key.fill(0);
  }
}

/**
 * A certificate for one client: ECDSA P-256, clientAuth only, CN = client name, SAN `urn:svc:client:<client id>`
 * (interface rule 11 §3). Never outlives the authority.
 */
export async function issueClientCertificate(
  { certificate_pem: ca_chain_pem, issuer }: ClientCa,
  { client_id, name, ttl_days, now }: ClientCertificateRequest,
): Promise<IssuedClientCertificate> {
  const { notBefore, notAfter } = validity(now, ttl_days);
  const not_after = notAfter < issuer.notAfter ? notAfter : issuer.notAfter;
  const { publicKey, privateKey } = newKeyPair();
  const certificate = leafCertificate({
    issuer,
    publicKey,
    subject: { common_name: [...name].slice(0, 64).join('') },
    sanUri: [`urn:svc:client:${client_id}`],
    usages: ['clientAuth'],
    serial: newSerial(),
    notBefore,
    notAfter: not_after,
  });
  return { certificate_pem: pemOf('CERTIFICATE', certificate), private_key_pem: taken(privateKey), ca_chain_pem, not_after };
}

function validity(now: Date, ttlDays: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now.getTime() - backdating), notAfter: new Date(now.getTime() + ttlDays * day) };
}

/** The key as it is shown; its bytes are wiped. */
function taken(key: Buffer): string {
  const text = pemOf('PRIVATE KEY', key);
  key.fill(0);
  return text;
}
