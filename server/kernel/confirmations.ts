import { ACTION_SCOPES, type ActionScope } from './action-scopes.ts';
import type { Ctx } from './context.ts';
import { type Grant, newlyGuarded } from './guarded-capabilities.ts';
import { assertRecentSignIn } from './recent-sign-in.ts';
import { confirmChange, hasFactor, isPersonsToken } from './step-up.ts';
import type { Tx } from './tx.ts';

/**
 * Asks a person to confirm a change that grants what people reach only by confirming: to a key, a client, a member, a route, an agent. Narrowing is free. Call
 * it in the transaction of the change, before it writes, from a verb whose row lists `capability.grant`.
 * @throws Refusal mfa_required, step_up_required
 */
export async function confirmGrant(
  tx: Tx,
  ctx: Ctx,
  adminUrl: string,
  { before, after }: { before: Iterable<Grant>; after: Iterable<Grant> },
): Promise<void> {
  const { grants, class_b } = newlyGuarded(before, after);
  if (grants.length > 0) await confirm(tx, ctx, adminUrl, { scope: 'capability.grant', factor: class_b });
}

/**
 * Asks a person to confirm a change that loosens these settings; none: the change is free. Call it as `confirmGrant`, from a verb whose row lists
 * `protection.loosen`.
 * @throws Refusal step_up_required
 */
export async function confirmLoosening(tx: Tx, ctx: Ctx, adminUrl: string, settings: readonly string[]): Promise<void> {
  if (settings.length > 0) await confirm(tx, ctx, adminUrl, { scope: 'protection.loosen', factor: false });
}

type Confirmation = { scope: ActionScope /** Whether an account without a second factor has to add one first. */; factor: boolean };

/** An account that has no factor shows by a recent sign-in, or login of an application, that it's still them, where the confirmation doesn't stand for a reveal of class B. */
async function confirm(tx: Tx, ctx: Ctx, adminUrl: string, { scope, factor }: Confirmation): Promise<void> {
  const { actor, step_up } = ctx;
  if (actor.type === 'member' && ctx.granted) return; // the gate of reveals has asked
  const user_id = actor.type === 'member' ? actor.id : isPersonsToken(actor) ? actor.user_id : null;
  if (user_id !== null) {
    if (!step_up) throw new Error(`the row does not say that its verb may ask for ${scope}`);
    if (!factor && !(await hasFactor(tx, user_id))) return assertRecentSignIn(ctx, scope, ACTION_SCOPES[scope].to);
  }
  return confirmChange(tx, ctx, adminUrl, scope);
}
