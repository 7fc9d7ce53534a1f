import { z } from 'zod';
import { atLeastOne, isUuid, pathId, text, time } from '#server/kernel/fields.ts';
import { DEFAULT_KEY_TYPE, KEY_TYPE_NAMES, KEY_TYPES, type KeyType, keyTypeCan } from '#server/kernel/key-types.ts';

export { KEY_TYPE_NAMES, KEY_TYPES, type KeyType };

export const MODES = ['cloud-only', 'bundled'] as const;
export const MANAGERS = ['tenant', 'vault', 'service'] as const;
export const VERSION_STATES = ['active', 'retired', 'destroyed'] as const;

/** A key that callers use and never hold (interface rule 40 §1.1). Its material is in no answer. */
export const CryptoKey = z
  .object({
    id: z.uuid(),
    name: z.string(),
    key_type: z.enum(KEY_TYPE_NAMES),
    mode: z.enum(MODES),
    managed_by: z.enum(MANAGERS),
    description: z.string().nullable(),
    current_version: z.int(),
    min_decryption_version: z.int(),
    min_encryption_version: z.int(),
    deletion_allowed: z.boolean(),
    jwks_public: z.boolean(),
    auto_rotate_days: z.int().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'CryptoKey' });

export const CryptoKeyRecord = CryptoKey.extend({
  tenant_id: z.uuid(),
  sandbox: z.boolean(),
  created_by: z.uuid().nullable(),
  derived: z.boolean(),
  convergent: z.boolean(),
  jwt_version_from: time().nullable(),
}).meta({ id: 'CryptoKeyRecord' });

export const CryptoKeyVersion = z
  .object({
    version: z.int(),
    status: z.enum(VERSION_STATES),
    created_at: time(),
    retired_at: time().nullable(),
    destroyed_at: time().nullable(),
    destroy_after: time().nullable(),
    created_by: z.uuid().nullable(),
    encrypt_count: z.int(),
  })
  .meta({ id: 'CryptoKeyVersion' });

export const CryptoKeyDetail = CryptoKeyRecord.extend({ jwks_url: z.url().nullable(), versions: z.array(CryptoKeyVersion) }).meta({
  id: 'CryptoKeyDetail',
});

/** Found exactly as it is written; no two keys of a space differ in case alone. What looks like an ID is none. */
export const keyName = () =>
  z
    .string()
    .min(1)
    .max(128)
    .regex(
      /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]*[A-Za-z0-9])?$/,
      'may have letters, digits, spaces, dots, underscores and dashes, and begins and ends with a letter or digit',
    )
    .refine((name) => !isUuid(name), "can't look like an ID")
    .refine((name) => !/^(?:kc-|vault\.)/i.test(name), "can't start with kc- or vault., which are reserved for keys of the service")
    .meta({ examples: ['orders'] });

const autoRotateDays = () => z.int().min(1).max(3_650).nullable();
const description = () => text(1_000);

export const CreateCryptoKey = z
  .object({
    name: keyName(),
    key_type: z.enum(KEY_TYPE_NAMES).default(DEFAULT_KEY_TYPE),
    mode: z.enum(MODES).default('cloud-only'),
    description: description().optional(),
    auto_rotate_days: autoRotateDays().optional(),
    derived: z.boolean().default(false),
    convergent: z.boolean().default(false),
  })
  .refine(({ derived, key_type }) => !derived || keyTypeCan(key_type, 'encrypt'), {
    path: ['derived'],
    message: 'needs a key that encrypts',
  })
  .refine(({ convergent, derived }) => derived || !convergent, { path: ['convergent'], message: 'needs derived' })
  .refine(({ mode, key_type }) => mode === 'cloud-only' || KEY_TYPES[key_type].bundled, {
    path: ['mode'],
    message: `can only be bundled for ${KEY_TYPE_NAMES.filter((type) => KEY_TYPES[type].bundled).join(', ')}`,
  });

const unchangeable = () => z.never({ error: "can't be changed; create another key" }).optional();

