import { type Ctx, roleOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';

/**
 * An Owner or Admin, or an access token that acts for one; their second factor is the operation's to ask for.
 * @throws Refusal role_denied for people, forbidden for everybody else
 */
export function assertAdministers({ actor }: Ctx, message: string): void {
  const role = roleOf(actor);
  if (role === 'owner' || role === 'admin') return;
  throw new Refusal(actor.type === 'member' ? 'role_denied' : 'forbidden', message);
}
