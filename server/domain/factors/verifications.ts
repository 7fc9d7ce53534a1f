import { mintToken } from '#server/crypto/tokens.ts';
import { ACTION_SCOPES, type ActionScope } from '#server/kernel/action-scopes.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { hasFactor, mfaRequired } from '#server/kernel/step-up.ts';
import { inBackground } from '#server/platform/background.ts';
import { env } from '#server/platform/env.ts';
import { take, throttled } from '#server/platform/throttle.ts';
import { auditFactor, type FactorKind } from './notices.ts';
import { acceptTotp, wrongCode } from './totp.ts';

const MOST_UNUSED = 5;

/** The session that confirms, and the workspace if the call names one. */
export type Confirming = Pick<SignedInCtx, 'db' | 'request_id' | 'ip' | 'user_agent' | 'now'> & {
  user: { id: string; email: string };
  session: { id: string };
  tenant_id: string | null;
};

/** The person of a call of the session plane, who names no workspace. */
export const confirmingPerson = (ctx: SignedInCtx): Confirming => ({ ...ctx, tenant_id: null });

/** A member: what they confirm is good in their workspace only. @throws Refusal role_denied for machines */
export function confirmingMember(ctx: Ctx): Confirming {
  const { actor } = ctx;
  if (actor.type !== 'member') throw new Refusal('role_denied', 'Only a signed-in user can confirm an action.');
  return { ...ctx, user: { id: actor.id, email: actor.label }, session: { id: actor.session_id } };
}

/** Confirms with a code of the authenticator app. A recovery code or a mailed one is none. @throws Refusal mfa_code_invalid, mfa_required, rate_limited */
export async function verifyCode(ctx: Confirming, input: { code: string; action_scope: ActionScope }) {
  const forgive = await admitStepUp(ctx);
  const verified = await ctx.db.$transaction(async (tx) =>
    (await acceptTotp(tx, ctx.user.id, input.code, ctx.now)) ? insertVerification(tx, ctx, input.action_scope, 'totp') : null,
  );
  if (!verified) throw failedStepUp(ctx, 'totp', wrongCode());
  await forgive();
  return { ...verified, method: '2fa' as const };
}

/** @throws Refusal mfa_required without a factor, rate_limited after five failures in five minutes of the session */
export async function admitStepUp(ctx: Confirming): Promise<() => Promise<void>> {
  if (!(await hasFactor(ctx.db, ctx.user.id))) throw mfaRequired(env.PUBLIC_ADMIN_URL);
  return throttled([{ what: 'step-up', subject: ctx.session.id, limit: 5, window_sec: 300 }], ctx.now, 'rate_limited');
}

/** Audits a failed attempt, at most one entry per person in five minutes, and answers what to throw. */
export function failedStepUp<E>(ctx: Confirming, kind: FactorKind | null, refusal: E): E {
  inBackground('failed step-up', async () => {
    const first = await take({ what: 'step-up-failed-audit', subject: ctx.user.id, limit: 1, window_sec: 300 }, ctx.now);
    if (!first.allowed) return;
    const session = ctx.session as SignedInCtx['session'];
    await ctx.db.$transaction((tx) => auditFactor(tx, { ...ctx, session }, ctx.user, { action: 'login_failed', id: null, kind }));
  });
  return refusal;
}

/** One verification; at most five wait unused per session and scope, the oldest gives way. @throws Refusal not_authenticated when the session has just ended */
export async function insertVerification(tx: Tx, ctx: Confirming, scope: ActionScope, method: 'passkey' | 'totp') {
  const { user, session, tenant_id, now } = ctx;
  const live = await tx.$queryRaw<
    unknown[]
  >`select 1 from sessions where id = ${session.id}::uuid and revoked_at is null for no key update`;
  if (live.length === 0) throw new Refusal('not_authenticated', 'Sign in to continue.');
  const waiting = await tx.step_up_verifications.findMany({
    where: { user_id: user.id, session_id: session.id, action_scope: scope, consumed_at: null },
    orderBy: { verified_at: 'desc' },
    skip: MOST_UNUSED - 1,
    select: { id: true },
  });
  await tx.step_up_verifications.deleteMany({ where: { id: { in: waiting.map(({ id }) => id) } } });
  const { token, digest } = mintToken('step_up');
  const expires_at = new Date(now.getTime() + ACTION_SCOPES[scope].window_sec * 1000);
  await tx.step_up_verifications.create({
    data: {
      id: newId(),
      user_id: user.id,
      session_id: session.id,
      tenant_id,
      action_scope: scope,
      method,
      token_digest: new Uint8Array(digest),
      verified_at: now,
      expires_at,
    },
  });
  return { verified: true as const, action_scope: scope, expires_at, step_up_token: token };
}
