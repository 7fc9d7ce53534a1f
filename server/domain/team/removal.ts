import type { z } from 'zod';
import { keysCreatedBy, revokeKeysCreatedBy } from '#server/domain/api-keys/service.ts';
import { signOutMember } from '#server/domain/people/service.ts';
import { acrossSpaces } from '#server/kernel/across-spaces.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { Family } from '#server/kernel/family.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import type { MemberRole } from '#server/kernel/role-matrix.ts';
import { assertManages } from './changes.ts';
import { mailMember } from './mails.ts';
import type { RemoveMember } from './schema.ts';
import { assertOtherOwner, assertRoleUnchanged, live, lockMembers, type MemberRow, memberById } from './store.ts';

/**
 * Ends a membership and everything that hangs on it, in one transaction: sessions, pending step-ups and, family by family, what is the person's own here.
 * API keys they created stay unless `revoke_api_keys`, and are listed in the answer. Anybody may leave.
 * @throws Refusal not_found, role_denied, last_owner, not_a_member
 */
export async function removeMember(ctx: Ctx, { id, revoke_api_keys }: z.output<typeof RemoveMember>, families: readonly Family[]) {
  let send = () => {};
  const answer = await acrossSpaces(ctx, async (within) => {
    const parts = await within(false, async (tx, there) => {
      await lockMembers(tx, there.tenant_id);
      const member = await memberById(tx, there, id);
      const by_self = member.id === there.actor.id;
      if (!by_self) assertManages(there, member.role);
      // Before the caller's own membership: of two Owners who remove each other, the later one hears what they would have done.
      if (member.role === 'owner') await assertOtherOwner(tx, there, member);
      await assertRoleUnchanged(tx, there);
      const invitations = await invitationsSentBy(tx, there, member.id);
      const left = await endMembership(tx, there, member, families, { revoke_api_keys, tell: !by_self });
      send = left.send;
      return audited(
        { member, invitations, ...left },
        {
          action: 'delete',
          resource_type: 'member',
          resource_id: member.id,
          name: member.email,
          details: { role: member.role, by_self, ended: left.ended },
          workspace_level: true,
        },
        left.entries,
      );
    });
    const test = await within(true, async (tx, there) => {
      const left = await leaveSpace(tx, there, parts.member, revoke_api_keys, families);
      const [first, ...more] = left.entries;
      return first ? audited(left, first, more) : unchanged(left);
    });
    return {
      deleted: true as const,
      ended: added(parts.ended, test.ended),
      api_keys: [...parts.keys, ...test.keys],
      invitations: parts.invitations,
    };
  });
  send();
  return answer;
}

/**
 * Ends a membership in Live, whoever ends it; `leaveSpace` ends what is the person's in Test. Call it after `lockMembers`.
 * @throws Refusal last_owner
 */
export async function endMembership(
  tx: Tx,
  ctx: Ctx,
  member: MemberRow,
  families: readonly Family[],
  { revoke_api_keys, tell }: { revoke_api_keys: boolean; tell: boolean },
) {
  if (member.role === 'owner') await assertOtherOwner(tx, ctx, member);
  const send = tell ? await mailMember(tx, ctx, member.email, { kind: 'membership_ended' }) : () => {};
  const left = await leaveSpace(tx, ctx, member, revoke_api_keys, families);
  await tx.memberships.updateMany({ where: live(ctx, member.id), data: { removed_at: ctx.now } });
  return { ...left, send };
}

/** What ends in one space, with the audit entries of keys revoked there. */
export async function leaveSpace(tx: Tx, ctx: Ctx, member: MemberRow, revoke: boolean, families: readonly Family[]) {
  let ended: Record<string, number> = {};
  for (const { membershipEnds } of families) if (membershipEnds) ended = added(ended, await membershipEnds(tx, ctx, member.id));
  const keys = revoke ? await revokeKeysCreatedBy(tx, ctx, member.id) : await keysCreatedBy(tx, ctx, member.id);
  const entries: AuditEntry[] = !revoke
    ? []
    : keys.map((key) => ({
        action: 'revoke',
        resource_type: 'api_key',
        resource_id: key.id,
        name: key.name,
        details: { key_id: key.key_id, via: 'member_removed' },
      }));
  return { ended, entries, keys: keys.map((key) => ({ ...key, space: spaceOf(ctx.sandbox), revoked: revoke })) };
}

/**
 * What would end, and what would stay, if the member left. Anybody may ask about themselves.
 * @throws Refusal not_found, role_denied
 */
export function impactOfRemoval(ctx: Ctx, { id }: { id: string }) {
  return acrossSpaces(ctx, async (within) => {
    const live = await within(false, async (tx, there) => {
      const member = await memberById(tx, there, id);
      if (member.id !== there.actor.id) assertManages(there, member.role);
      const [row] = await tx.$queryRaw<{ sessions: number; apps: number }[]>`
        select count_workspace_sessions(${member.id}::uuid, ${there.now}) as sessions, count_member_logins(${member.id}::uuid, ${there.now}) as apps`;
      const invitations = await invitationsSentBy(tx, there, member.id);
      return unchanged({ sessions: row?.sessions ?? 0, apps: row?.apps ?? 0, invitations, keys: await keysIn(tx, there, member.id) });
    });
    const inTest = await within(true, async (tx, there) => unchanged(await keysIn(tx, there, id)));
    return { sessions: live.sessions, apps: live.apps, invitations: live.invitations, api_keys: [...live.keys, ...inTest] };
  });
}

const keysIn = async (tx: Tx, ctx: Ctx, userId: string) =>
  (await keysCreatedBy(tx, ctx, userId)).map((key) => ({ ...key, space: spaceOf(ctx.sandbox) }));

/**
 * Signs a member out of this workspace: sessions that are bound to it, or act in it now, end (spec 22 §3.1), and so does what applications hold in their
 * name here, in both spaces. @throws Refusal not_found, role_denied
 */
export function endMemberSessions(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const member = await memberById(tx, ctx, id);
    if (member.id === ctx.actor.id) throw new Refusal('role_denied', 'End your own sessions under Sessions of your account.');
    assertManages(ctx, member.role);
    await assertRoleUnchanged(tx, ctx);
    const { sessions: revoked, apps } = await signOutMember(tx, ctx, member.id);
    return audited(
      { deleted: true as const, revoked, apps },
      {
        action: 'revoke',
        resource_type: 'session',
        resource_id: null,
        name: member.email,
        details: { member: member.id, sessions: revoked, apps },
        workspace_level: true,
      },
    );
  });
}

/** Pending invitations that a member sent: they stay valid, so somebody should look at them. */
async function invitationsSentBy(tx: Tx, ctx: Ctx, userId: string) {
  const rows = await tx.invitations.findMany({
    where: { tenant_id: ctx.tenant_id, invited_by: userId, accepted_at: null, revoked_at: null, expires_at: { gt: ctx.now } },
    orderBy: { created_at: 'asc' },
    select: { id: true, email: true, role: true },
  });
  return rows.map((row) => ({ ...row, role: row.role as MemberRole }));
}

function added(one: Record<string, number>, other: Record<string, number>): Record<string, number> {
  const sum = { ...one };
  for (const [kind, n] of Object.entries(other)) if (n > 0) sum[kind] = (sum[kind] ?? 0) + n;
  return sum;
}