export const UpdateCryptoKey = atLeastOne(
  z.object({
    name: pathId(),
    deletion_allowed: z.boolean().optional(),
    description: description().optional(),
    auto_rotate_days: autoRotateDays().optional(),
    jwks_public: z.boolean().optional(),
    min_decryption_version: z.int().min(1).optional(),
    min_encryption_version: z.int().min(1).optional(),
    key_type: unchangeable(),
    mode: unchangeable(),
    derived: unchangeable(),
    convergent: unchangeable(),
  }),
  ['name'],
);

/** The name or the ID of a key. */
export const CryptoKeyRef = z.object({ name: pathId() });
export const VersionRef = z.object({ name: pathId(), n: pathId() });

export const RotatedCryptoKey = z.object({ new_version: z.int() }).meta({ id: 'RotatedCryptoKey' });
export const DestroyedVersion = z.object({ deleted: z.literal(true), destroyed: z.int() }).meta({ id: 'DestroyedVersion' });

export const ScheduleDestruction = z.object({ name: pathId(), n: pathId(), days: z.int().min(7).max(30).default(30) });
export const ScheduledDestruction = z.object({ version: z.int(), destroy_after: time().nullable() }).meta({ id: 'ScheduledDestruction' });

export const TrimCryptoKey = z.object({ name: pathId(), min_available_version: z.int().min(1) });
export const TrimmedCryptoKey = z.object({ destroyed: z.array(z.int()) }).meta({ id: 'TrimmedCryptoKey' });

const versionNumber = () =>
  z
    .union([
      z.number(),
      z
        .string()
        .regex(/^[1-9][0-9]{0,8}$/, 'must be the number of a version')
        .transform(Number),
    ])
    .pipe(z.int().min(1))
    .meta({ type: 'integer', minimum: 1 });

/** The members that an RFC 7517 key of these types has. */
export const PublicJwk = z
  .object({
    kty: z.string(),
    crv: z.string().optional(),
    x: z.string().optional(),
    y: z.string().optional(),
    n: z.string().optional(),
    e: z.string().optional(),
    use: z.enum(['sig', 'enc']),
    alg: z.string().optional(),
    kid: z.string(),
  })
  .meta({ id: 'PublicJwk' });
export const JwkSet = z.object({ keys: z.array(PublicJwk) }).meta({ id: 'JwkSet' });

export const GetPublicKey = z.object({ name: pathId(), version: versionNumber().optional() });
export const PublicKey = z.object({ pem: z.string(), jwk: PublicJwk, key_version: z.int() }).meta({ id: 'CryptoPublicKey' });

/** Of a person, who sees the plaintext or has it moved to the active version. */
export const RevealCiphertext = z.object({
  name: pathId(),
  ciphertext: z.string().max(1_400_000),
  associated_data_b64: z.string().max(5_464).optional(),
  context_b64: z.string().max(5_464).optional(),
});
export const RevealedPlaintext = z
  .object({ plaintext: z.string().nullable(), plaintext_b64: z.string(), key_version: z.int() })
  .meta({ id: 'RevealedPlaintext' });
export const RewrappedByPerson = z.object({ ciphertext: z.string(), key_version: z.int() }).meta({ id: 'RewrappedByPerson' });

/** What the list shows of each key beside the key itself. */
export const CryptoKeyUsage = z
  .object({
    id: z.uuid(),
    /** When the active version was made. */
    rotated_at: time(),
    live_versions: z.int(),
    /** Since the beginning of this month (UTC). */
    encryptions: z.int(),
    uses: z.int(),
  })
  .meta({ id: 'CryptoKeyUsage' });

export const CryptoKeyActivity = z
  .object({
    /** The last 30 days (UTC), oldest first, without days of no use. */
    days: z.array(z.object({ day: z.string(), operations: z.record(z.string(), z.int()) })),
    /** What names the key and would stop working without it. */
    used_by: z.array(z.string()),
    /** Vault tokens under each version that has any. They can't be opened once it is destroyed. */
    tokens: z.array(z.object({ version: z.int(), count: z.int() })),
  })
  .meta({ id: 'CryptoKeyActivity' });
