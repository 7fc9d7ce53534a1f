import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { clampPage } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import type { ListItems, MigrationItem } from './schema.ts';
import { type Item, migrationById } from './store.ts';

type Shown = z.input<typeof MigrationItem>;

/** One page of items by name, with what stands in the way of their names now; never a value. @throws Refusal migration_not_found */
export const listItems = (ctx: Ctx, { id, status, q, tag, ...asked }: z.output<typeof ListItems>) =>
  read(ctx, async (tx) => {
    const migration = await migrationById(tx, ctx, id);
    const { page, per_page } = clampPage(asked);
    const where = Prisma.sql`migration_id = ${migration.id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
      ${status === undefined ? Prisma.empty : Prisma.sql`and status = ${status}`}
      ${q ? Prisma.sql`and strpos(lower(source_name), ${q.toLowerCase()}) > 0` : Prisma.empty}
      ${tag ? tagged(tag) : Prisma.empty}`;
    const [{ n } = { n: 0 }] = await tx.$queryRaw<{ n: number }[]>`select count(*)::int as n from secret_migration_items where ${where}`;
    const rows = await pagedRows(
      asked,
      n,
      [{ source_name: 'asc' }],
      ({ orderBy, skip, take }) => {
        const order = orderBy[0]?.source_name === 'asc' ? Prisma.sql`asc` : Prisma.sql`desc`;
        return tx.$queryRaw<{ id: string }[]>`
          select id::text from secret_migration_items where ${where} order by source_name ${order}, id ${order} limit ${take} offset ${skip}`;
      },
      (ids) => tx.secret_migration_items.findMany({ where: { ...own(ctx), id: { in: ids } }, omit: { value_ct: true, cek_wrapped: true } }),
    );
    const taken = await takenNames(tx, ctx, rows.map(nameOf));
    const items = rows.map(
      (row): Shown => ({ ...(row as unknown as Shown), conflict: undecided(row) ? (taken.get(nameOf(row).toLowerCase()) ?? null) : null }),
    );
    return { items, total: n, page, per_page };
  });

const undecided = ({ status }: Pick<Item, 'status'>) => status === 'pending_review' || status === 'approved';

/** `key`, or `key=value`. */
function tagged(tag: string) {
  const at = tag.indexOf('=');
  return at < 0 ? Prisma.sql`and source_tags ? ${tag}` : Prisma.sql`and source_tags ->> ${tag.slice(0, at)} = ${tag.slice(at + 1)}`;
}

/** The name that an item's secret gets: what was approved, else the suggestion. */
export const nameOf = ({ target, suggested }: Pick<Item, 'target' | 'suggested'>): string =>
  (target as { target_name?: string } | null)?.target_name ?? (suggested as { name: string }).name;

/** Secrets of the space that have one of these names, by the name in lower case: names differ by more than case. */
export async function takenNames(
  tx: Tx,
  ctx: Ctx,
  names: readonly string[],
): Promise<ReadonlyMap<string, { secret_id: string; name: string }>> {
  if (names.length === 0) return new Map();
  const rows = await tx.$queryRaw<{ folded: string; id: string; name: string }[]>`
    select lower(shortcode_name) as folded, id::text, name from secrets
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and lower(shortcode_name) = any(${names.map((name) => name.toLowerCase())}::text[])`;
  return new Map(rows.map(({ folded, id, name }) => [folded, { secret_id: id, name }]));
}
