import type { z } from 'zod';
import { lookUp, type Openable, open } from '#server/custody/vaults/detokenize.ts';
import { fingerprintOfText } from '#server/custody/vaults/dual.ts';
import { findToken } from '#server/custody/vaults/token-rows.ts';
import { findVault, type UsableVault } from '#server/custody/vaults/vaults.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { KEEPS_LAST4 } from './formats.shared.ts';
import type { RevealTokens, TokenRef } from './schema.ts';
import { vaultByRef } from './store.ts';
import { inVault, pageOfTokens } from './tokens.ts';

const PER_PAGE = 50;

/** Row 5 of interface rule 32 §2. */
export const revealOfTokens: Reveal<z.output<typeof RevealTokens>> = {
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'vault:list_tokens',
  subject: async (ctx, { vault, page }) => {
    const { id, name } = await read(ctx, (tx) => vaultByRef(tx, ctx, vault));
    return { resource_type: 'vault', resource_id: id, name, details: { page } };
  },
  state: async (ctx, { vault }) => ({ vault: (await usable(ctx, vault)).name }),
  also: (_ctx, { page }, { vault }) => [
    { action: 'vault.detokenize', resource_type: 'vault', resource_id: null, details: { vault, via: 'dashboard', listed: true, page } },
  ],
};

/** One page of the vault's tokens, newest first. */
export const revealTokens = (ctx: Ctx, { vault, page }: z.output<typeof RevealTokens>) =>
  read(ctx, async (tx) => {
    const row = await vaultByRef(tx, ctx, vault);
    const query = { page, per_page: PER_PAGE, sort: 'created_at', order: 'desc' } as const;
    const { rows, total, page: shown } = await pageOfTokens(tx, ctx, query, [inVault(row)]);
    const format = row.token_format;
    const tokens = rows.map((token) => ({ ...token, format, last4: KEEPS_LAST4.has(format) ? token.token.slice(-4) : null }));
    return { tokens, total, page: shown, per_page: PER_PAGE };
  });

/** Row 6: what refuses an opening refuses it before a verification is spent. */
export const revealOfToken: Reveal<z.output<typeof TokenRef>> = {
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'vault:detokenize',
  subject: async (ctx, { vault, token }) => {
    const found = await usable(ctx, vault);
    const id = await idOfToken(ctx, found, token);
    return { resource_type: 'vault_token', resource_id: id ?? found.id, name: found.name, details: { vault_id: found.id } };
  },
  state: async (ctx, { vault, token }) => {
    const openable = await lookUp(ctx, await usable(ctx, vault), token);
    return { vault: openable.vault.name, crypto_key_version: versionOf(openable), token_id: openable.row?.id ?? null };
  },
  also: (_ctx, _input, { vault, crypto_key_version, token_id }) => [
    {
      action: 'vault.detokenize',
      resource_type: 'vault_token',
      resource_id: token_id as string | null,
      details: { vault, token_id, crypto_key_version, via: 'dashboard' },
    },
  ],
};

/** Whether the token is one of the vault's. A vault of format ff1 stores none. @throws Refusal not_found */
async function idOfToken(ctx: Ctx, vault: UsableVault, token: string): Promise<string | null> {
  if (vault.token_format === 'ff1') return null;
  const row = await findToken(ctx, fingerprintOfText(token) ?? token);
  if (row?.vault_id !== vault.id) throw notFound();
  return row.id;
}

const versionOf = ({ row, key }: Openable) => row?.crypto_key_version ?? key.current_version;

/** The value whose opening was audited. */
export async function revealToken(ctx: Ctx, { vault, token }: z.output<typeof TokenRef>) {
  return open(ctx, await lookUp(ctx, await usable(ctx, vault), token));
}

async function usable(ctx: Ctx, ref: string): Promise<UsableVault> {
  const vault = await findVault(ctx, ref);
  if (!vault) throw notFound();
  return vault;
}
