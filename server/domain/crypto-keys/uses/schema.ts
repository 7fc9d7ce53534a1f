import { z } from 'zod';
import { inQuery, pathId, secret, shownOnce, unstored } from '#server/kernel/fields.ts';
import { objectText, sameObjectText } from '#server/kernel/json-fields.ts';
import { DATA_KEY_BITS, JWT_FAULTS, MAX_DATA_BYTES, MAX_TOKEN_LENGTH, WEBHOOK_FORMATS } from '#server/kernel/key-types.ts';

/** Items of one call (interface rule 40 §10.1). */
export const MOST_ITEMS = 250;

/** Characters that a megabyte has as base64. */
const MAX_B64 = Math.ceil(MAX_DATA_BYTES / 3) * 4;

const plain = () => secret(z.string().max(MAX_DATA_BYTES)).optional();
const base64 = (max = MAX_B64) => z.string().max(max).optional();
/** 4 KiB as base64. */
const smallBase64 = () => base64(5_464);
const ciphertext = () => z.string().max(MAX_B64 + 64);
const signature = () => z.string().max(4_096);

/** What a ciphertext is bound to beside its key: bytes it can't be opened without, and the context of a derived key. */
const bound = { associated_data_b64: smallBase64(), context_b64: smallBase64() };
const data = { data: z.string().max(MAX_DATA_BYTES).optional(), data_b64: base64() };
const signing = { hash: z.string().max(16).optional(), rsa_padding: z.string().max(16).optional() };

const EncryptItem = z.object({ plaintext: plain(), plaintext_b64: secret(z.string().max(MAX_B64)).optional(), ...bound });
const DecryptItem = z.object({ ciphertext: ciphertext(), ...bound });
const SignItem = z.object({ ...data, ...signing });
const VerifyItem = z.object({ ...data, ...signing, signature: signature() });
export type EncryptItem = z.output<typeof EncryptItem>;
export type DecryptItem = z.output<typeof DecryptItem>;
export type SignItem = z.output<typeof SignItem>;
export type VerifyItem = z.output<typeof VerifyItem>;

const batchOf = <T extends z.ZodObject>(item: T) => unstored(z.array(item).min(1).max(MOST_ITEMS).optional());

/** One item in the body itself, or many in `batch`. Nothing of it reaches a table. */
function oneOrMany<T extends z.ZodObject>(item: T) {
  const fields = Object.entries(item.shape) as [string, z.ZodType][];
  const optional = Object.fromEntries(fields.map(([name, field]) => [name, unstored(field.optional())]));
  const required = fields.filter(([, field]) => !field.isOptional()).map(([name]) => name);
  return z
    .object({ name: pathId(), ...(optional as { [Name in keyof T['shape']]: z.ZodOptional<T['shape'][Name]> }), batch: batchOf(item) })
    .superRefine((given: Record<string, unknown>, context) => {
      if (given.batch === undefined) {
        for (const name of required)
          if (given[name] === undefined) context.addIssue({ code: 'custom', path: [name], message: 'is required' });
        return;
      }
      const single = fields.find(([name]) => given[name] !== undefined);
      if (single) context.addIssue({ code: 'custom', path: ['batch'], message: `can't be sent together with ${single[0]}` });
    });
}

export const Encrypt = oneOrMany(EncryptItem);
/** `format`: bytes as base64, or `utf8` for text. */
export const Decrypt = oneOrMany(DecryptItem).safeExtend({
  format: inQuery(z.enum(['utf8']).optional()),
  reveal_reason: z
    .string()
    .max(2_000)
    .optional()
    .meta({ 'x-header': 'X-Reveal-Reason', examples: ['ticket%20812'] }),
});
export const Rewrap = oneOrMany(DecryptItem);
export const Sign = oneOrMany(SignItem);
export const Verify = oneOrMany(VerifyItem);

export const ItemFailure = z.object({ error: z.object({ type: z.string(), message: z.string() }) }).meta({ id: 'CryptoItemFailure' });
const oneOrResults = <T extends z.ZodObject>(result: T) =>
  z.union([result, z.object({ batch_results: z.array(z.union([result, ItemFailure])) })]);

const key_version = z.int();
export const Encrypted = oneOrResults(z.object({ ciphertext: z.string(), key_version }).meta({ id: 'CryptoCiphertext' }));
export const Decrypted = oneOrResults(
  z
    .object({ plaintext: shownOnce(z.string()).optional(), plaintext_b64: shownOnce(z.string()).optional(), key_version })
    .meta({ id: 'CryptoPlaintext' }),
);
export const Signed = oneOrResults(z.object({ signature: z.string(), key_version }).meta({ id: 'CryptoSignature' }));
export const Verified = oneOrResults(z.object({ valid: z.boolean(), key_version }).meta({ id: 'CryptoVerdict' }));

export const NewDataKey = z.object({
  name: pathId(),
  bits: z.union(DATA_KEY_BITS.map((bits) => z.literal(bits))).default(256),
  include_plaintext: z.boolean().default(false),
  ...bound,
});
export const DataKey = z
  .object({ plaintext_b64: shownOnce(z.string()).optional(), ciphertext: z.string(), key_version })
  .meta({ id: 'CryptoDataKey' });

export const SignJwt = z.object({
  name: pathId(),
  claims: unstored(objectText()),
  header_overrides: unstored(z.record(z.string(), z.unknown()).optional()),
  ttl_seconds: z.int().min(1).max(31_536_000).optional(),
});
export const SignedJwt = z.object({ token: z.string(), key_version, alg: z.string() }).meta({ id: 'CryptoJwt' });

export const VerifyJwt = z.object({
  name: pathId(),
  token: unstored(z.string().max(MAX_TOKEN_LENGTH)),
  expected: z
    .object({
      iss: z.string().max(1_024).optional(),
      aud: z.string().max(1_024).optional(),
      sub: z.string().max(1_024).optional(),
      clock_skew_seconds: z.int().min(0).max(300).default(60),
    })
    .default({ clock_skew_seconds: 60 }),
});
export const JwtVerdict = z
  .object({
    valid: z.boolean(),
    /** As they were signed. */
    claims: sameObjectText().optional(),
    key_version: key_version.optional(),
    alg: z.string().optional(),
    kid: z.string().optional(),
    error: z.enum(JWT_FAULTS).optional(),
  })
  .meta({ id: 'CryptoJwtVerdict' });

export const SignWebhook = z.object({
  name: pathId(),
  payload: unstored(z.string().max(MAX_DATA_BYTES).optional()),
  payload_b64: base64(),
  timestamp_seconds: z.int().min(0).max(253_402_300_799).optional(),
  format: z.enum(WEBHOOK_FORMATS).default('stripe'),
});
export const SignedWebhook = z
  .object({
    signature_header: z.string(),
    headers: z.record(z.string(), z.string()),
    timestamp_seconds: z.int(),
    key_version,
    format: z.enum(WEBHOOK_FORMATS),
  })
  .meta({ id: 'CryptoWebhookSignature' });
