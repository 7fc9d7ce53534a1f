import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { pageOf, pageWindow } from '#server/kernel/page.ts';
import { countListed, inOrder, listIds } from '#server/platform/lists/list.ts';
import type { ListApiKeys } from './schema.ts';
import { withUsage } from './store.ts';

/** A page of the keys of the space, revoked ones included, with their last use. */
export function listApiKeys(ctx: Ctx, query: z.output<typeof ListApiKeys>) {
  return read(ctx, async (tx) => {
    const { active, key_type, ...asked } = query;
    const filters = [
      active !== undefined && { column: 'active', is: active, mostly: true },
      key_type !== undefined && { column: 'key_type', is: key_type, mostly: ctx.sandbox ? 'test' : 'standard' },
    ];
    const listing = { ...asked, table: 'api_keys', counted: 'api_keys_all', filters } as const;
    const { ids, total } =
      query.sort === 'last_used_at'
        ? await byLastUse(tx, ctx, query, await countListed(tx, ctx, listing))
        : await listIds(tx, ctx, listing);
    const rows = await tx.api_keys.findMany({ where: { ...own(ctx), id: { in: ids } } });
    return pageOf(inOrder(ids, await withUsage(tx, ctx, rows)), total, query);
  });
}

/**
 * The ids of a page by last use; keys never used come after all others, by id. Two stretches, each from an index: in the order asked the one may end
 * within the page, so both give as many as the page needs at most.
 */
async function byLastUse(tx: Tx, ctx: Ctx, query: z.output<typeof ListApiKeys>, total: number): Promise<{ ids: string[]; total: number }> {
  const { skip, take, order, backwards } = pageWindow(query, total);
  const passes = `k.tenant_id = $1::uuid and k.sandbox = $2 and ($3::boolean is null or k.active = $3) and ($4::text is null or k.key_type = $4)`;
  const rows = await tx.$queryRawUnsafe<{ id: string }[]>(
    `select id from (
       (select k.id, u.last_used_at as at from credential_usage u join api_keys k on k.id = u.id
         where u.tenant_id = $1::uuid and u.sandbox = $2 and ${passes} order by u.last_used_at ${order}, u.id ${order} limit $5::bigint + $6::bigint)
       union all
       (select k.id, null from api_keys k where ${passes} and not exists (select from credential_usage u where u.id = k.id)
         order by k.id ${order} limit $5::bigint + $6::bigint)) p
     order by at ${order === 'asc' ? 'asc nulls first' : 'desc nulls last'}, id ${order} offset $5::bigint limit $6::bigint`,
    ctx.tenant_id,
    ctx.sandbox,
    query.active ?? null,
    query.key_type ?? null,
    skip,
    take,
  );
  const ids = rows.map((row) => row.id);
  return { ids: backwards ? ids.reverse() : ids, total };
}
