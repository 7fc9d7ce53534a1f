import { type Acting, namesOf } from '#server/domain/authorities/acting.shared.ts';
import { actingFor } from '#server/domain/authorities/service.ts';
import { type Ctx, keyBehind, own, roleOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { lockedKey } from './store.ts';

/** Permanent; a second call answers the same and writes nothing. A key never revokes itself. */
export function revokeApiKey(ctx: Ctx, input: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedKey(tx, ctx, input.id);
    const { actor } = ctx;
    if (keyBehind(actor)?.id === row.id) throw new Refusal('validation_error', "A key can't revoke itself. Use a different credential.");
    if (roleOf(actor) === 'editor' && (row.created_by as { id?: string } | null)?.id !== doer(ctx))
      throw new Refusal(actor.type === 'member' ? 'role_denied' : 'forbidden', 'Editors can only revoke keys they created.');
    const answer = { deleted: true as const, revoked: true as const };
    if (row.revoked_at) return unchanged(answer);
    const acting = await actingFor(tx, ctx, row);
    if (acting.length > 0) ctx.warnings.push(stopped(acting));
    await tx.api_keys.update({
      where: { id: row.id, ...own(ctx) },
      data: {
        active: false,
        revoked_at: ctx.now,
        revoked_by: doer(ctx),
        updated_at: ctx.now,
      },
    });
    return audited(answer, {
      action: 'revoke',
      resource_type: 'api_key',
      resource_id: row.id,
      name: row.name,
      details: { key_id: row.key_id, ...(acting.length > 0 ? { stops: acting.length } : {}) },
    });
  });
}

/** What stops with a key, with the next step. */
export const stopped = (acting: readonly Acting[]): string =>
  `These called routes in the key's name and can't any more: ${namesOf(acting)}. Somebody who may call the routes has to publish the workflow again, or turn the inbound webhook off and on.`;

/** Who ended a key, by id: the person behind a token, or the client. */
export const doer = ({ actor }: Ctx) =>
  actor.type === 'oauth_token' ? (actor.user_id ?? actor.id) : actor.type === 'member' || actor.type === 'api_key' ? actor.id : null;
