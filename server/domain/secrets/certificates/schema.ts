import { z } from 'zod';
import { pathId, secret, time } from '#server/kernel/fields.ts';
import { Secret, secretName, secretSettings, WrittenValue } from '../schema.ts';

export const CERTIFICATE_TYPES = ['pem', 'pfx', 'p12', 'crt', 'cer', 'key', 'pkcs7', 'p7b', 'p7c'] as const;

/** 256 KiB of a binary format in base64, and of PEM. */
const CONTENT = Math.ceil((256 * 1_024 * 4) / 3) + 8_192;

const material = {
  certificate_content: secret(z.string().min(1).max(CONTENT)),
  private_key: secret(z.string().min(1).max(65_536)).optional(),
  passphrase: secret(z.string().min(1).max(1_024)).optional(),
  certificate_type: z.enum(CERTIFICATE_TYPES).default('pem'),
};
const { rotate_every_days: _, ...settings } = secretSettings;

/** What only a certificate has. */
export const certificateFields = { ...material, certificate_type: z.enum(CERTIFICATE_TYPES) };

export const CreateCertificate = z.object({ name: secretName(), ...material, ...settings });

export const CertificateMetadata = z
  .object({ subject: z.string().nullable(), issuer: z.string().nullable(), expires_at: time().nullable(), has_private_key: z.boolean() })
  .meta({ id: 'CertificateMetadata' });

export const CreatedCertificate = Secret.pick({
  id: true,
  name: true,
  shortcode_name: true,
  secret_type: true,
  base_environment: true,
  collection_id: true,
})
  .extend({ certificate_type: z.enum(CERTIFICATE_TYPES), metadata: CertificateMetadata })
  .meta({ id: 'CreatedCertificate' });

export const UpdateCertificate = z.object({ id: pathId(), environment: settings.environment, ...material });
export const UpdatedCertificate = WrittenValue.extend({ metadata: CertificateMetadata }).meta({ id: 'UpdatedCertificate' });

export const DownloadCertificate = z.object({
  id: pathId(),
  environment: settings.environment,
  include_private_key: z.enum(['true', 'false']).default('false'),
  format: z.enum(['pem', 'original']).default('pem'),
});
