import { z } from 'zod';
import { addressRange } from '#server/kernel/address-field.ts';
import { flag, isoTime, label, pathId, shownOnce, time } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { model, tags, unique, usd } from './values.schema.ts';

export const TOKEN_KINDS = ['agent', 'read', 'tool', 'oneshot'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];
export const TOKEN_ORIGINS = ['minted', 'exchange', 'oauth'] as const;

/** What a call does, as a scope names it. */
export const AI_OPERATIONS = [
  'chat',
  'responses',
  'messages',
  'embeddings',
  'generate',
  'count_tokens',
  'models',
  'images',
  'audio',
  'moderations',
  'rerank',
  'other',
] as const;

export const DEFAULT_TTL_SECONDS = 2_592_000;
export const ONESHOT_TTL_SECONDS = 3_600;
export const MIN_TTL_SECONDS = 60;
export const MAX_TTL_SECONDS = 7_776_000;
/** Tokens of a gateway that can be used, or will be. */
export const MOST_LIVE_TOKENS = 5_000;

const clock = () => z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:30');

/** When a token may be used: between two instants, on days of the week (1 = Monday), and between two times of day of a time zone. */
const ValidWindow = z
  .strictObject({
    not_before: isoTime().optional(),
    not_after: isoTime().optional(),
    days: z.array(z.int().min(1).max(7)).min(1).max(7).transform(unique).optional(),
    from: clock().optional(),
    to: clock().optional(),
    tz: z.string().max(64).refine(isTimeZone, 'must be the name of a time zone such as Europe/Berlin').optional(),
  })
  .refine(({ from, to }) => (from === undefined) === (to === undefined), { path: ['from'], message: 'goes with to' });

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const cap = () => z.int().min(1);

/**
 * What a token is narrowed to (interface rule 50 §6.3), signed with it. Without a member there is no restriction of that sort beyond the agent's own;
 * amounts of USD are decimal texts.
 */
export const TokenScope = z
  .strictObject({
    models: z.array(model()).max(100),
    providers: z.array(label(64)).max(100),
    operations: z.array(z.enum(AI_OPERATIONS)).max(AI_OPERATIONS.length),
    tools: z.array(label(200)).max(200),
    resource: z
      .string()
      .max(2_048)
      .regex(/^(?:https:\/\/|http:\/\/localhost[:/])[\x21\x22\x24-\x7e]+$/, 'must be an https:// URI without a fragment')
      .meta({ examples: ['https://acme.example.com/v1/mcp/tickets'] }),
    valid_window: ValidWindow,
    ip_cidrs: z.array(addressRange()).min(1).max(32),
    daily_token_cap: cap(),
    monthly_token_cap: cap(),
    daily_usd_cap: usd(),
    monthly_usd_cap: usd(),
    max_tokens_per_call: cap(),
    rpm: z.int().min(1).max(10_000),
    user: label(200),
    tags: tags(),
  })
  .partial()
  .meta({ id: 'AiTokenScope' });
export type TokenScope = z.output<typeof TokenScope>;

const jkt = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, 'must be a SHA-256 thumbprint of a key (RFC 7638): 43 characters of base64url')
    .meta({ examples: ['0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'] });

const minting = {
  name: label(100).nullable().optional(),
  dpop_required: z.boolean().default(false),
  dpop_jkt: jkt().optional(),
  expires_in_seconds: z.int().optional(),
  expires_at: isoTime().optional(),
  scope: TokenScope.default({}),
};

export const MintAiToken = z.object({ id: pathId(), kind: z.enum(TOKEN_KINDS).default('agent'), ...minting });
/** A token of a whole gateway. */
export const MintGatewayToken = z.object({ id: pathId(), kind: z.literal('tool').default('tool'), ...minting });

/** The only time the token is shown. */
export const MintedAiToken = z
  .object({
    id: z.uuid(),
    name: z.string().nullable(),
    kind: z.enum(TOKEN_KINDS),
    prefix: z.string(),
    token: shownOnce(z.string()),
    dpop_required: z.boolean(),
    dpop_jkt: z.string().nullable(),
    expires_at: time(),
    scope: TokenScope,
    agent_id: z.uuid().nullable(),
    gateway_id: z.uuid(),
  })
  .meta({ id: 'MintedAiToken' });
export const RotatedAiToken = MintedAiToken.extend({ rotated_from: z.uuid() }).meta({ id: 'RotatedAiToken' });

/** Neither the token nor its hash is among the fields. */
export const AiToken = z
  .object({
    id: z.uuid(),
    name: z.string().nullable(),
    kind: z.enum(TOKEN_KINDS),
    prefix: z.string(),
    agent_id: z.uuid().nullable(),
    gateway_id: z.uuid(),
    dpop_required: z.boolean(),
    dpop_jkt: z.string().nullable(),
    scope_jsonb: TokenScope,
    expires_at: time(),
    revoked_at: time().nullable(),
    last_used_at: time().nullable(),
    /** Where it was last used; null for addresses that say nothing. */
    last_country: z.string().nullable(),
    created_at: time(),
    step_up_required: z.boolean(),
    oneshot_consumed_at: time().nullable(),
    created_by: z.uuid().nullable(),
    rotated_from: z.uuid().nullable(),
    origin: z.enum(TOKEN_ORIGINS),
  })
  .meta({ id: 'AiToken' });

const listed = { kind: z.enum(TOKEN_KINDS).optional(), active: flag().optional() };
/** `id` is the agent, or the gateway. */
export const ListAiTokens = listQuery({
  sorts: ['created_at'],
  sort: 'created_at',
  order: 'desc',
  filters: { id: pathId(), ...listed },
});

export const AiTokenRef = z.object({ id: pathId(), token_id: pathId() });
export const RotateAiToken = z.object({ id: pathId(), token_id: pathId(), grace_seconds: z.int().min(0).max(86_400).default(0) });
export const RevokedAiToken = z.object({ deleted: z.literal(true), id: z.uuid(), revoked: z.literal(true) }).meta({ id: 'RevokedAiToken' });
export const ClearStepUp = z.object({ token_id: pathId() });
export const ClearedStepUp = z.object({ id: z.uuid(), step_up_required: z.literal(false) }).meta({ id: 'ClearedStepUp' });
