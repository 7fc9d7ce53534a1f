import { appendAllCritical } from '#server/domain/audit-logs/service.ts';
import { raise } from '#server/domain/events/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { endGrant } from './credentials.ts';
import { type Item, ZEROED } from './store.ts';

/** Rejects items of one migration: the entries first, then the values are gone. */
export async function rejectRows(tx: Tx, ctx: Ctx, rejected: readonly { row: Item; reason: string }[]): Promise<void> {
  await appendAllCritical(
    tx,
    ctx,
    rejected.map(({ row, reason }) => ({
      action: 'migration.item.reject',
      resource_type: 'secret_migration_item',
      resource_id: row.id,
      details: { migration_id: row.migration_id, source_ref: row.source_ref, reason },
    })),
  );
  for (const [reason, of] of Map.groupBy(rejected, (one) => one.reason))
    await tx.secret_migration_items.updateMany({
      where: { ...own(ctx), id: { in: of.map(({ row }) => row.id) } },
      data: { ...ZEROED, status: 'rejected', decision: { by: ctx.actor.id, at: ctx.now.toISOString(), reason }, updated_at: ctx.now },
    });
}

/** Every item that isn't decided yet, without entries of their own: the migration's says what happened to all of them. */
export const rejectAll = (tx: Tx, ctx: Ctx, migrationId: string, reason: string) =>
  tx.secret_migration_items.updateMany({
    where: { ...own(ctx), migration_id: migrationId, status: { in: ['pending_review', 'approved'] } },
    data: { ...ZEROED, status: 'rejected', decision: { by: ctx.actor.id, at: ctx.now.toISOString(), reason }, updated_at: ctx.now },
  });

/** A migration in review whose items are all decided is done. The caller holds its row. @returns its status now */
export async function completeIfDecided(tx: Tx, ctx: Ctx, migrationId: string): Promise<string> {
  const { status, pending_count, approved_count } = await tx.secret_migrations.findFirstOrThrow({
    where: { ...own(ctx), id: migrationId },
    select: { status: true, pending_count: true, approved_count: true },
  });
  if (status !== 'awaiting_review' || pending_count + approved_count > 0) return status;
  await tx.secret_migrations.update({
    where: { id: migrationId },
    data: { status: 'completed', completed_at: ctx.now, updated_at: ctx.now },
    select: { id: true },
  });
  await endGrant(tx, ctx, migrationId);
  await raise(tx, ctx, [{ type: 'migration.completed', source_id: migrationId, data: { migration_id: migrationId } }]);
  return 'completed';
}
