import type { z } from 'zod';
import type { Client, ClientDetail, Credential, CredentialKind } from '#server/domain/clients/schema.ts';

export type ClientRow = z.output<typeof Client>;
export type Detail = z.output<typeof ClientDetail>;
export type CredentialRow = z.output<typeof Credential>;

export const TYPES = { server: 'Server', user: 'Person' } as const;

export const KINDS: Record<CredentialKind, string> = {
  ip: 'IP address',
  mtls_thumbprint: 'Certificate',
  signature_hmac: 'HMAC key',
  signature_ed25519: 'Ed25519 key',
};

const PLURAL: Record<CredentialKind, [string, string]> = {
  ip: ['IP address', 'IP addresses'],
  mtls_thumbprint: ['certificate', 'certificates'],
  signature_hmac: ['HMAC key', 'HMAC keys'],
  signature_ed25519: ['Ed25519 key', 'Ed25519 keys'],
};

/** "2 addresses, 1 certificate". */
export const credentialsInWords = (kinds: ClientRow['credential_kinds']): string =>
  (Object.entries(kinds) as [CredentialKind, number][])
    .map(([kind, count]) => `${count} ${PLURAL[kind][count === 1 ? 0 : 1]}`)
    .join(', ') || 'None';

/** What identifies a credential to a person: the address, the certificate's subject or thumbprint, the key's id. */
export function identityOf({ kind, data }: Pick<CredentialRow, 'kind' | 'data'>): string {
  if (kind === 'ip') return data.value ?? '';
  if (kind === 'mtls_thumbprint') return data.subject ?? shortThumbprint(data.thumbprint ?? '');
  return data.key_id ?? '';
}

const shortThumbprint = (hex: string): string => (hex.length > 20 ? `${hex.slice(0, 8)}…${hex.slice(-8)}` : hex);
