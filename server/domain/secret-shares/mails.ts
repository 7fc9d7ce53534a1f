import { dispatch, type Letter, postShareMail } from '#server/domain/mail/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';
import { shareOffered, shareRevoked } from './letters.ts';
import { LEVEL_LABELS } from './levels.shared.ts';
import type { ShareRow } from './store.ts';

/** Writes the mail with the claim link, sealed: whoever reads it can claim. @returns what sends it, to call after the commit */
export async function mailOffer(tx: Tx, ctx: Ctx, share: ShareRow, token: string): Promise<() => void> {
  const space = spaceOf(ctx.sandbox);
  const facts = {
    workspace: await workspaceName(tx, ctx),
    by: ctx.actor.label,
    secret: share.secret_name,
    space,
    level: LEVEL_LABELS[share.access_level as keyof typeof LEVEL_LABELS],
    hosts: share.allowed_hosts as string[] | null,
    message: share.message,
    expires_at: share.token_expires_at,
  };
  // Like an invitation: the token survives signing in, and opens nothing without the address it was sent to.
  return post(tx, ctx, share, 'share_offered', shareOffered(facts, `${env.PUBLIC_ADMIN_URL}/shared-secret?space=${space}&token=${token}`));
}

/** Tells the recipient that it is over. */
export async function mailRevocation(tx: Tx, ctx: Ctx, share: ShareRow, was: 'pending' | 'active'): Promise<() => void> {
  return post(tx, ctx, share, 'share_revoked', shareRevoked({ workspace: await workspaceName(tx, ctx), secret: share.secret_name, was }));
}

async function post(tx: Tx, ctx: Ctx, share: ShareRow, kind: string, letter: Letter): Promise<() => void> {
  const id = await postShareMail(tx, { share_id: share.id, kind, letter, now: ctx.now });
  return () => dispatch(ctx.db, id);
}

const workspaceName = async (tx: Tx, ctx: Ctx) =>
  (await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true } })).name;
