import type { z } from 'zod';
import { digest, isMailToken } from '#server/crypto/tokens.ts';
import {
  acceptPassword,
  accountByEmail,
  addMembership,
  auditCtx,
  begin,
  createUser,
  type Doer,
  holdAddress,
  type SignedIn,
  withinScope,
  workspacesOf,
} from '#server/domain/people/service.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import type { PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import type { MemberRole } from '#server/kernel/role-matrix.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import type { InvitationSignUp } from './schema.ts';
import { lockMembers } from './store.ts';

/**
 * What a mailed invitation offers. Reads only: mail scanners open links. Whoever has the token reads the mailbox it was sent to.
 * @throws Refusal not_found for a token that is none or was replaced, rate_limited
 */
export async function viewInvitation(ctx: PersonCtx, { token }: { token: string }) {
  await throttled([{ what: 'invitation-ip', subject: network(ctx.ip), limit: 120, window_sec: 900 }], ctx.now, 'rate_limited');
  const row = await byToken(ctx.db, token);
  if (!row) throw notFound();
  return {
    state: stateOf(row, ctx.now),
    email: row.email,
    workspace: { name: row.tenant.name, slug: row.tenant.slug },
    role: row.role as MemberRole,
    invited_by: row.inviter_label,
    expires_at: row.expires_at,
    has_account: (await accountByEmail(ctx.db, row.email)) !== null,
  };
}

/**
 * Joins with the account that is signed in, which must be the invited address: the link alone, forwarded, lets nobody in.
 * @throws Refusal not_found, forbidden (another address), conflict (used, withdrawn, expired, already a member), session_scope_mismatch
 */
export async function acceptInvitation(ctx: SignedInCtx, { token }: { token: string }) {
  const id = await ctx.db.$transaction(async (tx) => {
    const row = await openInvitation(tx, token, ctx.now);
    if (ctx.user.email !== row.email)
      throw new Refusal(
        'forbidden',
        `This invitation was sent to another address than ${ctx.user.email}. Sign out, then open the link again and sign in with the invited address.`,
      );
    if (ctx.session.scope_tenant_id && ctx.session.scope_tenant_id !== row.tenant_id)
      throw new Refusal(
        'session_scope_mismatch',
        'This session is limited to another workspace. Sign in again without choosing a workspace.',
      );
    // The token came to that mailbox.
    await tx.users.updateMany({ where: { id: ctx.user.id, email_verified_at: null }, data: { email_verified_at: ctx.now } });
    await join(tx, ctx, row, { id: ctx.user.id, email: ctx.user.email, session_id: ctx.session.id });
    await tx.sessions.update({ where: { id: ctx.session.id }, data: { active_tenant_id: row.tenant_id } });
    return row.tenant_id;
  });
  const workspace = withinScope(await workspacesOf(ctx.db, ctx.user.id), ctx.session).find((one) => one.id === id);
  if (!workspace) throw new Error('the workspace that was just joined is gone');
  return { workspace, redirect_to: landing(workspace) };
}

/**
 * Joins as somebody new: the mailed token proves the address, so the account begins verified and signed in.
 * @throws Refusal not_found, conflict (used, withdrawn, expired, or the address has an account), invalid for a poor password, rate_limited
 */
