import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { VaultRow } from './store.ts';

/** What names the vault and would stop working without it. */
export async function usersOfVault(_tx: Tx, _ctx: Ctx, _vault: Pick<VaultRow, 'id' | 'name'>): Promise<string[]> {
  return [];
}
