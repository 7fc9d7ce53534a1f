import { limitOf } from '#server/domain/plans/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';

/** Members, and people invited who are none yet (spec 20 §3.4). A workspace has them once, not per space. */
export async function seatsTaken(tx: Tx, ctx: Pick<Ctx, 'tenant_id' | 'now'>): Promise<number> {
  const [row] = await tx.$queryRaw<{ n: number }[]>`
    with member as (select u.email from memberships m join users u on u.id = m.user_id where m.tenant_id = ${ctx.tenant_id}::uuid and m.removed_at is null)
    select (select count(*) from member)::int + (select count(*) from invitations i where i.tenant_id = ${ctx.tenant_id}::uuid and i.accepted_at is null
      and i.revoked_at is null and i.expires_at > ${ctx.now} and i.email not in (select email from member))::int as n`;
  return row?.n ?? 0;
}

/**
 * Refuses when one more member would pass the plan's limit. Call it after `lockMembers`, which makes count, compare and insert one step.
 * @throws Refusal plan_limit
 */
export async function assertFreeSeat(tx: Tx, ctx: Ctx): Promise<void> {
  const limit = await limitOf(tx, ctx, 'members');
  if (limit === null) return;
  const used = await seatsTaken(tx, ctx);
  if (used < limit) return;
  throw new Refusal(
    'plan_limit',
    `The ${ctx.plan} plan allows ${limit} ${limit === 1 ? 'member' : 'members'}, pending invitations included, and ${used} ${used === 1 ? 'is' : 'are'} taken. Remove a member, withdraw an invitation or ${moreRoom(ctx.plan)}.`,
  );
}