export async function signUpByInvitation(
  ctx: PersonCtx,
  input: z.output<typeof InvitationSignUp>,
): Promise<SignedIn & { redirect_to: string }> {
  // A hash costs a tenth of a second and 64 MiB: counted before, and only for a token that is one.
  await throttled([{ what: 'invitation-signup-ip', subject: network(ctx.ip), limit: 20, window_sec: 3600 }], ctx.now, 'rate_limited');
  const seen = await openInvitation(ctx.db, input.token, ctx.now);
  const password_hash = input.password === undefined ? null : await acceptPassword(input.password, seen.email, 'password');
  return ctx.db.$transaction(async (tx) => {
    await holdAddress(tx, seen.email);
    const row = await openInvitation(tx, input.token, ctx.now);
    if (await accountByEmail(tx, row.email))
      throw new Refusal('conflict', `${row.email} already has an account. Sign in with it, then open the link again.`);
    const user = await createUser(tx, { email: row.email, full_name: input.full_name, password_hash, email_verified: true, now: ctx.now });
    await writeAudit(tx, auditCtx(ctx, user, row.tenant_id), {
      action: 'create',
      resource_type: 'user',
      resource_id: user.id,
      name: user.email,
      details: { via: 'invitation' },
    });
    await join(tx, ctx, row, user);
    const signedIn = await begin(tx, ctx, user.id, 'signup', {});
    if (signedIn.status !== 'ok') throw new Error('an account that was just created owes no second factor');
    return { ...signedIn, redirect_to: landing(row.tenant) };
  });
}

/** Everybody begins in Test. */
const landing = ({ slug }: { slug: string }) => `/${slug}/test`;

type Row = NonNullable<Awaited<ReturnType<typeof byToken>>>;

/** Uses the invitation up and adds the member. Of two at once exactly one joins. @throws Refusal conflict */
async function join(tx: Tx, ctx: PersonCtx, row: Row, person: Doer): Promise<void> {
  await lockMembers(tx, row.tenant_id);
  if (await tx.memberships.findFirst({ where: { tenant_id: row.tenant_id, user_id: person.id, removed_at: null }, select: { id: true } }))
    throw new Refusal('conflict', `You're already a member of ${row.tenant.name}.`);
  const { count } = await tx.invitations.updateMany({
    where: { id: row.id, token_digest: row.token_digest, accepted_at: null, revoked_at: null, expires_at: { gt: ctx.now } },
    data: { accepted_at: ctx.now, accepted_by: person.id },
  });
  if (count === 0) throw new Refusal('conflict', DEAD.used);
  const { id } = await addMembership(tx, {
    tenant_id: row.tenant_id,
    user_id: person.id,
    role: row.role as MemberRole,
    source: 'invite',
    added_by: row.invited_by,
    now: ctx.now,
  });
  if (row.reveal_secrets) await tx.memberships.update({ where: { id }, data: { reveal_secrets: true } });
  await writeAudit(tx, auditCtx(ctx, person, row.tenant_id), {
    action: 'create',
    resource_type: 'member',
    resource_id: person.id,
    name: person.email,
    details: {
      via: 'invitation',
      invitation_id: row.id,
      invited_by: row.inviter_label,
      role: row.role,
      reveal_secrets: row.reveal_secrets,
    },
    workspace_level: true,
  });
}

/** @throws Refusal not_found, conflict */
async function openInvitation(db: Db | Tx, token: string, now: Date): Promise<Row> {
  const row = await byToken(db, token);
  if (!row) throw notFound();
  const state = stateOf(row, now);
  if (state !== 'open') throw new Refusal('conflict', DEAD[state]);
  return row;
}

const DEAD = {
  used: 'This invitation was already used.',
  withdrawn: 'This invitation was withdrawn. Ask an Owner or Admin of the workspace for a new one.',
  expired: 'This invitation has expired. Ask an Owner or Admin of the workspace to send it again.',
};

function stateOf(row: { accepted_at: Date | null; revoked_at: Date | null; expires_at: Date }, now: Date) {
  if (row.accepted_at) return 'used' as const;
  if (row.revoked_at) return 'withdrawn' as const;
  return row.expires_at > now ? ('open' as const) : ('expired' as const);
}

/** The invitation of a token, unless its workspace is gone. */
async function byToken(db: Db | Tx, token: string) {
  if (!isMailToken(token)) return null;
  const row = await db.invitations.findUnique({ where: { token_digest: new Uint8Array(digest(token)) } });
  const tenant =
    row && (await db.tenants.findFirst({ where: { id: row.tenant_id, deleted_at: null }, select: { name: true, slug: true } }));
  return row && tenant ? { ...row, tenant } : null;
}
