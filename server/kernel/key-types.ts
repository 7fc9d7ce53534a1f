/** What each type of crypto key may do (interface rule 40 §1.3). Data without packages: pages, schemas and ciphers read the same table. */
export const KEY_TYPE_NAMES = [
  'aes256-gcm',
  'hmac-sha256',
  'hmac-sha512',
  'rsa-2048',
  'rsa-3072',
  'rsa-4096',
  'ecdsa-p256',
  'ecdsa-p384',
  'ed25519',
  'ecdh-p256',
] as const;
export type KeyType = (typeof KEY_TYPE_NAMES)[number];
export const DEFAULT_KEY_TYPE: KeyType = 'aes256-gcm';

export const KEY_USES = [
  'encrypt',
  'decrypt',
  'rewrap',
  'datakey',
  'sign',
  'verify',
  'jwt',
  'jwt/verify',
  'webhook-sign',
  'public-key',
  'jwks',
  'seal',
] as const;
/** What is done with a key, by the last part of its path; `seal` is the encryption of JSON values (interface rule 41). */
export type KeyUse = (typeof KEY_USES)[number];

export const SIGNATURE_HASHES = ['sha256', 'sha384', 'sha512'] as const;
export type SignatureHash = (typeof SIGNATURE_HASHES)[number];

export const RSA_PADDINGS = ['pss', 'pkcs1v15'] as const;
export type RsaPadding = (typeof RSA_PADDINGS)[number];

export type JwtAlgorithm = 'HS256' | 'HS512' | 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'EdDSA';

/** Why a JWT is refused, in the order of its checks. */
export const JWT_FAULTS = [
  'malformed',
  'alg_not_allowed',
  'unknown_kid',
  'version_disabled',
  'version_destroyed',
  'bad_signature',
  'expired',
  'not_yet_valid',
  'iss_mismatch',
  'aud_mismatch',
  'sub_mismatch',
] as const;
export type JwtFault = (typeof JWT_FAULTS)[number];

export const WEBHOOK_FORMATS = ['stripe', 'slack', 'github', 'legacy', 'aws-sns'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export type KeyTypeRules = {
  readonly kind: 'aes' | 'hmac' | 'rsa' | 'ecdsa' | 'ed25519' | 'ecdh';
  readonly uses: readonly KeyUse[];
  /** Algorithms of JWTs, the default first; empty when the type signs none. */
  readonly jwt: readonly JwtAlgorithm[];
  /** Hashes a caller may choose from, the default first; empty where the type fixes the hash. */
  readonly hashes: readonly SignatureHash[];
  /** Paddings a caller may choose from, the default first. */
  readonly paddings: readonly RsaPadding[];
  /** Has a public half. */
  readonly asymmetric: boolean;
  /** May be shipped to agents (mode `bundled`). */
  readonly bundled: boolean;
};

const encryption: readonly KeyUse[] = ['encrypt', 'decrypt', 'rewrap', 'datakey'];
const mac: readonly KeyUse[] = ['sign', 'verify', 'jwt', 'jwt/verify'];
const signing: readonly KeyUse[] = [...mac, 'public-key', 'jwks'];

const symmetric = { hashes: [], paddings: [], asymmetric: false, bundled: true } as const;
const asymmetric = { hashes: [], paddings: [], asymmetric: true, bundled: false } as const;
const rsa: KeyTypeRules = {
  ...asymmetric,
  kind: 'rsa',
  uses: signing,
  jwt: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  hashes: SIGNATURE_HASHES,
  paddings: RSA_PADDINGS,
};

export const KEY_TYPES: Readonly<Record<KeyType, KeyTypeRules>> = {
  'aes256-gcm': { ...symmetric, kind: 'aes', uses: encryption, jwt: [] },
  'hmac-sha256': { ...symmetric, kind: 'hmac', uses: [...mac, 'webhook-sign'], jwt: ['HS256'] },
  'hmac-sha512': { ...symmetric, kind: 'hmac', uses: mac, jwt: ['HS512'] },
  'rsa-2048': rsa,
  'rsa-3072': rsa,
  'rsa-4096': rsa,
  'ecdsa-p256': { ...asymmetric, kind: 'ecdsa', uses: signing, jwt: ['ES256'], hashes: SIGNATURE_HASHES },
  'ecdsa-p384': { ...asymmetric, kind: 'ecdsa', uses: signing, jwt: ['ES384'], hashes: ['sha384', 'sha256', 'sha512'] },
  ed25519: { ...asymmetric, kind: 'ed25519', uses: signing, jwt: ['EdDSA'] },
  'ecdh-p256': { ...asymmetric, kind: 'ecdh', uses: ['public-key', 'seal'], jwt: [] },
};

export const keyTypeCan = (type: KeyType, use: KeyUse): boolean => KEY_TYPES[type].uses.includes(use);

/** The types that can do something, in the order of the table. */
export const keyTypesFor = (use: KeyUse): KeyType[] => KEY_TYPE_NAMES.filter((type) => keyTypeCan(type, use));

/** The most bytes of data in one call, decoded (interface rule 40 §9). */
export const MAX_DATA_BYTES = 1_048_576;
/** Associated data and the context of a derived key (interface rule 40 §10.2). */
export const MAX_ASSOCIATED_DATA_BYTES = 4_096;
export const MAX_CLAIMS_BYTES = 16_384;
export const MAX_TOKEN_LENGTH = 65_536;
export const DATA_KEY_BITS = [128, 256, 512] as const;
export type DataKeyBits = (typeof DATA_KEY_BITS)[number];
