import { openLeaf } from '#server/crypto/portable/seal.ts';
import { requirePortable } from '#server/crypto/portable/text.ts';
import { openVaultValue } from '#server/crypto/vault-value.ts';
import { effectiveLimit } from '#server/custody/plan-limits.ts';
import type { AuditEntry } from '#server/kernel/audit-entry.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';
import { takeFromMonth } from '#server/platform/monthly-meter.ts';
import { countUse } from '../counts.ts';
import { keyById, type UsableKey, versionOf } from '../keys.ts';
import { assertUsable, material } from '../material.ts';
import { auditFirst } from '../uses.ts';
import { funding } from './cards.ts';
import { fingerprintOfText } from './dual.ts';
import { transformBack } from './ff1.ts';
import { alphabetMismatch } from './formats/ff1-alphabet.ts';
import { vaultDisabled } from './issued.ts';
import { assertNotGuessing, countMisses } from './misses.ts';
import { findToken, type TokenRow } from './token-rows.ts';
import { findVault, type UsableVault } from './vaults.ts';

/** A token with its value (interface rule 42 §1.2). */
export type Detokenized = {
  /** Null for a vault that stores nothing (ff1). */
  id: string | null;
  token: string;
  value: string;
  value_b64: string;
  metadata: Record<string, unknown> | null;
  expires_at: Date | null;
  created_at: Date | null;
  card_expires_on: string | null;
  card_funding_type: null;
  card_issuing_country: null;
  crypto_key_version: number;
  vault_id: string;
};

export type DetokenizeOptions = {
  /** What the audit entry says of the way: `{ via: 'proxy', upstream_host }`. */
  details?: Readonly<Record<string, unknown>>;
  reason?: string | undefined;
  /** Another process answers what is refused here, and counts it: misses are left to it. */
  uncounted?: boolean;
  /** Whether this caller may, in a vault that only the token names: called once for each vault, before anything is audited or opened. */
  admit?: (vault: UsableVault) => Promise<void>;
};

/**
 * The value of a token, or of the ID of one; `vault` null looks in the whole space. The audit entry is durable before anything is decrypted. Tokens of
 * other vaults and spaces, deleted ones and those that never were are one answer.
 * @throws Refusal not_found, vault_disabled, token_expired, key_version_destroyed, rate_limit_exceeded, plan_limit, tenant_sealed, audit_unavailable
 */
export async function detokenize(
  ctx: HotCtx,
  vault: UsableVault | null,
  token: string,
  options: DetokenizeOptions = {},
): Promise<Detokenized> {
  const [result] = await detokenizeMany(ctx, vault, [token], options);
  if (result instanceof Refusal) throw result;
  return result as Detokenized;
}

/** Several at once, in order, each with an audit entry of its own; what is refused for one token is its result. @throws what concerns all of them */
export async function detokenizeMany(
  ctx: HotCtx,
  vault: UsableVault | null,
  tokens: readonly string[],
  options: DetokenizeOptions = {},
): Promise<(Detokenized | Refusal)[]> {
  await assertNotGuessing(ctx);
  const found = await Promise.all(tokens.map((token) => lookUp(ctx, vault, token, options).catch(asResult)));
  const misses = found.filter((one) => one instanceof Refusal && one.type === 'not_found').length;
  if (misses > 0 && !options.uncounted) await countMisses(ctx, misses);
  const openable = found.filter((one): one is Openable => !(one instanceof Refusal));
  if (openable.length > 0) {
    await withinMonth(ctx, openable.length);
    await auditFirst(
      ctx,
      openable.map((one) => detokenizeEntry(one, options)),
    );
  }
  return Promise.all(found.map((one) => (one instanceof Refusal ? one : open(ctx, one))));
}

/** What is about to be opened: everything that refuses was checked. */
export type Openable = { vault: UsableVault; key: UsableKey; token: string; row: TokenRow | null };

const asResult = (error: unknown): Refusal => {
  if (error instanceof Refusal && PER_TOKEN.has(error.type)) return error;
  throw error;
};
/** Refusals that are about one token, in a call about several. */
const PER_TOKEN: ReadonlySet<string> = new Set([
  'not_found',
  'validation_error',
  'token_expired',
  'key_version_destroyed',
  'key_version_disabled',
  'vault_disabled',
]);

