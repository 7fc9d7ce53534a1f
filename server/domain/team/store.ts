import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { MemberRole } from '#server/kernel/role-matrix.ts';

export type MemberRow = {
  id: string;
  email: string;
  full_name: string;
  avatar: string | null;
  role: MemberRole;
  reveal_secrets: boolean;
  migration_reviewer: boolean;
  source: string;
  added_by: string | null;
  joined_at: Date;
  last_active_at: Date | null;
  second_factor: boolean | null;
};

/** The columns of a member and the tables they come from; a caller adds conditions. Who has a second factor is for those who can act on it. */
export const selectMembers = (
  ctx: Ctx,
) => Prisma.sql`select m.user_id::text as id, u.email, u.full_name, u.avatar::text as avatar, m.role, m.reveal_secrets,
    m.migration_reviewer, m.source, coalesce(nullif(a.full_name, ''), a.email) as added_by, m.joined_at, m.last_active_at,
    case when ${ctx.actor.capabilities.has('member:update')}::boolean then has_factor(m.user_id) end as second_factor
  from memberships m join users u on u.id = m.user_id left join users a on a.id = m.added_by`;

/** @throws Refusal not_found */
export async function memberById(tx: Tx, ctx: Ctx, id: string): Promise<MemberRow> {
  if (!isUuid(id)) throw notFound();
  const [row] = await tx.$queryRaw<
    MemberRow[]
  >`${selectMembers(ctx)} where m.tenant_id = ${ctx.tenant_id}::uuid and m.removed_at is null and m.user_id = ${id}::uuid`;
  if (!row) throw notFound();
  return row;
}

/**
 * Changes of a workspace's members run one after the other, until the end of the transaction: who is the last Owner, and how many seats are taken,
 * is judged and changed in one step. Rows that refer to the workspace stay free.
 */
export const lockMembers = (tx: Tx, tenantId: string) => tx.$queryRaw`select 1 from tenants where id = ${tenantId}::uuid for no key update`;

/** The live membership of a person as a row to change. */
export const live = (ctx: Pick<Ctx, 'tenant_id'>, userId: string) => ({ tenant_id: ctx.tenant_id, user_id: userId, removed_at: null });

/** @throws Refusal last_owner when the workspace has no Owner but this one */
export async function assertOtherOwner(tx: Tx, ctx: Ctx, member: Pick<MemberRow, 'id' | 'email'>): Promise<void> {
  const others = await tx.memberships.count({
    where: { tenant_id: ctx.tenant_id, removed_at: null, role: 'owner', NOT: { user_id: member.id } },
  });
  if (others === 0)
    throw new Refusal('last_owner', `${member.email} is the only Owner. Transfer ownership or make someone else an Owner first.`);
}

/**
 * The acting member still has the role their call began with. Asked after `lockMembers`: whoever was removed or changed while they waited changes nobody.
 * @throws Refusal not_a_member, role_denied
 */
export async function assertRoleUnchanged(tx: Tx, ctx: Ctx): Promise<void> {
  const { actor } = ctx;
  if (actor.type !== 'member') throw new Refusal('role_denied', 'Only members of the workspace can manage its members.');
  const now = await tx.memberships.findFirst({ where: live(ctx, actor.id), select: { role: true } });
  if (!now) throw new Refusal('not_a_member', "You're no longer a member of this workspace.");
  if (now.role !== actor.role) throw new Refusal('role_denied', `Your role changed to ${now.role}. Reload the page.`);
}
