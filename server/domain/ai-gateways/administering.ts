import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';

/** As long as scopes of an access token that need a second factor last after it (interface rule 21 §11). */
const STEP_UP_MS = 8 * 3_600_000;

/**
 * An Owner or Admin: in the dashboard, where the operation asks for their second factor, or by an access token that they have confirmed.
 * @throws Refusal role_denied, forbidden
 */
export function assertAdministers({ actor, now }: Ctx, message: string): void {
  if (actor.type === 'member') {
    if (actor.role === 'owner' || actor.role === 'admin') return;
    throw new Refusal('role_denied', message);
  }
  const fresh = actor.type === 'oauth_token' && actor.step_up_at !== null && now.getTime() - actor.step_up_at.getTime() < STEP_UP_MS;
  if (fresh && (actor.person?.role === 'owner' || actor.person?.role === 'admin')) return;
  throw new Refusal('forbidden', message);
}