/** The token as it can be opened. @throws Refusal not_found, vault_disabled, token_expired, key_version_destroyed, validation_error */
export async function lookUp(
  ctx: HotCtx,
  given: UsableVault | null,
  token: string,
  { admit }: Pick<DetokenizeOptions, 'admit'> = {},
): Promise<Openable> {
  if (given?.token_format === 'ff1') return transformable(ctx, given, token, admit);
  const fingerprint = fingerprintOfText(token);
  const row = await findToken(ctx, fingerprint ?? token);
  const vault = row && (given ?? (await findVault(ctx, row.vault_id)));
  if (!row || !vault || row.vault_id !== vault.id) {
    if (given && !given.enabled) throw vaultDisabled();
    throw notFound();
  }
  await admit?.(vault);
  if (!vault.enabled) throw vaultDisabled();
  if (vault.custody_mode === 'dual' && fingerprint === undefined)
    throw new Refusal('validation_error', 'token: send the sealed value (kc:…) itself. Nothing is stored here that could be opened.');
  if (row.expires_at !== null && row.expires_at <= ctx.now) throw new Refusal('token_expired', 'This token has expired.');
  const key = await keyById(ctx, vault.crypto_key_id);
  const version = key && versionOf(key, row.crypto_key_version);
  if (!key || !version) throw notFound();
  assertUsable(version);
  return { vault, key, token, row };
}

/** Every text of the alphabet is a token of some value: there is nothing to look up. */
async function transformable(ctx: HotCtx, vault: UsableVault, token: string, admit: DetokenizeOptions['admit']): Promise<Openable> {
  await admit?.(vault);
  if (!vault.enabled) throw vaultDisabled();
  const key = await keyById(ctx, vault.crypto_key_id);
  const version = key && versionOf(key, key.current_version);
  if (!key || !version || alphabetMismatch(vault, token)) throw notFound();
  assertUsable(version);
  return { vault, key, token, row: null };
}

/** Monthly meters count Live only (interface rule 20 §3). @throws Refusal plan_limit */
export async function withinMonth(ctx: HotCtx, n: number): Promise<void> {
  if (ctx.sandbox) return;
  const limit = await effectiveLimit(ctx, 'vault_detokenize');
  const { allowed, used } = await takeFromMonth(ctx.tenant_id, 'vault_detokenize', n, limit, ctx.now);
  if (!allowed)
    throw new Refusal(
      'plan_limit',
      `The ${ctx.plan} plan allows ${limit} detokenizations a month, and ${used} were made. Wait for the next month or ${moreRoom(ctx.plan)}.`,
    );
}

/** The audit entry of an opening (interface rule 42 §5.4). */
export const detokenizeEntry = ({ vault, key, row }: Openable, { details, reason }: DetokenizeOptions): AuditEntry => ({
  action: 'vault.detokenize',
  resource_type: 'vault_token',
  resource_id: row?.id ?? null,
  ...(reason === undefined ? {} : { reason }),
  details: {
    vault: vault.name,
    vault_id: vault.id,
    ...(row ? { token_id: row.id } : {}),
    crypto_key_version: row?.crypto_key_version ?? key.current_version,
    ...details,
  },
});

/** Opens what was audited. */
export async function open(ctx: HotCtx, openable: Openable): Promise<Detokenized> {
  const { vault, key, token, row } = openable;
  const value = await plainOf(ctx, openable);
  countUse(ctx, key, 'decrypt', 1);
  return {
    id: row?.id ?? null,
    token: row && vault.custody_mode === 'managed' ? row.token : token,
    value,
    value_b64: Buffer.from(value, 'utf8').toString('base64'),
    metadata: row?.metadata ?? null,
    expires_at: row?.expires_at ?? null,
    created_at: row?.created_at ?? null,
    card_expires_on: row?.card_exp ?? null,
    ...funding,
    crypto_key_version: row?.crypto_key_version ?? key.current_version,
    vault_id: vault.id,
  };
}

async function plainOf(ctx: HotCtx, { vault, key, token, row }: Openable): Promise<string> {
  if (!row) return (await transformBack(ctx, vault)).plainOf(token);
  const opened = await material(key, row.crypto_key_version);
  const bytes =
    vault.custody_mode === 'dual'
      ? openLeaf(opened, requirePortable(token), { tenant_id: vault.tenant_id, role: undefined })
      : openVaultValue(opened, { tenant_id: vault.tenant_id, vault_id: vault.id, token_id: row.id }, row.wrapped_value ?? NOTHING);
  try {
    return bytes.toString('utf8');
  } finally {
    bytes.fill(0);
  }
}

const NOTHING = Buffer.alloc(0);
