import type { z } from 'zod';
import type { KeyType } from '#server/domain/crypto-keys/key-types.shared.ts';
import type { CryptoKey, CryptoKeyDetail, CryptoKeyUsage, CryptoKeyVersion } from '#server/domain/crypto-keys/schema.ts';

export type KeyRow = z.output<typeof CryptoKey>;
export type Detail = z.output<typeof CryptoKeyDetail>;
export type Version = z.output<typeof CryptoKeyVersion>;
export type Usage = z.output<typeof CryptoKeyUsage>;

/** What a type is called, and what to use it for in one line. */
export const TYPES: Readonly<Record<KeyType, { label: string; use: string }>> = {
  'aes256-gcm': { label: 'AES-256-GCM', use: 'Encrypt and decrypt data that you store.' },
  'hmac-sha256': { label: 'HMAC-SHA256', use: 'Sign webhooks, cookies and JWTs that you verify yourself.' },
  'hmac-sha512': { label: 'HMAC-SHA512', use: 'Longer MACs and HS512 JWTs.' },
  'rsa-2048': { label: 'RSA 2048', use: 'Sign for partners that only support RSA.' },
  'rsa-3072': { label: 'RSA 3072', use: 'RSA signatures meant to last beyond 2030.' },
  'rsa-4096': { label: 'RSA 4096', use: 'RSA signatures where policy demands the longest key. Slow.' },
  'ecdsa-p256': { label: 'ECDSA P-256', use: 'ES256 JWTs and signatures that others verify.' },
  'ecdsa-p384': { label: 'ECDSA P-384', use: 'ES384, where policy demands a 384-bit curve.' },
  ed25519: { label: 'Ed25519', use: 'Fast signatures and EdDSA JWTs. The best choice for new systems.' },
  'ecdh-p256': { label: 'ECDH P-256', use: 'Let browsers and apps seal values that only this service opens.' },
};

export const MODES = { 'cloud-only': 'Cloud only', bundled: 'Bundled' } as const;
export const MANAGERS = { tenant: 'You', vault: 'Vault', service: 'Service' } as const;

/** Why a key can't be changed here, for a key that belongs to something else. */
export function managedReason({ managed_by }: Pick<KeyRow, 'managed_by'>): string | undefined {
  if (managed_by === 'vault') return 'This key belongs to a vault. Change the vault instead.';
  if (managed_by === 'service') return 'This key belongs to the service.';
  return undefined;
}

type State = { state: 'ok' | 'off' | 'blocked' | 'warning'; label: string };

export function stateOfVersion({ status, destroy_after }: Pick<Version, 'status' | 'destroy_after'>): State {
  if (status === 'destroyed') return { state: 'blocked', label: 'Destroyed' };
  if (destroy_after) return { state: 'warning', label: 'Waiting for destruction' };
  return status === 'active' ? { state: 'ok', label: 'Active' } : { state: 'off', label: 'Retired' };
}

/** From here on a version should be rotated (NIST SP 800-38D); at twice as many it is, by itself. */
export const MANY_ENCRYPTIONS = 2 ** 31;

/** The name of a key as a part of a URL. */
export const nameInPath = ({ name }: Pick<KeyRow, 'name'>): string => encodeURIComponent(name);
