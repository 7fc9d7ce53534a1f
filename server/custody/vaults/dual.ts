import { type SealingBundle, sealLeaf } from '#server/crypto/portable/seal.ts';
import { fingerprint, parsePortable } from '#server/crypto/portable/text.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { notFound } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { countUse } from '../counts.ts';
import { keyById, type UsableKey, versionOf } from '../keys.ts';
import { assertUsable } from '../material.ts';
import { effectiveLimit } from '../plan-limits.ts';
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
  const bundle = await sealingBundle(key);
  const made = items.map(({ stored, metadata, expires_at }) => {
    const bytes = Buffer.from(stored, 'utf8');
    const text = sealLeaf({ datatype: 's', bytes, role: undefined, bundle });
    bytes.fill(0);
    const row: NewTokenRow = {
      ...creatorOf(ctx),
      id: newId(),
      vault_id: vault.id,
      token: fingerprintOfText(text) ?? '',
      wrapped_value: null,
      crypto_key_version: key.current_version,
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
  countUse(ctx, key, 'encrypt', rows.length, key.current_version);
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

/** What sealing under the active version takes: its public half. @throws Refusal key_version_destroyed, key_version_disabled */
async function sealingBundle(key: UsableKey): Promise<SealingBundle> {
  const active = versionOf(key, key.current_version);
  if (!active) throw new Error('a key has an active version');
  assertUsable(active);
  const [row] = await ownRows<{ public_key_spki: Buffer }>(key, PUBLIC_KEY, active.id);
  if (!row?.public_key_spki) throw notFound();
  return {
    public_key_raw: row.public_key_spki.subarray(-65).toString('base64url'),
    key_ref: { tenant_id: key.tenant_id, app_key_id: key.id, key_version: active.version },
  };
}

const PUBLIC_KEY = ownQuery(
  'custody-vault-public-key',
  'select public_key_spki from crypto_key_versions where tenant_id = $1 and sandbox = $2 and id = $3::uuid',
);
