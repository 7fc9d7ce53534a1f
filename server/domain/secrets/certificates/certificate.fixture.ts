import { createClientCa, issueClientCertificate, openedClientCa } from '#server/crypto/client-certificate.ts';
import { newId } from '#server/kernel/ids.ts';

/** A new authority and a certificate that it signed, in PEM. */
export async function madeCertificate(now = new Date()) {
  const ca = await createClientCa(newId(), now);
  const opened = openedClientCa(ca.certificate_pem, Buffer.from(ca.private_key_pem));
  const issued = await issueClientCertificate(opened, { client_id: newId(), name: 'partner client', ttl_days: 90, now });
  return { ca_pem: ca.certificate_pem, certificate_pem: issued.certificate_pem, private_key_pem: issued.private_key_pem };
}
