import { type Ctx, own } from '#server/kernel/context.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { assertOwnRow, lockedClient } from './store.ts';
import { endTokens } from './tokens.ts';

/** Permanent: the client stays listed, its secrets and tokens end. A second call answers the same and writes nothing. */
export function revokeClient(ctx: Ctx, input: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedClient(tx, ctx, input.id);
    assertOwnRow(row);
    const answer = { deleted: true as const, revoked: true as const };
    if (row.revoked_at) return unchanged(answer);
    await tx.oauth_client_secrets.updateMany({
      where: { ...own(ctx), client_row_id: row.id, revoked_at: null },
      data: { revoked_at: ctx.now },
    });
    const ended = await endTokens(tx, ctx, row.id, 'client_revoked');
    await tx.oauth_clients.update({
      where: { id: row.id, ...own(ctx) },
      data: { active: false, revoked_at: ctx.now, updated_at: ctx.now },
    });
    return audited(answer, {
      action: 'revoke',
      resource_type: 'oauth_client',
      resource_id: row.id,
      name: row.name,
      details: { client_id: row.client_id, scopes_removed: row.allowed_scopes, ...ended },
    });
  });
}
