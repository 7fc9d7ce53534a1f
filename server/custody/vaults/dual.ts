import { fingerprint, parsePortable } from '#server/crypto/portable/text.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { notFound } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { mapped } from '#server/kernel/slices.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { countUse } from '../counts.ts';
import { keyById } from '../keys.ts';
import { effectiveLimit } from '../plan-limits.ts';
import { seal, sealerWith } from '../portable.ts';
import { funding } from './cards.ts';
import { creatorOf, type IssuedToken, overLimit, vaultDisabled } from './issued.ts';
import type { CheckedItem } from './items.ts';
import { insertTokens, type NewTokenRow, TokensExceeded } from './token-rows.ts';
import { findVault, type UsableVault } from './vaults.ts';

/**
 * Seals values for the vault's key (interface rule 42 §3.4): the token is the sealed value, which the caller keeps. A row of its fingerprint stays here, so
 * that expiry, deletion, lists and the audit work.
 */
export async function tokenizeDual(ctx: HotCtx, vault: UsableVault, items: readonly CheckedItem[]): Promise<IssuedToken[]> {
  const [key, limit] = await Promise.all([keyById(ctx, vault.crypto_key_id), effectiveLimit(ctx, 'vault_tokens')]);
  if (!key) throw notFound();
  const sealer = await sealerWith(key);
  const made = await mapped(items, ({ stored, metadata, expires_at }) => {
    const bytes = Buffer.from(stored, 'utf8');
    const text = seal(sealer, { datatype: 's', bytes });
    bytes.fill(0);
    const row: NewTokenRow = {
      ...creatorOf(ctx),
      id: newId(),
      vault_id: vault.id,
      token: fingerprintOfText(text) ?? '',
      wrapped_value: null,
      crypto_key_version: sealer.version,
      metadata,
      expires_at,
      card_exp: null,
      value_hmac: null,
      created_at: ctx.now,
    };
    return { text, row };
  });
  const rows = made.map(({ row }) => row);
  const stored = await inOwnTransaction(ctx, (client) => insertTokens(client, ctx, rows, limit)).catch((error: unknown) => {
    throw error instanceof TokensExceeded ? overLimit(ctx, limit ?? 0, error.used) : error;
  });
  // Two seals never have one fingerprint: only a vault that closed meanwhile takes no row.
  if (stored.size < rows.length) throw (await findVault(ctx, vault.id)) ? vaultDisabled() : notFound();
  countUse(ctx, key, 'encrypt', rows.length, sealer.version);
  return made.map(({ text, row: { id, expires_at, created_at } }) => ({
    id,
    token: text,
    expires_at,
    created_at,
    card_expires_on: null,
    ...funding,
  }));
}

/** What stands for a sealed value in lists and look-ups; undefined for any other text. */
export function fingerprintOfText(text: string): string | undefined {
  const parsed = text.startsWith('kc:') ? parsePortable(text) : undefined;
  return parsed && fingerprint(parsed);
}
