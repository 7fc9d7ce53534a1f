import { findVault, type UsableVault } from '#server/custody/vaults/vaults.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { fresh } from '#server/testing/factories.ts';
import { CreateVault } from './schema.ts';
import { createVault } from './service.ts';

/** A vault as its hot operations see it. */
export async function makeVault(ctx: Ctx, input: Record<string, unknown> = {}): Promise<UsableVault> {
  const row = await createVault(ctx, CreateVault.parse({ name: fresh('vault'), ...input }));
  const vault = await findVault(ctx, row.id);
  if (!vault) throw new Error('the vault that was just made is not there');
  return vault;
}
