import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { doer } from './revocation.ts';
import { hasEnded, withUsage } from './store.ts';

/** Working keys of this space that a person created, the oldest first: what somebody reviews when they leave. */
export async function keysCreatedBy(tx: Tx, ctx: Ctx, userId: string) {
  const rows = await tx.api_keys.findMany({
    where: { ...own(ctx), active: true, revoked_at: null, created_by: { path: ['id'], equals: userId } },
    orderBy: [{ created_at: 'asc' }, { id: 'asc' }],
  });
  const working = rows.filter((row) => !hasEnded(row, ctx.now));
  return (await withUsage(tx, ctx, working)).map(({ id, key_id, key_prefix, name, last_used_at }) => ({
    id,
    key_id,
    key_prefix,
    name,
    last_used_at,
  }));
}

/** Revokes them; the caller audits each. @returns the keys that worked until now */
export async function revokeKeysCreatedBy(tx: Tx, ctx: Ctx, userId: string) {
  const keys = await keysCreatedBy(tx, ctx, userId);
  await tx.api_keys.updateMany({
    where: { ...own(ctx), id: { in: keys.map(({ id }) => id) } },
    data: { active: false, revoked_at: ctx.now, revoked_by: doer(ctx), updated_at: ctx.now },
  });
  return keys;
}
