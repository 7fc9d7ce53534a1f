import { CertificateProblem, type CertificateUpload, type ReadCertificate, readCertificate } from '#server/crypto/certificates.ts';

export type Reading = { read: ReadCertificate } | { field: CertificateProblem['field']; message: string };

/** Reads an upload: how many certificates it has, and how often its passphrase is hashed, is the sender's choice. */
export function run(upload: CertificateUpload): Reading {
  try {
    return { read: readCertificate(upload) };
  } catch (error) {
    if (error instanceof CertificateProblem) return { field: error.field, message: error.message };
    throw error;
  }
}
