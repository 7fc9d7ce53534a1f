import { z } from 'zod';
import { atLeastOne, Deleted, isoTime, isUuid, pathId, queryInt, secret, text, time, uuid } from '#server/kernel/fields.ts';
import { anyObject, columnObject, storedJson } from '#server/kernel/json-fields.ts';
import { isExact } from '#server/kernel/lossless-json.ts';
import { listQuery, pageQuery } from '#server/kernel/page.ts';
import { ALPHABETS, TOKEN_FORMATS } from './formats.shared.ts';

export const CUSTODY_MODES = ['managed', 'dual'] as const;
const MOST_TTL_SECONDS = 315_360_000;

/** JSON that PostgreSQL can keep, of so many bytes as text. */
const jsonObject = (bytes: number) =>
  anyObject()
    .refine((json) => new TextEncoder().encode(JSON.stringify(json)).length <= bytes, `must be at most ${bytes / 1_024} KiB`)
    .refine((json) => isStorable(JSON.stringify(json)), 'must be valid Unicode without null characters')
    .meta({ type: 'object', additionalProperties: true });
/** JSON.stringify writes lone surrogates and null characters as escapes. */
const isStorable = (json: string) => !/\\u(?:0000|d[89a-f])/i.test(json.replaceAll('\\\\', ''));

/** Metadata of tokens is kept by name, so that it can be searched. A column writes its numbers out, hence the bound. */
const searchable = () => jsonObject(4_096).refine(hasShortNumbers, `must not have numbers with an exponent beyond ${LARGEST_EXPONENT}`);
const LARGEST_EXPONENT = 400;

function hasShortNumbers(value: unknown): boolean {
  if (isExact(value)) return Math.abs(Number(value.value.split(/e/i)[1] ?? 0)) <= LARGEST_EXPONENT;
  return typeof value !== 'object' || value === null || Object.values(value).every(hasShortNumbers);
}

/** A vault exchanges values for tokens (interface rule 42 §1.1). */
export const Vault = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    name: z.string(),
    token_format: z.enum(TOKEN_FORMATS),
    alphabet: z.string().nullable(),
    crypto_key_id: z.uuid(),
    custody_mode: z.enum(CUSTODY_MODES),
    default_ttl_seconds: z.int().nullable(),
    metadata_jsonb: columnObject(),
    description: z.string().nullable(),
    enabled: z.boolean(),
    dedupe: z.boolean(),
    allowed_hosts: z.array(z.string()).nullable(),
    created_at: time(),
    updated_at: time(),
    created_by: z.uuid().nullable(),
    sandbox: z.boolean(),
  })
  .meta({ id: 'Vault' });

export const VaultStats = z.object({ token_count: z.int(), active_count: z.int(), expiring_in_24h: z.int() }).meta({ id: 'VaultStats' });
/** How far the values are moved to the newest version of the key. */
export const VaultRewrap = z
  .object({ to_version: z.int(), done: z.int(), total: z.int(), started_at: time(), finished_at: time().nullable() })
  .meta({ id: 'VaultRewrap' });
export const VaultDetail = Vault.extend({
  stats: VaultStats,
  key_version: z.int(),
  key_rotated_at: time(),
  rewrap: VaultRewrap.nullable(),
}).meta({ id: 'VaultDetail' });

const hosts = () =>
  z
    .array(
      z
        .string()
        .trim()
        .toLowerCase()
        .min(1)
        .max(253)
        .regex(/^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, 'must be a host such as api.example.com or *.example.com'),
    )
    .min(1)
    .max(100)
    .nullable();

const ttl = (least: number) => z.int().min(least).max(MOST_TTL_SECONDS);

/** Found exactly as it is written; no two vaults of a space differ in case alone. What looks like an ID is none. */
export const vaultName = () =>
  z
    .string()
    .min(1)
    .max(128)
    .regex(
      /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]*[A-Za-z0-9])?$/,
      'may have letters, digits, spaces, dots, underscores and dashes, and begins and ends with a letter or digit',
    )
    .refine((name) => !isUuid(name), "can't look like an ID")
    .meta({ examples: ['cards'] });

const ALPHABET_NAMES = Object.keys(ALPHABETS) as [keyof typeof ALPHABETS, ...(keyof typeof ALPHABETS)[]];

