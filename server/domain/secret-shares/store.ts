import type { AccessLevel, ShareStatus } from '#server/domain/secrets/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';

export type ShareRow = Prisma.secret_sharesGetPayload<Record<string, never>>;

/** How far each level goes. */
export const RANK: Record<AccessLevel, number> = { use: 0, view: 1, manage: 2 };

/** What a share is now: both ends of its life may come without a write. The database says the same (`share_state`). */
export function stateOf(row: Pick<ShareRow, 'status' | 'token_expires_at' | 'expires_at'>, now: Date): ShareStatus {
  const ended = row.expires_at !== null && row.expires_at <= now;
  if (row.status === 'pending' && (ended || row.token_expires_at <= now)) return 'expired';
  return row.status === 'active' && ended ? 'expired' : (row.status as ShareStatus);
}

/** @throws Refusal not_found, also for a share of another secret */
export async function shareById(tx: Tx, ctx: Ctx, { id, shareId }: { id: string; shareId: string }): Promise<ShareRow> {
  const row =
    isUuid(id) && isUuid(shareId) ? await tx.secret_shares.findFirst({ where: { ...own(ctx), id: shareId, secret_id: id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** The share, locked: a claim waits or was first. */
export async function lockedShare(tx: Tx, ctx: Ctx, ref: { id: string; shareId: string }): Promise<ShareRow> {
  if (isUuid(ref.shareId))
    await tx.$queryRaw`select 1 from secret_shares where id = ${ref.shareId}::uuid and tenant_id = ${ctx.tenant_id}::uuid for no key update`;
  return shareById(tx, ctx, ref);
}

/** Rows with what the wire adds to them. */
export async function shown(tx: Tx, ctx: Ctx, rows: readonly ShareRow[]) {
  const used = await tx.secret_share_days.groupBy({
    by: ['share_id'],
    where: { ...own(ctx), share_id: { in: rows.map(({ id }) => id) } },
    _max: { last_at: true },
  });
  const lastUse = new Map(used.map((use) => [use.share_id, use._max.last_at]));
  return rows.map((row) => ({
    ...row,
    access_level: row.access_level as AccessLevel,
    allowed_hosts: row.allowed_hosts as string[] | null,
    environment: row.environment_name,
    status: stateOf(row, ctx.now),
    created_by: row.inviter_label,
    offer_expires_at: row.status === 'pending' ? row.token_expires_at : null,
    last_used_at: lastUse.get(row.id) ?? null,
  }));
}
export type ShownShare = Awaited<ReturnType<typeof shown>>[number];
