import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/** What names the key and would stop working without it, as a person calls it. */
export async function usersOf(tx: Tx, ctx: Ctx, keyId: string): Promise<string[]> {
  const vaults = await tx.vaults.findMany({
    where: { ...own(ctx), crypto_key_id: keyId, deleted_at: null },
    orderBy: { name: 'asc' },
    select: { name: true },
  });
  return vaults.map(({ name }) => `vault ${name}`);
}

/** How many values of vaults are sealed under a version of the key, or under any. Nothing opens them once it is destroyed. */
export const tokensUnder = (tx: Tx, ctx: Ctx, keyId: string, version?: number): Promise<number> =>
  tx.vault_tokens.count({
    where: {
      ...own(ctx),
      vault: { crypto_key_id: keyId },
      deleted_at: null,
      ...(version === undefined ? {} : { crypto_key_version: version }),
    },
  });
