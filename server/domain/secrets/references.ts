import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/** How many places refer to each of these secrets; one query for a page of them. */
export async function referenceCounts(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.$queryRaw<{ id: string; n: number }[]>`
    select secret_id::text as id, count(distinct referrer_id)::int as n from (
      select secret_id, referrer_id from secret_references where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and secret_id = any(${ids}::uuid[])
      union all
      select secret_id, id from collection_variables where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and secret_id = any(${ids}::uuid[])
    ) r group by 1`;
  return new Map(rows.map((row) => [row.id, row.n]));
}
