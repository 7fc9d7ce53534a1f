import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { requireReviewer } from './review.ts';
import type { ConfirmClean } from './schema.ts';
import { itemById, lockedMigration, migrationById } from './store.ts';

const MOST_EVENTS = 500;

/** What is known about reads at the source since the cutover. We never delete anything there. @throws Refusal migration_not_found */
export const getVerification = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await migrationById(tx, ctx, id);
    const events = await tx.secret_migration_events.findMany({
      where: { ...own(ctx), migration_id: row.id },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      take: MOST_EVENTS,
    });
    return {
      migration_id: row.id,
      safe_to_delete: row.safe_to_delete,
      verified_at: row.verified_at,
      verification_window_days: row.verification_window_days,
      events: events.map((event) => ({
        ...event,
        details: event.details as Record<string, unknown>,
        source: event.source as 'manual' | 'auto',
      })),
    };
  });

/** A person says that nothing reads the source any more: of one item, or of the whole migration. @throws Refusal migration_not_found, item_not_found */
export function confirmClean(ctx: Ctx, { id, notes, ...input }: z.output<typeof ConfirmClean>) {
  const secret_migration_item_id = input.secret_migration_item_id ?? null;
  requireReviewer(ctx);
  return mutate(ctx, async (tx) => {
    const row = await lockedMigration(tx, ctx, id);
    if (secret_migration_item_id !== null) await itemById(tx, ctx, { id: row.id, itemId: secret_migration_item_id });
    const event = newId();
    const details = { confirmed_by: ctx.actor.id, ...(notes ? { notes } : {}) };
    await tx.secret_migration_events.create({
      data: {
        ...own(ctx),
        id: event,
        migration_id: row.id,
        secret_migration_item_id,
        event_type: 'operator_confirmed_clean',
        outcome: 'clean',
        details: details as Prisma.InputJsonValue,
        source: 'manual',
        created_at: ctx.now,
      },
    });
    if (secret_migration_item_id === null)
      await tx.secret_migrations.update({
        where: { id: row.id },
        data: { safe_to_delete: true, verified_at: row.verified_at ?? ctx.now, updated_at: ctx.now },
        select: { id: true },
      });
    return audited(
      { id: event },
      {
        action: 'create',
        resource_type: 'migration_verification',
        resource_id: event,
        details: { migration_id: row.id, event_type: 'operator_confirmed_clean', item_id: secret_migration_item_id },
      },
    );
  });
}