export const CreateVault = z.object({
  name: vaultName(),
  token_format: z.enum(TOKEN_FORMATS).default('generic'),
  /** Only of format ff1. */
  alphabet: z
    .union([
      z.enum(ALPHABET_NAMES),
      z
        .string()
        .min(2)
        .max(1_024)
        .refine(
          (characters) => characters.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(characters),
          'must not contain control characters',
        )
        .refine((characters) => new Set(characters).size === [...characters].length, 'must not contain a character twice'),
    ])
    .meta({ type: 'string', minLength: 2, maxLength: 1_024 })
    .optional(),
  custody_mode: z.enum(CUSTODY_MODES).default('managed'),
  default_ttl_seconds: ttl(60).nullable().optional(),
  description: text(1_000).optional(),
  metadata_jsonb: storedJson(jsonObject(4_096)).optional(),
  dedupe: z.boolean().default(false),
  allowed_hosts: hosts().optional(),
});

const immutable = () => z.never({ error: "can't be changed; create another vault" }).optional();

export const UpdateVault = atLeastOne(
  z.object({
    vault: pathId(),
    default_ttl_seconds: ttl(60).nullable().optional(),
    description: text(1_000).optional(),
    enabled: z.boolean().optional(),
    metadata_jsonb: storedJson(jsonObject(4_096)).optional(),
    allowed_hosts: hosts().optional(),
    name: immutable(),
    token_format: immutable(),
    alphabet: immutable(),
    custody_mode: immutable(),
    dedupe: immutable(),
  }),
  ['vault'],
);

export const ListVaults = listQuery({ sorts: ['created_at', 'name'], sort: 'created_at', order: 'desc', filters: {} });
/** The name or the ID of a vault. */
export const VaultRef = z.object({ vault: pathId() });
export const RotateVault = z.object({ vault: pathId(), rewrap: z.boolean().default(false) });
export const RotatedVault = z.object({ new_version: z.int() }).meta({ id: 'RotatedVault' });

/** What cards of the list show beside the vault itself. */
export const VaultUsage = z
  .object({
    id: z.uuid(),
    ...VaultStats.shape,
    key_version: z.int(),
    key_rotated_at: time(),
    /** In the month so far (UTC). */
    tokenized: z.int(),
    detokenized: z.int(),
  })
  .meta({ id: 'VaultUsage' });

// ------------------------------------------------------------------------------------------------------------------------------ tokens

const card = {
  card_expires_on: z.string().nullable().meta({ format: 'date' }),
  card_funding_type: z.enum(['credit', 'debit', 'prepaid']).nullable(),
  card_issuing_country: z.string().nullable(),
};

/** A token as tokenize answers it. */
export const VaultToken = z
  .object({
    /** Null in a vault that stores nothing (ff1). */
    id: z.uuid().nullable(),
    token: z.string(),
    expires_at: time().nullable(),
    created_at: time(),
    ...card,
    fingerprint: z.string().optional(),
    reused: z.literal(true).optional(),
  })
  .meta({ id: 'VaultToken' });

export const ListedToken = z
  .object({
    id: z.uuid(),
    token: z.string(),
    expires_at: time().nullable(),
    created_at: time(),
    ...card,
    created_by_api_key_id: z.uuid().nullable(),
    created_by_user_id: z.uuid().nullable(),
  })
  .meta({ id: 'ListedVaultToken' });

export const DetokenizedToken = z
  .object({
    id: z.uuid().nullable(),
    token: z.string(),
    value: z.string(),
    value_b64: z.string(),
    metadata: anyObject().nullable(),
    expires_at: time().nullable(),
    created_at: time().nullable(),
    ...card,
    crypto_key_version: z.int(),
  })
  .meta({ id: 'DetokenizedVaultToken' });

const value = () => secret(z.string().min(1).max(65_536)).meta({ examples: ['4242424242424242'] });
/** Printable, and nothing that tells a sealed value or a fingerprint. */
const chosenToken = () =>
  z
    .string()
    .min(1)
    .max(512)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .refine((token) => !/^(?:kc:|kct_|sha256:)/.test(token), "can't start with kc:, kct_ or sha256:");

const item = {
  value: value(),
  metadata: searchable().nullable().optional(),
  ttl_seconds: ttl(1).nullable().optional(),
  card_exp_month: z.int().min(1).max(12).optional(),
  card_exp_year: z.int().min(2_000).max(2_100).optional(),
  token: chosenToken().optional(),
};
export const Tokenize = z.object({ vault: pathId(), ...item });
export const TokenizeMany = z.object({ vault: pathId(), values: z.array(z.object(item)).min(1).max(1_000) });
export const TokenizedMany = z.object({ tokens: z.array(VaultToken), count: z.int() }).meta({ id: 'VaultTokens' });

