import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { sql } from '#server/platform/sql.ts';

/** Refused at its next spend. A token that is over stays what it is. Idempotent. @throws Refusal not_found */
export const revokeClientToken = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = isUuid(id) ? await tx.client_tokens.findFirst({ where: { ...own(ctx), id } }) : null;
    if (!row) throw notFound();
    const answer = { deleted: true as const, revoked: true as const };
    const { count } = await tx.client_tokens.updateMany({ where: { ...own(ctx), id, ...open(ctx.now) }, data: { revoked_at: ctx.now } });
    if (count === 0) return unchanged(answer);
    return audited(answer, { action: 'revoke', resource_type: 'client_token', resource_id: row.id, details: { action: row.action } });
  });

/** All open tokens that one credential minted. */
export const revokeClientTokensOf = (ctx: Ctx, { minted_by }: { minted_by: string }) =>
  mutate(ctx, async (tx) => {
    const revoked = await revokeOf(tx, ctx, minted_by);
    if (revoked === 0) return unchanged({ revoked });
    return audited(
      { revoked },
      { action: 'revoke', resource_type: 'client_token', resource_id: null, details: { minted_by, count: revoked } },
    );
  });

/** What a person minted ends with their membership. */
export const endMembership = async (tx: Tx, ctx: Ctx, userId: string) => ({ client_tokens: await revokeOf(tx, ctx, userId) });

const revokeOf = async (tx: Tx, ctx: Ctx, mintedBy: string): Promise<number> =>
  (await tx.client_tokens.updateMany({ where: { ...own(ctx), minted_by_id: mintedBy, ...open(ctx.now) }, data: { revoked_at: ctx.now } }))
    .count;

const open = (now: Date) => ({ consumed_at: null, burned_at: null, revoked_at: null, expires_at: { gt: now } });

const KEPT_DAYS = 30;
const BATCH = 5_000;

/** Removes records 30 days after they expired. @returns how many */
export async function pruneClientTokens(now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEPT_DAYS * 86_400_000);
  for (let removed = 0; ; ) {
    const { rowCount } = await sql().query(
      'delete from client_tokens where id in (select id from client_tokens where expires_at < $1 limit $2)',
      [before, BATCH],
    );
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return removed;
  }
}
