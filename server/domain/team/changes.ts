import type { z } from 'zod';
import { memberCapabilities } from '#server/kernel/capabilities.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmGrant } from '#server/kernel/confirmations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { assertRecentSignIn, isRecent } from '#server/kernel/recent-sign-in.ts';
import { MEMBER_ROLES, type MemberRole } from '#server/kernel/role-matrix.ts';
import { confirmChange, hasFactor } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { mailMember } from './mails.ts';
import { isManager, mayManage } from './rank.shared.ts';
import type { UpdateMember } from './schema.ts';
import { assertOtherOwner, assertRoleUnchanged, live, lockMembers, type MemberRow, memberById } from './store.ts';

/**
 * Role and flags of another member; they apply at that person's next request.
 * @throws Refusal not_found, role_denied, last_owner, not_a_member
 */
export async function updateMember(ctx: Ctx, { id, ...input }: z.output<typeof UpdateMember>) {
  let send = () => {};
  const after = await mutate(ctx, async (tx) => {
    await lockMembers(tx, ctx.tenant_id);
    const before = await memberById(tx, ctx, id);
    if (before.id === ctx.actor.id)
      throw new Refusal('role_denied', "You can't change your own role or permissions. Ask another Owner or Admin.");
    assertManages(ctx, before.role);
    if (input.role) assertGrants(ctx, input.role);
    if (input.migration_reviewer !== undefined && !ctx.actor.capabilities.has('member:set_reviewer'))
      throw new Refusal('role_denied', 'Only an Owner can set migration_reviewer.');
    if (before.role === 'owner' && input.role && input.role !== 'owner') await assertOtherOwner(tx, ctx, before);
    await assertRoleUnchanged(tx, ctx);
    const data = flagsOf(before, input);
    const changes = changesOf(before, data, Object.keys(data));
    if (changes.length === 0) return unchanged(before);
    await confirmMembership(tx, ctx, before, data);
    await tx.memberships.updateMany({ where: live(ctx, before.id), data });
    if (data.role !== before.role) send = await mailMember(tx, ctx, before.email, { kind: 'role_changed', role: data.role });
    return audited(await memberById(tx, ctx, before.id), {
      action: 'update',
      resource_type: 'member',
      resource_id: before.id,
      name: before.email,
      changes,
      workspace_level: true,
    });
  });
  send();
  return after;
}

/**
 * Makes a member an Owner and the giver an Admin, in one step.
 * @throws Refusal not_found, role_denied, not_a_member
 */
export async function transferOwnership(ctx: Ctx, { id }: { id: string }) {
  let send = () => {};
  const after = await mutate(ctx, async (tx) => {
    await lockMembers(tx, ctx.tenant_id);
    const heir = await memberById(tx, ctx, id);
    if (heir.id === ctx.actor.id) throw new Refusal('role_denied', "You're already an Owner. Choose another member.");
    await assertRoleUnchanged(tx, ctx);
    const giver = await memberById(tx, ctx, String(ctx.actor.id));
    await tx.memberships.updateMany({ where: live(ctx, heir.id), data: { role: 'owner', reveal_secrets: false } });
    await tx.memberships.updateMany({ where: live(ctx, giver.id), data: { role: 'admin' } });
    send = await mailMember(tx, ctx, heir.email, { kind: 'role_changed', role: 'owner' });
    return audited(
      await memberById(tx, ctx, heir.id),
      {
        action: 'transfer',
        resource_type: 'tenant',
        resource_id: ctx.tenant_id,
        details: { from: giver.email, to: heir.email },
        workspace_level: true,
      },
      changedRole(heir, 'owner'),
      changedRole(giver, 'admin'),
    );
  });
  send();
  return after;
}

const changedRole = ({ id, email, role }: MemberRow, to: MemberRole) =>
  role === to
    ? []
    : [
        {
          action: 'update',
          resource_type: 'member',
          resource_id: id,
          name: email,
          changes: [{ field: 'role', from: role, to }],
          details: { via: 'transfer' },
          workspace_level: true,
        },
      ];

type Rights = { role: MemberRole; reveal_secrets: boolean };

/**
 * Asks a person to confirm what they give to somebody else: a role that manages, or the right to reveal. A membership outlives the session that gives it, so an
 * old session confirms any role that is new or higher. @throws Refusal mfa_required, step_up_required
 */
export async function confirmMembership(tx: Tx, ctx: Ctx, before: Rights | null, after: Rights): Promise<void> {
  if (isManager(after.role) && after.role !== before?.role) await confirmChange(tx, ctx, env.PUBLIC_ADMIN_URL, 'member.role');
  await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, {
    before: before ? memberCapabilities(before.role, before) : [],
    after: memberCapabilities(after.role, after),
  });
  const { actor, now } = ctx;
  if (actor.type !== 'member' || isRecent(actor.signed_in_at, now) || (before && !isHigher(after.role, before.role))) return;
  // Every door to a membership names this scope, that of access requests too, which give no role that manages.
  if (await hasFactor(tx, actor.id)) return confirmChange(tx, ctx, env.PUBLIC_ADMIN_URL, 'capability.grant');
  assertRecentSignIn(ctx, 'capability.grant', before ? 'give a member a higher role' : 'let somebody into this workspace');
}

/** The roles are listed from the highest down. */
const isHigher = (role: MemberRole, other: MemberRole): boolean => MEMBER_ROLES.indexOf(role) < MEMBER_ROLES.indexOf(other);

/** What the membership is after the edit: flags that its role has no use for go back to their defaults. @throws Refusal validation_error */
function flagsOf(before: MemberRow, input: Omit<z.output<typeof UpdateMember>, 'id'>) {
  const role = input.role ?? before.role;
  if (input.reveal_secrets && role !== 'editor')
    throw invalid('reveal_secrets', isManager(role) ? 'Owners and Admins can always reveal secrets' : 'only applies to Editors');
  if (input.migration_reviewer === false && role !== 'admin')
    throw invalid('migration_reviewer', role === 'owner' ? 'Owners always review migrations' : 'only applies to Admins');
  return {
    role,
    reveal_secrets: role === 'editor' && (input.reveal_secrets ?? before.reveal_secrets),
    migration_reviewer: role === 'admin' ? (input.migration_reviewer ?? before.migration_reviewer) : true,
  };
}

/** @throws Refusal role_denied */
export function assertManages({ actor }: Ctx, role: MemberRole): void {
  if (actor.type === 'member' && mayManage(actor.role, role)) return;
  throw new Refusal(
    'role_denied',
    isManager(role) ? 'Only an Owner can manage Owners and Admins.' : 'Only an Owner or Admin can manage members.',
  );
}

/** @throws Refusal role_denied */
export function assertGrants({ actor }: Ctx, role: MemberRole): void {
  if (!isManager(role) || actor.capabilities.has('member:grant_admin')) return;
  throw new Refusal('role_denied', `Only an Owner can grant the role ${role}.`);
}