const revealReason = () =>
  z
    .string()
    .max(2_000)
    .optional()
    .meta({ 'x-header': 'X-Reveal-Reason', examples: ['refund%20812'] });

export const TokenRef = z.object({ vault: pathId(), token: pathId() });
export const Detokenize = z.object({ vault: pathId(), token: pathId(), reason: revealReason() });
const tokenText = () => z.string().min(1).max(120_000);
export const DetokenizeMany = z.object({
  vault: pathId(),
  tokens: z.array(tokenText()).min(1).max(100),
  reason: revealReason(),
});
/** One of the two, in the order of the tokens that were asked for. */
export const DetokenizedMany = z
  .object({
    results: z.array(
      z.object({
        token: DetokenizedToken.nullable(),
        error: z.object({ type: z.string(), message: z.string() }).nullable(),
      }),
    ),
  })
  .meta({ id: 'DetokenizedVaultTokens' });

const notHere = () => z.never({ error: "can't be changed; make a new token" }).optional();
export const UpdateToken = z.object({
  vault: pathId(),
  token: pathId(),
  metadata: searchable(),
  value: notHere(),
  ttl_seconds: notHere(),
  card_exp_month: notHere(),
  card_exp_year: notHere(),
});
export const Updated = z.object({ updated: z.literal(true) }).meta({ id: 'UpdatedVaultToken' });
export { Deleted };

export const DeleteTokens = z.object({ vault: pathId(), tokens: z.array(tokenText()).min(1).max(1_000) });
export const DeletedTokens = z.object({ deleted: z.int(), not_found: z.array(z.string()) }).meta({ id: 'DeletedVaultTokens' });

export const TOKEN_SORTS = ['created_at', 'expires_at'] as const;
export const ListTokens = listQuery({ sorts: TOKEN_SORTS, sort: 'created_at', order: 'desc', filters: { vault: pathId() } });

export const SearchTokens = z
  .object({
    vault: pathId(),
    metadata: searchable().optional(),
    created_from: isoTime().optional(),
    created_to: isoTime().optional(),
    expires_from: isoTime().optional(),
    expires_to: isoTime().optional(),
    value: value().optional(),
    ...pageQuery,
    sort: z.enum(TOKEN_SORTS).default('created_at'),
    order: z.enum(['asc', 'desc']).default('desc'),
  })
  .refine(
    ({ metadata, created_from, created_to, expires_from, expires_to, value }) =>
      [metadata, created_from, created_to, expires_from, expires_to, value].some((given) => given !== undefined),
    { path: ['body'], message: 'send metadata, value, or a range of created or expires' },
  );

const column = () => z.string().min(1).max(128);
export const ImportTokens = z.object({
  vault: pathId(),
  format: z.enum(['csv', 'jsonl']).default('csv'),
  content: secret(z.string().min(1).max(3_500_000)),
  /** Which column, or member, holds what. */
  columns: z
    .object({
      value: column().default('value'),
      token: column().optional(),
      ttl_seconds: column().optional(),
      card_exp_month: column().optional(),
      card_exp_year: column().optional(),
      metadata: z
        .record(column(), column())
        .refine((members) => Object.keys(members).length <= 100, 'must name at most 100 columns')
        .optional(),
    })
    .default({ value: 'value' }),
  dry_run: z.boolean().default(false),
});
export const ImportedTokens = z
  .object({
    rows: z.int(),
    imported: z.int(),
    reused: z.int(),
    dry_run: z.boolean(),
    /** In the order of the rows; empty for a dry run. */
    tokens: z.array(z.string()),
  })
  .meta({ id: 'ImportedVaultTokens' });

export const ExportTokens = z.object({
  vault: pathId(),
  format: z.enum(['csv', 'jsonl']).default('csv'),
  after: uuid().optional(),
  limit: z.int().min(1).max(10_000).default(10_000),
});
/** A part of a file; `next_after` asks for the next one, and is null at the end. */
export const ExportedTokens = z
  .object({ content: z.string(), count: z.int(), next_after: z.uuid().nullable() })
  .meta({ id: 'ExportedVaultTokens' });

/** Row 5 of interface rule 32 §2: one verification for each page. */
export const RevealTokens = z.object({ vault: pathId(), page: queryInt(1, 2_001).default(1) });
export const RevealedToken = ListedToken.extend({ format: z.enum(TOKEN_FORMATS), last4: z.string().nullable() }).meta({
  id: 'RevealedVaultToken',
});
export const RevealedTokens = z
  .object({ tokens: z.array(RevealedToken), total: z.int(), page: z.int(), per_page: z.int() })
  .meta({ id: 'RevealedVaultTokens' });
