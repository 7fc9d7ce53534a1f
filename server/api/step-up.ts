import { digest } from '#server/crypto/tokens.ts';
import { ACTION_SCOPES, isByVerb, type StepUpDigest, scopeFor, scopesByVerb } from '#server/kernel/action-scopes.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { type AnyOperation, type AnyPersonOperation, takesRecentSignIn } from '#server/kernel/operation.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { assertRecentSignIn } from '#server/kernel/recent-sign-in.ts';
import { assertCanConfirm, confirmedLogin, hasFactor, isPersonsToken } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';

/** X-Svc-StepUp as it is looked up; null without the header, which takes the oldest verification that fits. */
export function stepUpDigest(headers: Headers): StepUpDigest | null {
  const token = headers.get('x-svc-stepup');
  return token === null ? null : new Uint8Array(digest(token));
}

/**
 * Runs the verb of an operation, which uses up the confirmation that the row asks a person for. A verb that forgets to fails loudly, whatever it did: that is
 * a mistake of ours. An access token of a person whose login wasn't confirmed doesn't reach the verb, and neither does an old sign-in the verb of a mint.
 * Every plane runs its verbs by this.
 * @throws Refusal mfa_required when the account has no factor, step_up_required for such a token or sign-in
 */
export async function confirmed<T>(
  op: AnyOperation | AnyPersonOperation,
  ctx: Ctx | PersonCtx,
  input: unknown,
  run: () => Promise<T>,
): Promise<T> {
  // What an earlier call with this context confirmed is spent.
  delete ctx.step_up;
  if (takesRecentSignIn(op) && !op.any_session?.when?.(input))
    assertRecentSignIn(ctx, 'credential.mint', ACTION_SCOPES['credential.mint'].to);
  const scope = scopeFor(op.step_up, input);
  const token = 'actor' in ctx && isPersonsToken(ctx.actor) ? ctx.actor : undefined;
  const userId = 'actor' in ctx ? (ctx.actor.type === 'member' ? ctx.actor.id : token?.user_id) : ctx.user?.id;
  if (scope === undefined || userId === undefined) return run();
  const token_digest = ctx.step_up_digest ?? null;
  if (isByVerb<unknown>(op.step_up)) {
    ctx.step_up = { scope, token_digest, used: null, by_verb: scopesByVerb(op.step_up) };
    return run();
  }
  if (!token && typeof op.step_up === 'object' && !(await hasFactor(ctx.db, userId))) return run();
  await assertCanConfirm(ctx.db, { user_id: userId, token, now: ctx.now }, env.PUBLIC_ADMIN_URL);
  if (token) confirmedLogin(token, scope, ctx.now);
  ctx.step_up = { scope, token_digest, used: null };
  const result = await run();
  if (!ctx.step_up.used) throw new Error(`${op.id} did not use the verification that it asks for`);
  return result;
}
