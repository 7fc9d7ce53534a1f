import type { z } from 'zod';
import { signOutMember } from '#server/domain/people/service.ts';
import { acrossSpaces } from '#server/kernel/across-spaces.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { Family } from '#server/kernel/family.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { assertManages } from './changes.ts';
import { assertMayEnd, endMade, kindsNamed, madeBy, makersOf } from './made.ts';
import { mailMember, mailOwnersOfMade } from './mails.ts';
import type { RemoveMember } from './schema.ts';
import { assertOtherOwner, assertRoleUnchanged, live, lockMembers, type MemberRow, memberById } from './store.ts';

/**
 * Ends a membership and everything that hangs on it, in one transaction: sessions, pending step-ups and, family by family, what is the person's own here.
 * What they made that acts by itself stays, unless `revoke` names its kind, and is listed in the answer and in a mail to the Owners. Anybody may leave, and end what their role may end.
 * @throws Refusal not_found, role_denied, last_owner, not_a_member, validation_error for an unknown kind
 */
export async function removeMember(ctx: Ctx, { id, revoke, revoke_api_keys }: z.output<typeof RemoveMember>, families: readonly Family[]) {
  const kinds = new Set([...kindsNamed(revoke, families), ...(revoke_api_keys ? ['api_key'] : [])]);
  const sends: (() => void)[] = [];
  const answer = await acrossSpaces(ctx, async (within) => {
    const parts = await within(false, async (tx, there) => {
      await lockMembers(tx, there.tenant_id);
      const member = await memberById(tx, there, id);
      const by_self = member.id === there.actor.id;
      if (!by_self) assertManages(there, member.role);
      // Before the caller's own membership: of two Owners who remove each other, the later one hears what they would have done.
      if (member.role === 'owner') await assertOtherOwner(tx, there, member);
      await assertRoleUnchanged(tx, there);
      const left = await endMembership(tx, there, member, families, { kinds, tell: !by_self });
      sends.push(left.send);
      return audited(
        { member, ...left },
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
      const left = await leaveSpace(tx, there, parts.member, families, kinds);
      sends.push(await mailOwnersOfMade(tx, there, parts.member, [...parts.made, ...left.made]));
      const [first, ...more] = left.entries;
      return first ? audited(left, first, more) : unchanged(left);
    });
    return {
      deleted: true as const,
      ended: added(parts.ended, test.ended),
      made: [...parts.made, ...test.made],
    };
  });
  for (const send of sends) send();
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
  { kinds, tell }: { kinds: ReadonlySet<string>; tell: boolean },
) {
  if (member.role === 'owner') await assertOtherOwner(tx, ctx, member);
  const send = tell ? await mailMember(tx, ctx, member.email, { kind: 'membership_ended' }) : () => {};
  const left = await leaveSpace(tx, ctx, member, families, kinds);
  await tx.memberships.updateMany({ where: live(ctx, member.id), data: { removed_at: ctx.now } });
  return { ...left, send };
}

/** What ends in one space, and what of the person's stays there, or ended because its kind was named, with the audit entries of those. */
export async function leaveSpace(
  tx: Tx,
  ctx: Ctx,
  member: Pick<MemberRow, 'id'>,
  families: readonly Family[],
  kinds: ReadonlySet<string> = new Set(),
) {
  let ended: Record<string, number> = {};
  for (const { membershipEnds } of families) if (membershipEnds) ended = added(ended, await membershipEnds(tx, ctx, member.id));
  const makers = await makersOf(tx, ctx, member.id);
  const made = await madeBy(tx, ctx, makers, families);
  assertMayEnd(ctx, made, kinds, families);
  const entries = await endMade(tx, ctx, member.id, { makers, kinds, families });
  return { ended, entries, made: made.map((thing) => ({ ...thing, revoked: kinds.has(thing.kind) })) };
}

/**
 * What would end, and what would stay, if the member left. Anybody may ask about themselves.
 * @throws Refusal not_found, role_denied
 */
export function impactOfRemoval(ctx: Ctx, { id }: { id: string }, families: readonly Family[]) {
  return acrossSpaces(ctx, async (within) => {
    const live = await within(false, async (tx, there) => {
      const member = await memberById(tx, there, id);
      if (member.id !== there.actor.id) assertManages(there, member.role);
      const [row] = await tx.$queryRaw<{ sessions: number; apps: number }[]>`
        select count_workspace_sessions(${member.id}::uuid, ${there.now}) as sessions, count_member_logins(${member.id}::uuid, ${there.now}) as apps`;
      return unchanged({
        ...{ member, sessions: row?.sessions ?? 0, apps: row?.apps ?? 0 },
        made: await madeBy(tx, there, await makersOf(tx, there, member.id), families),
      });
    });
    const inTest = await within(true, async (tx, there) =>
      unchanged(await madeBy(tx, there, await makersOf(tx, there, live.member.id), families)),
    );
    return { sessions: live.sessions, apps: live.apps, made: [...live.made, ...inTest] };
  });
}

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

function added(one: Record<string, number>, other: Record<string, number>): Record<string, number> {
  const sum = { ...one };
  for (const [kind, n] of Object.entries(other)) if (n > 0) sum[kind] = (sum[kind] ?? 0) + n;
  return sum;
}
