import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { VaultRow } from './store.ts';

/** The routes whose field actions name the vault, and would stop working without it. */
export async function usersOfVault(tx: Tx, ctx: Ctx, { id, name }: Pick<VaultRow, 'id' | 'name'>): Promise<string[]> {
  const routes = await tx.routes.findMany({
    where: { ...own(ctx), field_actions: { some: { action: { in: ['tokenize', 'detokenize'] }, key_name: { in: [name, id] } } } },
    orderBy: { name: 'asc' },
    take: 6,
    select: { name: true },
  });
  return routes.map((route) => `route ${route.name}`);
}
