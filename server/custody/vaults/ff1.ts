import { type FormatPreserving, formatPreserving } from '#server/crypto/format-preserving.ts';
import { transformKey } from '#server/crypto/vault-value.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { notFound } from '#server/kernel/errors.ts';
import { mapped } from '#server/kernel/slices.ts';
import { countUse } from '../counts.ts';
import { keyById, type UsableKey } from '../keys.ts';
import { material } from '../material.ts';
import { funding } from './cards.ts';
import { alphabetOf } from './formats/ff1-alphabet.ts';
import type { IssuedToken } from './issued.ts';
import type { CheckedItem } from './items.ts';
import type { UsableVault } from './vaults.ts';

// Vaults that store nothing (interface rule 42 §11.5): the token is the value under FF1, of the same length and alphabet. Every text of that length is the
// token of some value, so nothing can be looked up, listed, deleted or expired, and the key has one version for life.

export async function transformValues(ctx: HotCtx, vault: UsableVault, items: readonly CheckedItem[]): Promise<IssuedToken[]> {
  const { key, ff1 } = await transformOf(ctx, vault);
  const issued = await mapped(items, ({ normalised }) => ({
    id: null,
    token: ff1.encrypt(normalised),
    expires_at: null,
    created_at: ctx.now,
    card_expires_on: null,
    ...funding,
  }));
  countUse(ctx, key, 'encrypt', items.length);
  return issued;
}

/** The value of a token of the vault. @throws Refusal not_found for a text that no value has */
export async function transformBack(ctx: HotCtx, vault: UsableVault): Promise<{ key: UsableKey; plainOf: (token: string) => string }> {
  const { key, ff1 } = await transformOf(ctx, vault);
  return { key, plainOf: (token) => ff1.decrypt(token) };
}

async function transformOf(ctx: HotCtx, vault: UsableVault): Promise<{ key: UsableKey; ff1: FormatPreserving }> {
  const key = await keyById(ctx, vault.crypto_key_id);
  if (!key) throw notFound();
  const derived = transformKey(await material(key, key.current_version), vault.id);
  return { key, ff1: formatPreserving(derived, { alphabet: alphabetOf(vault), tweak: Buffer.from(vault.id.replaceAll('-', ''), 'hex') }) };
}
