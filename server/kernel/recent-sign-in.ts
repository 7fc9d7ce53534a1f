import type { ActionScope } from './action-scopes.ts';
import type { Ctx } from './context.ts';
import { Refusal } from './errors.ts';
import type { PersonCtx } from './person.ts';

const RECENT_MS = 12 * 3_600_000;

/** Whether a sign-in, or the second factor of one, still stands for the person behind a lasting credential (interface rules 20 §1.9, 21 §11). */
export const isRecent = (at: Date | null | undefined, now: Date): boolean => !!at && now.getTime() - at.getTime() <= RECENT_MS;

/**
 * A credential that outlives the session takes a sign-in of the last 12 hours; a person's access token stands for the login that it came from. Machines pass.
 * `purpose` completes "Sign in again to …". @throws Refusal step_up_required
 */
export function assertRecentSignIn(ctx: Pick<Ctx, 'actor' | 'now'> | PersonCtx, scope: ActionScope, purpose: string): void {
  if ('session' in ctx) {
    if (!isRecent(ctx.session?.created_at, ctx.now)) throw signInAgain(scope, purpose);
    return;
  }
  const { actor, now } = ctx;
  if (actor.type === 'member' && !isRecent(actor.signed_in_at, now)) throw signInAgain(scope, purpose);
  if (actor.type === 'oauth_token' && actor.user_id !== null && !isRecent(actor.login_at, now))
    throw new Refusal(
      'step_up_required',
      `Sign in again to ${purpose}: this login is more than 12 hours old. Run service-cli login, or start the login of your application again.`,
    );
}

/** What the dashboard is told: the person signs in again and repeats the call. */
export const signInAgain = (scope: ActionScope, purpose: string): Refusal =>
  new Refusal('step_up_required', `Sign in again to ${purpose}: your sign-in is more than 12 hours old.`, {
    extra: { action_scope: scope, allowed_methods: ['sign_in'] },
  });
