import type { ActionScope } from './action-scopes.ts';
import type { Ctx } from './context.ts';
import { Refusal } from './errors.ts';

const TWELVE_HOURS_MS = 12 * 3_600_000;

/**
 * What a person does in the dashboard only within 12 hours of signing in (interface rules 20 §1.9, 22 §5.4). `to` completes "Sign in again to …".
 * Machines are not asked. @throws Refusal step_up_required
 */
export function assertRecentSignIn({ actor, now }: Ctx, scope: ActionScope, to: string): void {
  if (actor.type !== 'member' || now.getTime() - actor.signed_in_at.getTime() <= TWELVE_HOURS_MS) return;
  throw new Refusal('step_up_required', `Sign in again to ${to}: your sign-in is more than 12 hours old.`, {
    extra: { action_scope: scope, allowed_methods: ['sign_in'] },
  });
}
