import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import type { VaultUsage } from './schema.ts';
import type { VaultRow } from './store.ts';

type Stats = { id: string; token_count: number; active_count: number; expiring_in_24h: number; key_version: number; key_rotated_at: Date };

/** What one vault shows of its tokens and its key. */
export async function detailsOf(tx: Tx, ctx: Ctx, row: VaultRow) {
  const [stats] = await statsOf(tx, ctx, [row.id]);
  const { token_count = 0, active_count = 0, expiring_in_24h = 0, key_version = 1, key_rotated_at = row.created_at } = stats ?? {};
  const { rewrap_to, rewrap_started_at, rewrap_done, rewrap_total, rewrap_finished_at } = row;
  const rewrap =
    rewrap_to === null || rewrap_started_at === null
      ? null
      : {
          to_version: rewrap_to,
          done: Number(rewrap_done),
          total: Number(rewrap_total),
          started_at: rewrap_started_at,
          finished_at: rewrap_finished_at,
        };
  return { stats: { token_count, active_count, expiring_in_24h }, key_version, key_rotated_at, rewrap };
}

/** What the list shows beside each vault. */
export const usageOfVaults = (ctx: Ctx): Promise<z.input<typeof VaultUsage>[]> =>
  read(ctx, async (tx) => {
    const vaults = await tx.vaults.findMany({
      where: { ...own(ctx), deleted_at: null },
      select: { id: true, crypto_key_id: true },
      take: 1_000,
    });
    const month = new Date(Date.UTC(ctx.now.getUTCFullYear(), ctx.now.getUTCMonth(), 1));
    const uses = await tx.crypto_key_uses.groupBy({
      by: ['key_id', 'operation'],
      where: { ...own(ctx), key_id: { in: vaults.map(({ crypto_key_id }) => crypto_key_id) }, day: { gte: month } },
      _sum: { n: true },
    });
    const used = new Map(uses.map(({ key_id, operation, _sum }) => [`${key_id} ${operation}`, Number(_sum.n ?? 0n)]));
    const keys = new Map(vaults.map(({ id, crypto_key_id }) => [id, crypto_key_id]));
    const stats = await statsOf(tx, ctx, [...keys.keys()]);
    return stats.map((row) => ({
      ...row,
      tokenized: used.get(`${keys.get(row.id)} encrypt`) ?? 0,
      detokenized: used.get(`${keys.get(row.id)} decrypt`) ?? 0,
    }));
  });

/** Tokens come from a counter. Expired ones are still counted until they are swept, within minutes, so there are few to look through. */
const statsOf = (tx: Tx, ctx: Ctx, ids: readonly string[]) =>
  tx.$queryRaw<Stats[]>`
    select v.id::text, coalesce(c.n, 0)::int as token_count,
      (coalesce(c.n, 0) - (select count(*) from vault_tokens t where t.vault_id = v.id and t.deleted_at is null and t.expires_at <= ${ctx.now}))::int as active_count,
      (select count(*)::int from vault_tokens t where t.vault_id = v.id and t.deleted_at is null and t.expires_at > ${ctx.now}
        and t.expires_at <= ${ctx.now}::timestamptz + interval '24 hours') as expiring_in_24h,
      k.current_version as key_version, coalesce(kv.created_at, v.created_at) as key_rotated_at
    from vaults v join crypto_keys k on k.id = v.crypto_key_id
      left join crypto_key_versions kv on kv.key_id = k.id and kv.version = k.current_version
      left join vault_token_counts c on c.vault_id = v.id
    where v.tenant_id = ${ctx.tenant_id}::uuid and v.sandbox = ${ctx.sandbox} and v.id = any(${ids}::uuid[])`;
