import { dispatch, postColleagueMail, postTeamMails } from '#server/domain/mail/service.ts';
import { invitationMail, membershipEnded, roleChanged } from '#server/domain/mail/templates.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { MemberRole } from '#server/kernel/role-matrix.ts';
import { env } from '#server/platform/env.ts';
import { madeLeft } from './letters.ts';
import type { MadeThing } from './made.ts';

type News = { kind: 'role_changed'; role: MemberRole } | { kind: 'membership_ended' };

/** Writes a mail about a membership to the person it is of, in the caller's transaction. @returns what sends it, to call after the commit */
export async function mailMember(tx: Tx, ctx: Ctx, to: string, news: News): Promise<() => void> {
  const workspace = await workspaceOf(tx, ctx);
  const facts = { workspace: workspace.name, by: ctx.actor.label };
  const letter =
    news.kind === 'role_changed'
      ? roleChanged({ ...facts, role: news.role }, `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/live`)
      : membershipEnded(facts);
  const id = await postColleagueMail(tx, { to, kind: news.kind, letter, now: ctx.now });
  return () => dispatch(ctx.db, id);
}

/**
 * Tells the Owners what somebody who left, or was removed, made that still acts: nobody else may know of it. Says nothing when they made nothing.
 * @returns what sends it, to call after the commit
 */
export async function mailOwnersOfMade(
  tx: Tx,
  ctx: Ctx,
  member: { email: string },
  made: readonly (MadeThing & { revoked: boolean })[],
): Promise<() => void> {
  if (made.length === 0) return () => {};
  const workspace = await workspaceOf(tx, ctx);
  const letter = madeLeft(
    { workspace: workspace.name, member: member.email, by: ctx.actor.label, made },
    `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/settings/team`,
  );
  const ids = await postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'member_made', letter, now: ctx.now });
  return () => {
    for (const id of ids) dispatch(ctx.db, id);
  };
}

/** Writes the mail of an invitation, sealed: whoever reads it can join. @returns what sends it, to call after the commit */
export async function mailInvitation(
  tx: Tx,
  ctx: Ctx,
  invitation: { email: string; role: MemberRole; expires_at: Date },
  token: string,
): Promise<() => void> {
  const { name } = await workspaceOf(tx, ctx);
  const letter = invitationMail(
    { ...invitation, workspace: name, by: ctx.actor.label },
    `${env.PUBLIC_ADMIN_URL}/invitation?token=${token}`,
  );
  const id = await postColleagueMail(tx, { to: invitation.email, kind: 'invitation', letter, now: ctx.now });
  return () => dispatch(ctx.db, id);
}

const workspaceOf = (tx: Tx, ctx: Ctx) =>
  tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
