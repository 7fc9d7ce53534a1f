import { type Ctx, own } from '#server/kernel/context.ts';
import { type Db, inTransaction } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { CAPTURE_DAYS } from './register.shared.ts';
import { settle } from './settling.ts';
import { lockedMigration } from './store.ts';

const DAY = 86_400_000;

/** Ends the capture window by hand. @throws Refusal migration_not_found, conflict when nothing is captured, or the store is still being read */
export function finishCapture(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedMigration(tx, ctx, id);
    if (row.mode === 'pull' || row.status !== 'discovering')
      throw new Refusal(
        'conflict',
        'This migration is not capturing: only one of mode capture or both, while it discovers, can be finished.',
      );
    if (row.mode === 'both' && !row.pull_finished_at)
      throw new Refusal('conflict', 'The store is still being read. Finish the capture once all of it has been.');
    const status = await settle(tx, ctx, row.id);
    return audited(
      { id: row.id, status },
      { action: 'update', resource_type: 'secret_migration', resource_id: row.id, details: { change: 'finish_capture' } },
    );
  });
}

/** Ends the windows that stood open for 14 days, one transaction each (interface rule 35 §4.1). @returns windows ended */
export async function endCaptureWindows(db: Db, now: Date, batch = 100): Promise<number> {
  const open = {
    OR: [
      { mode: 'capture', status: { in: ['pending', 'discovering'] } },
      { mode: 'both', status: 'discovering', pull_finished_at: { not: null } },
    ],
    created_at: { lte: new Date(now.getTime() - CAPTURE_DAYS * DAY) },
  };
  const due = await db.secret_migrations.findMany({ where: open, select: { id: true, tenant_id: true, sandbox: true }, take: batch });
  let ended = 0;
  for (const { id, tenant_id, sandbox } of due) {
    const ctx = systemContext(db, { tenant_id, sandbox, now, label: 'migration capture' });
    ended += await inTransaction(ctx, async (tx) => {
      await lockedMigration(tx, ctx, id);
      const still = await tx.secret_migrations.count({ where: { ...own(ctx), ...open, id } });
      if (still > 0) await settle(tx, ctx, id);
      return still;
    });
  }
  return ended;
}
