import type { z } from 'zod';
import { mintMailToken } from '#server/crypto/tokens.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { MemberRole } from '#server/kernel/role-matrix.ts';
import { throttled } from '#server/platform/throttle.ts';
import { assertGrants, confirmMembership } from './changes.ts';
import { mailInvitation } from './mails.ts';
import { INVITATION_DAYS } from './rank.shared.ts';
import type { Invite } from './schema.ts';
import { assertFreeSeat } from './seats.ts';
import { assertRoleUnchanged, lockMembers } from './store.ts';

const DAY = 24 * 3_600_000;

/** Pending invitations, expired ones included until they are withdrawn or replaced; the newest first. */
export const listInvitations = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = await tx.invitations.findMany({
      where: { tenant_id: ctx.tenant_id, ...PENDING },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      take: 500,
    });
    return rows.map((row) => shown(row, ctx.now));
  });

/**
 * Invites an address by mail. A second invitation of the same address replaces the first, whose link stops working.
 * @throws Refusal role_denied, conflict for a member, plan_limit, rate_limited
 */
export async function createInvitation(ctx: Ctx, input: z.output<typeof Invite>) {
  assertGrants(ctx, input.role);
  if (input.reveal_secrets && input.role !== 'editor') throw invalid('reveal_secrets', 'only applies to Editors');
  const giveBack = await admit(ctx, input.email);
  return sending(giveBack, (onSend) =>
    mutate(ctx, async (tx) => {
      await lockMembers(tx, ctx.tenant_id);
      await assertRoleUnchanged(tx, ctx);
      await confirmMembership(tx, ctx, null, input);
      if (await isMember(tx, ctx, input.email)) throw new Refusal('conflict', `${input.email} is already a member of this workspace.`);
      const replaced = await tx.invitations.updateMany({
        where: { tenant_id: ctx.tenant_id, email: input.email, ...PENDING },
        data: { revoked_at: ctx.now, revoked_by: ctx.actor.id },
      });
      await assertFreeSeat(tx, ctx);
      const { token, digest } = mintMailToken();
      const row = await tx.invitations.create({
        data: {
          ...input,
          id: newId(),
          tenant_id: ctx.tenant_id,
          token_digest: new Uint8Array(digest),
          invited_by: String(ctx.actor.id),
          inviter_label: ctx.actor.label,
          created_at: ctx.now,
          sent_at: ctx.now,
          expires_at: endOf(ctx.now),
        },
      });
      onSend(await mailInvitation(tx, ctx, { ...row, role: input.role }, token));
      return audited(shown(row, ctx.now), {
        action: 'invite',
        resource_type: 'invitation',
        resource_id: row.id,
        name: row.email,
        details: { role: row.role, reveal_secrets: row.reveal_secrets, ...(replaced.count > 0 ? { replaced: true } : {}) },
        workspace_level: true,
      });
    }),
  );
}

/**
 * Mails the invitation again with a new link, for another seven days; the link of the mail before stops working.
 * @throws Refusal not_found, role_denied, conflict, plan_limit, rate_limited
 */
export async function resendInvitation(ctx: Ctx, { id }: { id: string }) {
  const seen = await read(ctx, (tx) => pendingById(tx, ctx, id));
  const giveBack = await admit(ctx, seen.email);
  return sending(giveBack, (onSend) =>
    mutate(ctx, async (tx) => {
      await lockMembers(tx, ctx.tenant_id);
      const before = await pendingById(tx, ctx, id);
      await assertRoleUnchanged(tx, ctx);
      assertGrants(ctx, before.role as MemberRole);
      // Whoever sends it again may not be the one who confirmed it, and gives another week.
      await confirmMembership(tx, ctx, null, { role: before.role as MemberRole, reveal_secrets: before.reveal_secrets });
      if (await isMember(tx, ctx, before.email)) throw new Refusal('conflict', `${before.email} is already a member of this workspace.`);
      // An expired one gave its seat back.
      if (before.expires_at <= ctx.now) await assertFreeSeat(tx, ctx);
      const { token, digest } = mintMailToken();
      const row = await tx.invitations.update({
        where: { id: before.id, tenant_id: ctx.tenant_id },
        data: { token_digest: new Uint8Array(digest), sent_at: ctx.now, expires_at: endOf(ctx.now) },
      });
      onSend(await mailInvitation(tx, ctx, { ...row, role: row.role as MemberRole }, token));
      return audited(shown(row, ctx.now), {
        action: 'update',
        resource_type: 'invitation',
        resource_id: row.id,
        name: row.email,
        details: { resent: true },
        workspace_level: true,
      });
    }),
  );
}

/** Its link stops working at once. @throws Refusal not_found also for one that was used or withdrawn */
export function revokeInvitation(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    await lockMembers(tx, ctx.tenant_id);
    const row = await pendingById(tx, ctx, id);
    await assertRoleUnchanged(tx, ctx);
    await tx.invitations.update({
      where: { id: row.id, tenant_id: ctx.tenant_id },
      data: { revoked_at: ctx.now, revoked_by: ctx.actor.id },
    });
    return audited(
      { deleted: true as const },
      { action: 'revoke', resource_type: 'invitation', resource_id: row.id, name: row.email, workspace_level: true },
    );
  });
}

const PENDING = { accepted_at: null, revoked_at: null };

async function pendingById(tx: Tx, ctx: Ctx, id: string) {
  const row = isUuid(id) ? await tx.invitations.findFirst({ where: { id, tenant_id: ctx.tenant_id, ...PENDING } }) : null;
  if (!row) throw notFound();
  return row;
}

const isMember = async (tx: Tx, ctx: Ctx, email: string) =>
  (await tx.memberships.findFirst({ where: { tenant_id: ctx.tenant_id, removed_at: null, user: { email } }, select: { id: true } })) !==
  null;

/** Neither a workspace nor several together may fill a stranger's mailbox. */
const admit = (ctx: Ctx, email: string) =>
  throttled(
    [
      { what: 'invite-workspace', subject: ctx.tenant_id, limit: 300, window_sec: 86_400 },
      { what: 'invite-pair', subject: `${ctx.tenant_id} ${email}`, limit: 5, window_sec: 3600 },
      { what: 'invite-address', subject: email, limit: 20, window_sec: 86_400 },
    ],
    ctx.now,
    'rate_limited',
  );

/** Sends the mail after the commit; what was refused mailed nobody and doesn't count. */
async function sending<T>(giveBack: () => Promise<void>, work: (onSend: (send: () => void) => void) => Promise<T>): Promise<T> {
  let send = () => {};
  const answer = await work((given) => {
    send = given;
  }).catch(async (error: unknown) => {
    await giveBack();
    throw error;
  });
  send();
  return answer;
}

const endOf = (now: Date) => new Date(now.getTime() + INVITATION_DAYS * DAY);

type Row = { inviter_label: string; expires_at: Date };
const shown = <R extends Row & { role: string }>({ inviter_label, ...row }: R, now: Date) => ({
  ...row,
  role: row.role as MemberRole,
  invited_by: inviter_label,
  expired: row.expires_at <= now,
});
