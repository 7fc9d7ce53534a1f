import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { VaultRow } from './store.ts';

/** The routes whose field actions name the vault, and would stop working without it. */
export async function usersOfVault(tx: Tx, ctx: Ctx, { id, name }: Pick<VaultRow, 'id' | 'name'>): Promise<string[]> {
  // Field actions are a table of routes; it is asked for by name, so that vaults need nothing else of that family.
  const [table] = await tx.$queryRaw<{ exists: boolean }[]>`select to_regclass('public.route_field_actions') is not null as exists`;
  if (!table?.exists) return [];
  const routes = await tx.$queryRaw<{ name: string }[]>`
    select distinct r.name from route_field_actions a join routes r on r.id = a.route_id
    where a.tenant_id = ${ctx.tenant_id}::uuid and a.sandbox = ${ctx.sandbox} and a.action in ('tokenize', 'detokenize') and a.key_name in (${name}, ${id})
    order by r.name limit 6`;
  return routes.map((route) => `route ${route.name}`);
}
