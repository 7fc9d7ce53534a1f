import { z } from 'zod';
import { pathId, shownOnce, time, uuid } from '#server/kernel/fields.ts';
import { isJsonText, type JsonText } from '#server/kernel/json-text.ts';
import { listQuery } from '#server/kernel/page.ts';

/** What a client token does, once (interface rule 41 §9). */
export const CLIENT_TOKEN_ACTIONS = ['decrypt', 'detokenize', 'tokenize'] as const;
export type ClientTokenAction = (typeof CLIENT_TOKEN_ACTIONS)[number];

/** `minted` is the only one that can be spent. */
export const CLIENT_TOKEN_STATES = ['minted', 'consumed', 'expired', 'burned', 'revoked'] as const;
export type ClientTokenState = (typeof CLIENT_TOKEN_STATES)[number];

export const DEFAULT_TTL_SECONDS = 300;
export const MAX_TTL_SECONDS = 600;
export const MAX_ORIGINS = 10;
/** Spends of the right token with a wrong payload or action: the last of them burns it. */
export const MAX_FAILED_ATTEMPTS = 5;
const MAX_PAYLOAD = 120_000;

export const MintClientToken = z
  .object({
    action: z.enum(CLIENT_TOKEN_ACTIONS),
    data: z.string().min(1).max(MAX_PAYLOAD).optional(),
    vault: z.string().min(1).max(128).optional(),
    origins: z.array(z.string().min(1).max(300)).min(1).max(MAX_ORIGINS).optional(),
    role: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/, 'must be 1 to 63 characters of lowercase letters, digits, dots, hyphens and underscores')
      .optional(),
    ttl_seconds: z.int().min(1).default(DEFAULT_TTL_SECONDS),
  })
  .superRefine(({ action, role, ...given }, ctx) => {
    // Bindings are exclusive: what exists already, or the vault and pages that will make it.
    for (const field of ['data', 'vault', 'origins'] as const) {
      const wanted = (field === 'data') !== (action === 'tokenize');
      if (wanted !== (given[field] !== undefined))
        ctx.addIssue({ code: 'custom', path: [field], message: wanted ? `is required for ${action}` : `can't be sent for ${action}` });
    }
    if (role !== undefined && action !== 'decrypt')
      ctx.addIssue({ code: 'custom', path: ['role'], message: `can't be sent for ${action}: vaults bind no role` });
  });

/** The only time the token is shown. */
export const MintedClientToken = z
  .object({
    id: z.uuid(),
    token: shownOnce(z.string()),
    expires_at: time(),
    action: z.enum(CLIENT_TOKEN_ACTIONS),
    /** Of tokenize alone. */
    vault_id: z.uuid().optional(),
    origins: z.array(z.string()).optional(),
  })
  .meta({ id: 'MintedClientToken' });

/** A record of a mint. Neither the token nor what it opens is among the fields. */
export const ClientToken = z
  .object({
    id: z.uuid(),
    action: z.enum(CLIENT_TOKEN_ACTIONS),
    state: z.enum(CLIENT_TOKEN_STATES),
    /** Of a sealed value. */
    payload_fp: z.string().nullable(),
    key_id: z.uuid().nullable(),
    key_name: z.string().nullable(),
    vault_id: z.uuid().nullable(),
    vault_name: z.string().nullable(),
    token_id: z.uuid().nullable(),
    origins: z.array(z.string()),
    role: z.string().nullable(),
    minted_by: z.object({ type: z.enum(['user', 'api_key', 'oauth_client']), id: z.uuid(), label: z.string() }),
    created_at: time(),
    expires_at: time(),
    consumed_at: time().nullable(),
    consumed_ip: z.string().nullable(),
    consumed_origin: z.string().nullable(),
    failed_attempts: z.int(),
    burned_at: time().nullable(),
    revoked_at: time().nullable(),
  })
  .meta({ id: 'ClientToken' });

export const ListClientTokens = listQuery({
  sorts: ['created_at'],
  sort: 'created_at',
  order: 'desc',
  filters: {
    state: z.enum(CLIENT_TOKEN_STATES).optional(),
    action: z.enum(CLIENT_TOKEN_ACTIONS).optional(),
    minted_by: uuid().optional(),
  },
});

export const ClientTokenRef = z.object({ id: pathId() });
export const RevokedClientToken = z.object({ deleted: z.literal(true), revoked: z.literal(true) }).meta({ id: 'RevokedClientToken' });

/** All open tokens of one credential. */
export const RevokeClientTokens = z.object({ minted_by: uuid() });
export const RevokedClientTokens = z.object({ revoked: z.int() }).meta({ id: 'RevokedClientTokens' });

/** Where a page can't set headers, it sends its token beside the rest. */
const token = z.string().max(100).optional();

/** What a hosted field knows of itself when a page hands it a token. */
export const CheckClientToken = z.object({ workspace: z.uuid(), action: z.enum(CLIENT_TOKEN_ACTIONS), token });
export const CheckedClientToken = z.object({ valid: z.literal(true) }).meta({ id: 'CheckedClientToken' });

export const SpendOnPayload = z.object({ data: z.string().min(1).max(MAX_PAYLOAD), token });
export const SpendOnValue = z.object({
  value: z.string().min(1).max(65_536),
  card_exp_month: z.int().min(1).max(12).optional(),
  card_exp_year: z.int().min(2000).max(2100).optional(),
  token,
});

export const ClientDecrypted = z
  .object({ plaintext: z.custom<JsonText>(isJsonText).meta({ description: 'Any JSON value.' }) })
  .meta({ id: 'ClientDecrypted' });
/** Nothing but the value: no metadata, no ids. */
export const ClientDetokenized = z.object({ value: z.string() }).meta({ id: 'ClientDetokenized' });
export const ClientTokenized = z
  .object({ token: z.string(), expires_at: time().nullable(), card_expires_on: z.string().nullable() })
  .meta({ id: 'ClientTokenized' });
