import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { ZEROED } from './store.ts';

/** Overwrites every value and grant of the space before its rows go. */
export async function wipeItems(tx: Tx, ctx: Ctx): Promise<unknown> {
  await tx.secret_migration_credentials.updateMany({
    where: { ...own(ctx), wiped_at: null },
    data: { value_ct: null, cek_wrapped: null, wiped_at: ctx.now },
  });
  return tx.secret_migration_items.updateMany({ where: own(ctx), data: ZEROED });
}
