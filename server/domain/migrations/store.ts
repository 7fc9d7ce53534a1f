import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';

export const migrationNotFound = () => new Refusal('migration_not_found', "This migration doesn't exist, or you don't have access to it.");
export const itemNotFound = () => new Refusal('item_not_found', "This item doesn't exist in the migration.");

/** @throws Refusal migration_not_found */
export async function migrationById(tx: Tx, ctx: Ctx, id: string) {
  const row = isUuid(id) ? await tx.secret_migrations.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw migrationNotFound();
  return row;
}

/** The same under a row lock. Whatever changes items takes it first, so that the counts' triggers never wait crosswise. @throws Refusal migration_not_found */
export async function lockedMigration(tx: Tx, ctx: Ctx, id: string) {
  if (!isUuid(id)) throw migrationNotFound();
  await tx.$queryRaw`select 1 from secret_migrations where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for update`;
  return migrationById(tx, ctx, id);
}

/** @throws Refusal migration_not_found, item_not_found */
export async function itemById(tx: Tx, ctx: Ctx, { id, itemId }: { id: string; itemId: string }) {
  const migration = await migrationById(tx, ctx, id);
  const row = isUuid(itemId)
    ? await tx.secret_migration_items.findFirst({ where: { ...own(ctx), id: itemId, migration_id: migration.id } })
    : null;
  if (!row) throw itemNotFound();
  return row;
}

/** Several items in the order asked for. @throws Refusal migration_not_found, item_not_found */
export async function itemsById(tx: Tx, ctx: Ctx, id: string, itemIds: readonly string[]) {
  const migration = await migrationById(tx, ctx, id);
  const known = itemIds.filter(isUuid);
  const rows = await tx.secret_migration_items.findMany({ where: { ...own(ctx), migration_id: migration.id, id: { in: known } } });
  return inOrder(itemIds, rows);
}

/** Several items under row locks, in the order asked for. The caller holds the migration. @throws Refusal item_not_found */
export async function lockedItems(tx: Tx, ctx: Ctx, migrationId: string, ids: readonly string[]) {
  await tx.$queryRaw`select 1 from secret_migration_items where migration_id = ${migrationId}::uuid and id = any(${ids}::uuid[]) order by id for update`;
  const rows = await tx.secret_migration_items.findMany({ where: { ...own(ctx), migration_id: migrationId, id: { in: [...ids] } } });
  return inOrder(ids, rows);
}

function inOrder<R extends { id: string }>(ids: readonly string[], rows: readonly R[]): R[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = byId.get(id);
    if (!row) throw itemNotFound();
    return row;
  });
}

export type Item = Awaited<ReturnType<typeof itemById>>;

/** Columns of an item that is decided: its value is gone. */
export const ZEROED = { value_ct: null, cek_wrapped: null, tmk_version: null } as const;
